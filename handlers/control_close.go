package handlers

import (
	"context"
	"net/http"

	"dwserver/gen/control"
	"dwserver/runtime"

	"github.com/labstack/echo/v4"
)

// CancelWorkflow handles POST /workflows/{workflow_id}/cancel.
func (s *Server) CancelWorkflow(c echo.Context, _ control.WorkflowID) error {
	return exchangeOf(c).closeRun(s.engine.CancelWorkflow)
}

// CancelWorkflowRun handles POST /workflows/{workflow_id}/runs/{run_id}/cancel.
func (s *Server) CancelWorkflowRun(c echo.Context, _ control.WorkflowID, _ control.RunID) error {
	return exchangeOf(c).closeRun(s.engine.CancelWorkflow)
}

// TerminateWorkflow handles POST /workflows/{workflow_id}/terminate.
func (s *Server) TerminateWorkflow(c echo.Context, _ control.WorkflowID) error {
	return exchangeOf(c).closeRun(s.engine.TerminateWorkflow)
}

// TerminateWorkflowRun handles POST /workflows/{workflow_id}/runs/{run_id}/terminate.
func (s *Server) TerminateWorkflowRun(c echo.Context, _ control.WorkflowID, _ control.RunID) error {
	return exchangeOf(c).closeRun(s.engine.TerminateWorkflow)
}

type closeCommand func(context.Context, runtime.CloseRequest) (runtime.CommandResult, error)

// closeRun cancels or terminates: 200 as soon as the run is closed (control-plane.md 4).
func (x *exchange) closeRun(send closeCommand) error {
	var body control.CloseRequest
	if err := x.bindCommand(&body); err != nil {
		return err
	}
	reason := value(body.Reason, "")
	result, err := send(x.context(), runtime.CloseRequest{
		Target: x.target(), Reason: reason,
		RequestID: value(body.RequestID, ""), BodyDigest: digest([]byte(reason)),
	})
	if err != nil {
		return x.rejected(err)
	}
	return x.reply(http.StatusOK, commandReply(&result.Command, &result.Run))
}
