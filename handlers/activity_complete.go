package handlers

import (
	"net/http"

	"dwserver/gen/worker"
	"dwserver/runtime"
	"dwserver/runtime/rules"

	"github.com/labstack/echo/v4"
)

// CompleteActivityTask is POST /worker/activity-tasks/{task_id}/complete (worker-plane.md 6.4).
func (s *Server) CompleteActivityTask(c echo.Context, taskID worker.TaskID) error {
	x := exchangeOf(c)
	x.know("task_id", taskID)
	var in worker.CompleteActivityTaskRequest
	if err := x.bind(&in); err != nil {
		return err
	}
	body := x.doc.Root()
	fence := x.activityFence(taskID, in.ActivityAttemptID, in.LeaseOwner)
	payload := payloadOf(body.Member("result"))
	outcome, err := s.worker.CompleteActivity(x.context(), runtime.CompleteActivityRequest{
		ActivityFence: fence, Result: payload, ResultSize: rules.PayloadSize(payload), BodyDigest: body.Digest(carriers...),
	})
	if err != nil {
		return err
	}
	return x.reply(http.StatusOK, activityOutcome(taskID, in.ActivityAttemptID, &outcome))
}

func activityOutcome(taskID, attemptID string, outcome *runtime.ActivityOutcomeResult) worker.ActivityOutcomeReply {
	reply := worker.ActivityOutcomeReply{
		TaskID: taskID, ActivityAttemptID: attemptID, Outcome: worker.ActivityOutcomeReplyOutcome(outcome.Outcome),
		Recorded: outcome.Recorded, NextTaskID: orNil(outcome.NextTaskID),
	}
	if !outcome.Recorded {
		reply.Reason = ptr("already_" + outcome.Outcome)
	}
	return reply
}
