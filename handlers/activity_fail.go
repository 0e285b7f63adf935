package handlers

import (
	"net/http"

	"dwserver/gen/worker"
	"dwserver/runtime"
	"dwserver/runtime/rules"

	"github.com/labstack/echo/v4"
)

// FailActivityTask is POST /worker/activity-tasks/{task_id}/fail (worker-plane.md 6.5).
func (s *Server) FailActivityTask(c echo.Context, taskID worker.TaskID) error {
	x := exchangeOf(c)
	x.know("task_id", taskID)
	var in worker.FailActivityTaskRequest
	if err := x.bind(&in); err != nil {
		return err
	}
	body := x.doc.Root()
	fence := x.activityFence(taskID, in.ActivityAttemptID, in.LeaseOwner)
	report := failureReport(&in.Failure)
	report.Details = payloadOf(body.Member("failure").Member("details"))
	outcome, err := s.worker.FailActivity(x.context(), runtime.FailActivityRequest{
		ActivityFence: fence, Failure: report, BodyDigest: body.Digest(carriers...),
		Carriers: x.carriersOf(body),
	})
	if err != nil {
		return err
	}
	return x.replyJSON(http.StatusOK, x.activityOutcome(taskID, in.ActivityAttemptID, &outcome))
}

func failureReport(in *worker.ActivityFailure) rules.ActivityFailureReport {
	return rules.ActivityFailureReport{
		Message: in.Message, Type: value(in.Type, ""), Class: value(in.Class, ""), Code: in.Code,
		StackTrace:   value(in.StackTrace, ""),
		NonRetryable: value(in.NonRetryable, false) || !value(in.Retryable, true),
		Kind:         string(value(in.Kind, "")), TimeoutType: string(value(in.TimeoutType, "")),
		Cancelled: value(in.Cancelled, false),
	}
}
