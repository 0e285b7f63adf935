package handlers

import (
	"net/http"

	"dwserver/gen/worker"
	"dwserver/handlers/jsondoc"
	"dwserver/runtime"
	"dwserver/runtime/rules"

	"github.com/labstack/echo/v4"
)

// carriers are the members that a repeated report is not compared by (carried-polls.md 1).
var carriers = []string{"activity_poll", "workflow_poll", "workflow_continuation"}

// CompleteWorkflowTask is POST /worker/workflow-tasks/{task_id}/complete (worker-plane.md 5.4).
func (s *Server) CompleteWorkflowTask(c echo.Context, taskID worker.TaskID) error {
	x := exchangeOf(c)
	x.know("task_id", taskID)
	body := x.doc.Root()
	x.knowAttempt(body)
	if err := x.valid(); err != nil {
		return err
	}
	fence := x.workflowFence(taskID, body.Member("lease_owner").Text(), integerOf(body.Member("workflow_task_attempt")))
	result, err := s.worker.CompleteWorkflowTask(x.context(), runtime.CompleteWorkflowTaskRequest{
		WorkflowFence: fence, Commands: commandsOf(body.Member("commands")),
		BodyDigest: body.Digest(carriers...), ProtocolMinor: x.minor,
	})
	if err != nil {
		return err
	}
	reply := worker.CompleteWorkflowTaskReply{
		TaskID: taskID, WorkflowTaskAttempt: fence.Attempt, Outcome: worker.CompleteWorkflowTaskReplyOutcomeCompleted,
		Recorded: result.Recorded, RunID: result.RunID, RunStatus: worker.RunStatus(result.RunStatus),
		LastHistorySequence: &result.LastHistorySequence,
	}
	if !result.Recorded {
		reply.Reason = ptr("already_completed")
		return x.reply(http.StatusOK, reply)
	}
	// An empty list is told, an absent one means a repeat.
	return x.reply(http.StatusOK, recordedCompletion{reply, orEmpty(result.CreatedTaskIDs)})
}

type recordedCompletion struct {
	worker.CompleteWorkflowTaskReply
	CreatedTaskIDs []string `json:"created_task_ids"`
}

// knowAttempt records the attempt that a refusal repeats, also when the body is otherwise invalid.
func (x *exchange) knowAttempt(body jsondoc.Value) {
	if body.Kind() != jsondoc.Object {
		return
	}
	if attempt := body.Member("workflow_task_attempt"); !attempt.IsZero() && attempt.Kind() == jsondoc.Number {
		if n := integerOf(attempt); n > 0 {
			x.know("workflow_task_attempt", n)
		}
	}
}

func commandsOf(list jsondoc.Value) []rules.WorkflowCommand {
	var commands []rules.WorkflowCommand
	list.Each(func(_ int, _ string, command jsondoc.Value) bool {
		commands = append(commands, commandOf(command))
		return true
	})
	return commands
}
