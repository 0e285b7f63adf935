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
		Carriers: x.carriersOf(body), Continuation: x.continuationOf(body.Member("workflow_continuation"), in.LeaseOwner),
	})
	if err != nil {
		return err
	}
	return x.replyJSON(http.StatusOK, x.activityOutcome(taskID, in.ActivityAttemptID, &outcome))
}

// activityOutcome is the body of complete and fail, without the envelope.
func (x *exchange) activityOutcome(taskID, attemptID string, outcome *runtime.ActivityOutcomeResult) []byte {
	var out objectWriter
	out.text("task_id", taskID)
	out.text("activity_attempt_id", attemptID)
	out.text("outcome", outcome.Outcome)
	out.boolean("recorded", outcome.Recorded)
	if outcome.Recorded {
		out.raw("reason", nil)
	} else {
		out.text("reason", "already_"+outcome.Outcome)
	}
	out.optionalText("next_task_id", outcome.NextTaskID)
	continuationAnswer(&out, outcome.Continuation)
	x.carriedAnswers(&out, &outcome.CarriedAnswers)
	return out.bytes()
}
