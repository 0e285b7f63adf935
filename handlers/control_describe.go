package handlers

import (
	"net/http"

	"dwserver/gen/control"

	"github.com/labstack/echo/v4"
)

// DescribeWorkflow handles GET /workflows/{workflow_id}: the current run.
func (s *Server) DescribeWorkflow(c echo.Context, _ control.WorkflowID) error {
	return exchangeOf(c).describe()
}

// DescribeWorkflowRun handles GET /workflows/{workflow_id}/runs/{run_id}.
func (s *Server) DescribeWorkflowRun(c echo.Context, _ control.WorkflowID, _ control.RunID) error {
	return exchangeOf(c).describe()
}

func (x *exchange) describe() error {
	if err := x.valid(); err != nil {
		return err
	}
	found, err := x.s.engine.Describe(x.context(), x.target())
	if err != nil {
		return err
	}
	reply, err := description(&found)
	if err != nil {
		return err
	}
	return x.reply(http.StatusOK, reply)
}
