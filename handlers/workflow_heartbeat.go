package handlers

import (
	"net/http"

	"dwserver/gen/worker"

	"github.com/labstack/echo/v4"
)

// HeartbeatWorkflowTask is POST /worker/workflow-tasks/{task_id}/heartbeat (worker-plane.md 5.3).
func (s *Server) HeartbeatWorkflowTask(c echo.Context, taskID worker.TaskID) error {
	x := exchangeOf(c)
	x.know("task_id", taskID)
	var in worker.WorkflowTaskHeartbeatRequest
	if err := x.bind(&in); err != nil {
		return err
	}
	x.know("workflow_task_attempt", in.WorkflowTaskAttempt)
	x.know("lease_owner", in.LeaseOwner)
	result, err := s.worker.HeartbeatWorkflowTask(x.context(), x.workflowFence(taskID, in.LeaseOwner, in.WorkflowTaskAttempt))
	if err != nil {
		return err
	}
	return x.reply(http.StatusOK, worker.WorkflowTaskHeartbeatReply{
		TaskID: taskID, WorkflowTaskAttempt: in.WorkflowTaskAttempt, LeaseOwner: in.LeaseOwner, Renewed: true,
		LeaseExpiresAt: instantOrNull(result.LeaseExpiresAt), RunStatus: orNil(result.RunStatus), TaskStatus: orNil(result.TaskStatus),
	})
}
