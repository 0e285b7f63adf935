package handlers

import (
	"net/http"

	"dwserver/gen/control"
	"dwserver/runtime"
	"dwserver/runtime/rules"

	"github.com/labstack/echo/v4"
)

// defaultListPage is the page size of a list that asks for none.
const defaultListPage = 50

// listStatuses are the values of the status filter; "" is no filter. The first three are buckets.
var listStatuses = map[string]bool{
	"": true, "running": true, "completed": true, "failed": true, "cancelled": true, "terminated": true,
}

// ListWorkflows handles GET /workflows: a row for every run, newest start first (control-plane.md 5).
func (s *Server) ListWorkflows(c echo.Context, params control.ListWorkflowsParams) error {
	x := exchangeOf(c)
	if err := x.valid(); err != nil {
		return err
	}
	request, err := listRequest(x.namespace, &params)
	if err != nil {
		return err
	}
	page, err := s.engine.ListWorkflows(x.context(), request)
	if err != nil {
		return err
	}
	next, err := nextListToken(&request, page.Next)
	if err != nil {
		return err
	}
	rows := make([]control.WorkflowListRow, len(page.Runs))
	for i := range page.Runs {
		run := &page.Runs[i]
		rows[i] = listRow(run, page.Labels[run.RunID])
	}
	return x.reply(http.StatusOK, &control.WorkflowListReply{Workflows: rows, WorkflowCount: len(rows), NextPageToken: next})
}

func listRequest(namespace string, params *control.ListWorkflowsParams) (runtime.ListRequest, error) {
	request := runtime.ListRequest{
		Namespace: namespace, WorkflowType: value(params.WorkflowType, ""), Status: value(params.Status, ""),
		PageSize: int64(value(params.PageSize, defaultListPage)),
	}
	if !listStatuses[request.Status] {
		return request, rules.Invalid("status", "The status must be one of: running, completed, failed, cancelled, terminated.")
	}
	if value(params.Query, "") != "" {
		return request, rules.Invalid("query", "Filters by query are not supported.")
	}
	if token, ok := readListToken(value(params.NextPageToken, "")); ok {
		request.WorkflowType, request.Status = token.WorkflowType, token.Status
		request.After = runtime.ListPosition{StartedAt: token.StartedAt, RunID: token.RunID}
	}
	return request, nil
}

func listRow(run *rules.Run, labels runtime.RunLabels) control.WorkflowListRow {
	pin := fleetOf(run)
	return control.WorkflowListRow{
		WorkflowID: run.WorkflowID, RunID: run.RunID, WorkflowType: run.WorkflowType,
		BusinessKey: orNil(run.BusinessKey), Status: control.RunStatus(run.Status), StatusBucket: bucket(run.Status),
		TaskQueue: run.TaskQueue, IsTerminal: run.IsClosed(), Compatibility: pin.pin, CompatibilityStatus: pin.status,
		CompatibilitySupportedInFleet: pin.supported, CompatibilityFleetReason: pin.reason,
		StartedAt: rules.FormatTime(run.StartedAt), ClosedAt: instantOrNull(run.ClosedAt),
		SearchAttributes: objectOrEmpty(labels.SearchAttributes),
	}
}
