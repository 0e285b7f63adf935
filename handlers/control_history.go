package handlers

import (
	"net/http"

	"dwserver/gen/control"
	"dwserver/runtime"
	"dwserver/runtime/rules"

	"github.com/labstack/echo/v4"
)

// defaultHistoryPage is the page size of a reader that asks for none. SDKs look for a run's result on
// the first page only, so it is the largest allowed (control-plane.md 3).
const defaultHistoryPage = 1000

// GetWorkflowHistory handles GET /workflows/{workflow_id}/runs/{run_id}/history.
func (s *Server) GetWorkflowHistory(c echo.Context, _ control.WorkflowID, _ control.RunID, params control.GetWorkflowHistoryParams) error {
	x := exchangeOf(c)
	if err := x.valid(); err != nil {
		return unless(err, func() error {
			_, missing := s.engine.Describe(x.context(), x.target())
			return missing
		})
	}
	wait := value(params.WaitNewEvent, false)
	page, err := s.engine.History(x.context(), runtime.HistoryRequest{
		Target: x.target(), After: readHistoryToken(value(params.NextPageToken, "")),
		PageSize: int64(value(params.PageSize, defaultHistoryPage)),
		Wait:     wait, Closed: wait && value(params.Closed, false),
	})
	if err != nil {
		return err
	}
	reply := &control.WorkflowHistoryReply{
		WorkflowID: page.Run.WorkflowID, RunID: page.Run.RunID,
		Events: make([]control.WorkflowHistoryEvent, len(page.Events)),
	}
	for i := range page.Events {
		reply.Events[i] = publicEvent(&page.Events[i])
	}
	if page.NextAfter >= 0 {
		token := historyToken(page.NextAfter)
		reply.NextPageToken = &token
	}
	return x.reply(http.StatusOK, reply)
}

func publicEvent(e *rules.Event) control.WorkflowHistoryEvent {
	return control.WorkflowHistoryEvent{
		Sequence: e.Sequence, EventType: e.EventType, Timestamp: rules.FormatTime(e.RecordedAt), Payload: objectOrEmpty(e.Payload),
	}
}
