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
		Extras: rules.Extras{
			MessageStreams: !empty(body.Member("message_stream_cursors")) || !empty(body.Member("message_stream_waits")),
			StickyCache:    present(body.Member("sticky_cache")),
		},
		BodyDigest: body.Digest(carriers...), ProtocolMinor: x.minor, Carriers: x.carriersOf(body),
	})
	if err != nil {
		return err
	}
	var out objectWriter
	out.text("task_id", taskID)
	out.integer("workflow_task_attempt", fence.Attempt)
	out.text("outcome", string(worker.CompleteWorkflowTaskReplyOutcomeCompleted))
	out.boolean("recorded", result.Recorded)
	out.text("run_id", result.RunID)
	out.text("run_status", result.RunStatus)
	if result.Recorded { // an empty list is told, an absent one means a repeat
		out.texts("created_task_ids", result.CreatedTaskIDs)
		out.raw("reason", nil)
	} else {
		out.text("reason", "already_completed")
	}
	out.integer("last_history_sequence", result.LastHistorySequence)
	x.carriedAnswers(&out, &result.CarriedAnswers)
	return x.replyJSON(http.StatusOK, out.bytes())
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

// empty reports a list that is absent, null or without elements.
func empty(list jsondoc.Value) bool { return !present(list) || list.Empty() }

func commandsOf(list jsondoc.Value) []rules.WorkflowCommand {
	var commands []rules.WorkflowCommand
	list.Each(func(_ int, _ string, command jsondoc.Value) bool {
		commands = append(commands, commandOf(command))
		return true
	})
	return commands
}
