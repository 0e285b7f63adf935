package handlers

import (
	"net/http"

	"dwserver/gen/worker"
	"dwserver/runtime"

	"github.com/labstack/echo/v4"
)

// FailWorkflowTask is POST /worker/workflow-tasks/{task_id}/fail (worker-plane.md 5.5).
func (s *Server) FailWorkflowTask(c echo.Context, taskID worker.TaskID) error {
	x := exchangeOf(c)
	x.know("task_id", taskID)
	x.knowAttempt(x.doc.Root())
	var in worker.FailWorkflowTaskRequest
	if err := x.bind(&in); err != nil {
		return err
	}
	result, err := s.worker.FailWorkflowTask(x.context(), runtime.FailWorkflowTaskRequest{
		WorkflowFence: x.workflowFence(taskID, in.LeaseOwner, in.WorkflowTaskAttempt),
		Message:       in.Failure.Message, Type: value(in.Failure.Type, ""), Reason: value(in.Failure.Reason, ""),
		StackTrace: value(in.Failure.StackTrace, ""),
	})
	if err != nil {
		return err
	}
	return x.reply(http.StatusOK, worker.FailWorkflowTaskReply{
		TaskID: taskID, WorkflowTaskAttempt: in.WorkflowTaskAttempt, Recorded: true,
		Outcome: worker.FailWorkflowTaskReplyOutcome(result.Outcome), NextTaskID: orNil(result.NextTaskID),
	})
}
