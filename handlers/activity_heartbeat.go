package handlers

import (
	"net/http"

	"dwserver/gen/worker"
	"dwserver/handlers/jsondoc"
	"dwserver/runtime"
	"dwserver/runtime/rules"

	"github.com/labstack/echo/v4"
)

// HeartbeatActivityTask is POST /worker/activity-tasks/{task_id}/heartbeat (worker-plane.md 6.3).
func (s *Server) HeartbeatActivityTask(c echo.Context, taskID worker.TaskID) error {
	x := exchangeOf(c)
	x.know("task_id", taskID)
	var in worker.ActivityHeartbeatRequest
	if err := x.bind(&in); err != nil {
		return err
	}
	fence := x.activityFence(taskID, in.ActivityAttemptID, in.LeaseOwner)
	progress := progressOf(x.doc.Root())
	if limit := s.config.Limits.PayloadBytes; limit > 0 && int64(len(progress)) > limit {
		return rules.LimitExceeded("payload_size", int64(len(progress)), limit)
	}
	state, err := s.worker.HeartbeatActivity(x.context(), runtime.HeartbeatActivityRequest{ActivityFence: fence, Progress: progress})
	if err != nil {
		return err
	}
	return x.reply(http.StatusOK, worker.ActivityHeartbeatReply{
		TaskID: taskID, ActivityAttemptID: in.ActivityAttemptID, LeaseOwner: in.LeaseOwner,
		CancelRequested: state.CancelRequested, CanContinue: state.CanContinue, Reason: orNil(state.Reason),
		HeartbeatRecorded: state.HeartbeatRecorded, LeaseExpiresAt: instantOrNull(state.Task.LeaseExpiresAt),
		LastHeartbeatAt: instantOrNull(state.Attempt.LastHeartbeatAt), RunClosedReason: orNil(state.Run.ClosedReason),
		RunClosedAt: instantOrNull(state.Run.ClosedAt),
	})
}

// activityFence names the attempt a report is about, and records its ids for errors.
func (x *exchange) activityFence(taskID, attemptID, owner string) runtime.ActivityFence {
	x.know("activity_attempt_id", attemptID)
	x.know("lease_owner", owner)
	return runtime.ActivityFence{Namespace: x.namespace, TaskID: taskID, AttemptID: attemptID, LeaseOwner: owner}
}

// progressOf is what a heartbeat reports, as one JSON object; nil when it reports nothing. details may be
// any JSON value and keep their bytes.
func progressOf(body jsondoc.Value) []byte {
	var out objectWriter
	for _, name := range []string{"message", "current", "total", "unit", "details"} {
		if member := body.Member(name); !member.IsZero() && member.Kind() != jsondoc.Null {
			out.raw(name, member.Raw())
		}
	}
	if out.empty() {
		return nil
	}
	return out.bytes()
}
