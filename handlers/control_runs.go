package handlers

import (
	"net/http"

	"dwserver/gen/control"
	"dwserver/runtime"
	"dwserver/runtime/rules"

	"github.com/labstack/echo/v4"
)

// ListWorkflowRuns handles GET /workflows/{workflow_id}/runs: all runs, oldest first.
func (s *Server) ListWorkflowRuns(c echo.Context, _ control.WorkflowID) error {
	x := exchangeOf(c)
	if err := x.valid(); err != nil {
		return err
	}
	found, err := s.engine.ListRuns(x.context(), x.target())
	if err != nil {
		return err
	}
	rows := make([]control.WorkflowRunRow, len(found.Runs))
	for i := range found.Runs {
		run := &found.Runs[i]
		rows[i] = runRow(run, found.Labels[run.RunID], run.RunID == found.Instance.CurrentRunID)
	}
	return x.reply(http.StatusOK, &control.WorkflowRunsReply{
		WorkflowID: found.Instance.WorkflowID, RunCount: len(rows), Runs: rows,
	})
}

func runRow(run *rules.Run, labels runtime.RunLabels, current bool) control.WorkflowRunRow {
	pin := fleetOf(run)
	return control.WorkflowRunRow{
		RunID: run.RunID, RunNumber: int(run.RunNumber), WorkflowType: run.WorkflowType,
		BusinessKey: orNil(run.BusinessKey), Status: control.RunStatus(run.Status), StatusBucket: bucket(run.Status),
		IsTerminal: run.IsClosed(), IsCurrentRun: current, TaskQueue: run.TaskQueue,
		Compatibility: pin.pin, CompatibilityStatus: pin.status,
		CompatibilitySupportedInFleet: pin.supported, CompatibilityFleetReason: pin.reason,
		StartedAt: rules.FormatTime(run.StartedAt), ClosedAt: instantOrNull(run.ClosedAt),
		Memo: objectOrEmpty(labels.Memo),
	}
}
