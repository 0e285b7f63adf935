package handlers

import (
	"net/http"

	"dwserver/gen/control"
	"dwserver/runtime"
	"dwserver/runtime/rules"

	"github.com/labstack/echo/v4"
)

// ListRunActivities handles GET /workflows/{workflow_id}/runs/{run_id}/activities.
func (s *Server) ListRunActivities(c echo.Context, _ control.WorkflowID, _ control.RunID, params control.ListRunActivitiesParams) error {
	x := exchangeOf(c)
	if err := x.valid(); err != nil {
		return unless(err, func() error {
			_, missing := s.engine.Describe(x.context(), x.target())
			return missing
		})
	}
	page, err := s.engine.ListActivities(x.context(), x.target(), readHistoryToken(value(params.NextPageToken, "")),
		int64(value(params.PageSize, runtime.DefaultActivityPage)))
	if err != nil {
		return err
	}
	reply := &control.RunActivitiesReply{
		WorkflowID: page.Run.WorkflowID, RunID: page.Run.RunID, ActivityCount: len(page.Activities),
		Activities: make([]control.RunActivity, len(page.Activities)),
	}
	for i := range page.Activities {
		reply.Activities[i] = runActivity(&page.Activities[i])
	}
	if page.NextAfter > 0 {
		token := historyToken(page.NextAfter)
		reply.NextPageToken = &token
	}
	return x.reply(http.StatusOK, reply)
}

func runActivity(a *runtime.RunActivity) control.RunActivity {
	out := control.RunActivity{
		ActivityExecutionID: a.ExecutionID, Sequence: a.Sequence, ActivityType: a.ActivityType,
		Status: control.RunActivityStatus(a.Status), ExecutionMode: control.RunActivityExecutionModeRemote,
		TaskQueue: a.TaskQueue, AttemptCount: a.AttemptCount, CurrentAttemptID: orNil(a.AttemptID), RetryPolicy: a.RetryPolicy,
		CreatedAt: rules.FormatTime(a.CreatedAt), StartedAt: instantOrNull(a.StartedAt),
		LastHeartbeatAt: instantOrNull(a.LastHeartbeatAt), ClosedAt: instantOrNull(a.ClosedAt),
		Attempts: make([]control.RunActivityAttempt, len(a.Attempts)),
	}
	if a.IsLocal == 1 {
		out.ExecutionMode = control.RunActivityExecutionModeLocal
		out.ActivityOptions = &control.LocalActivityOptions{
			ExecutionMode: control.LocalActivityOptionsExecutionModeLocal, QueueBypassed: true,
			Routing: control.WorkflowWorkerProcess,
		}
	}
	for i := range a.Attempts {
		t := &a.Attempts[i]
		out.Attempts[i] = control.RunActivityAttempt{
			ActivityAttemptID: t.AttemptID, WorkerAttemptID: orNil(t.WorkerAttemptID), AttemptNumber: t.AttemptNumber,
			Status: control.RunActivityAttemptStatus(t.Status), TaskID: t.TaskID, LeaseOwner: t.LeaseOwner,
			StartedAt: rules.FormatTime(t.StartedAt), LastHeartbeatAt: instantOrNull(t.LastHeartbeatAt),
			ClosedAt: instantOrNull(t.ClosedAt),
		}
	}
	return out
}
