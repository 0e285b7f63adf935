package handlers

import (
	"dwserver/gen/worker"
	"dwserver/handlers/jsondoc"
	"dwserver/runtime/rules"

	"github.com/labstack/echo/v4"
)

// Prepared local activities (worker-plane.md 5.7) are not built: every route answers that, after the
// ordinary checks of the edge.

// PrepareLocalActivity refuses.
func (s *Server) PrepareLocalActivity(c echo.Context, taskID worker.TaskID) error {
	return exchangeOf(c).refusePrepared(taskID)
}

// CheckpointLocalActivities refuses.
func (s *Server) CheckpointLocalActivities(c echo.Context, taskID worker.TaskID) error {
	return exchangeOf(c).refusePrepared(taskID)
}

// RecoverLocalActivity refuses.
func (s *Server) RecoverLocalActivity(c echo.Context, taskID worker.TaskID) error {
	return exchangeOf(c).refusePrepared(taskID)
}

// ControlLocalActivity refuses.
func (s *Server) ControlLocalActivity(c echo.Context, taskID worker.TaskID, _ worker.AttemptID) error {
	return exchangeOf(c).refusePrepared(taskID)
}

// ReportLocalActivityOutcome refuses.
func (s *Server) ReportLocalActivityOutcome(c echo.Context, taskID worker.TaskID, _ worker.AttemptID) error {
	return exchangeOf(c).refusePrepared(taskID)
}

// AcknowledgeLocalActivityCancellation refuses.
func (s *Server) AcknowledgeLocalActivityCancellation(c echo.Context, taskID worker.TaskID, _ worker.AttemptID) error {
	return exchangeOf(c).refusePrepared(taskID)
}

func (x *exchange) refusePrepared(taskID string) error {
	x.know("task_id", taskID)
	if err := x.valid(); err != nil {
		return err
	}
	const capability = "prepared_local_activities"
	var owner any
	if member := x.doc.Root().Member("lease_owner"); !member.IsZero() && member.Kind() == jsondoc.String {
		owner = member.Text()
	}
	return rules.Refuse("prepared_local_activity_not_supported", "Prepared local activities are not supported.").
		With("required_capability", capability).With("minimum_protocol_version", "1.20").
		With("worker_id", owner).With("unavailable", []string{capability})
}
