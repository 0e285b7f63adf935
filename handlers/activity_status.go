package handlers

import (
	"net/http"

	"dwserver/gen/worker"
	"dwserver/runtime"
	"dwserver/runtime/rules"

	"github.com/labstack/echo/v4"
)

// statusFloor is the minor version from which attempts can be asked for their state.
const statusFloor = 20

// GetActivityTaskStatus is POST /worker/activity-tasks/{task_id}/status (worker-plane.md 6.6).
func (s *Server) GetActivityTaskStatus(c echo.Context, taskID worker.TaskID) error {
	x := exchangeOf(c)
	x.know("task_id", taskID)
	if x.minor < statusFloor {
		return rules.Refuse("activity_attempt_status_unavailable", "Attempt status needs worker protocol 1.20.")
	}
	var in worker.ActivityStatusRequest
	if err := x.bind(&in); err != nil {
		return err
	}
	state, err := s.worker.ActivityStatus(x.context(), x.activityFence(taskID, in.ActivityAttemptID, in.LeaseOwner))
	if err != nil {
		return err
	}
	return x.reply(http.StatusOK, statusReply(taskID, &in, &state))
}

func statusReply(taskID string, in *worker.ActivityStatusRequest, state *runtime.ActivityState) worker.ActivityStatusReply {
	return worker.ActivityStatusReply{
		TaskID: taskID, ActivityAttemptID: in.ActivityAttemptID, LeaseOwner: in.LeaseOwner,
		CanContinue: state.CanContinue, CancelRequested: state.CancelRequested, Reason: orNil(state.Reason),
		LeaseExpiresAt: instantOrNull(state.Task.LeaseExpiresAt), LastHeartbeatAt: instantOrNull(state.Attempt.LastHeartbeatAt),
		RunStatus: orNil(state.Run.Status), RunClosedReason: orNil(state.Run.ClosedReason), RunClosedAt: instantOrNull(state.Run.ClosedAt),
		ActivityStatus: orNil(state.Activity.Status), AttemptStatus: orNil(state.Attempt.Status), TaskStatus: orNil(state.Task.Status),
		Deadlines: deadlinesOf(&state.Activity),
	}
}

// deadlinesOf are an activity's deadlines, nil when it has none.
func deadlinesOf(a *rules.Activity) *worker.ActivityDeadlines {
	d := worker.ActivityDeadlines{
		ScheduleToStart: instantOrNull(a.ScheduleDeadlineAt), StartToClose: instantOrNull(a.CloseDeadlineAt),
		ScheduleToClose: instantOrNull(a.ScheduleToCloseAt), Heartbeat: instantOrNull(a.HeartbeatDeadlineAt),
	}
	if d == (worker.ActivityDeadlines{}) {
		return nil
	}
	return &d
}
