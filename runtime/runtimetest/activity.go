package runtimetest

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"dwserver/runtime"
	"dwserver/runtime/rules"
)

var activityCases = []testCase{
	{"Complete", testCompleteActivity}, {"Repeat", testOutcomeRepeat}, {"Retry", testActivityRetry},
	{"Unlimited", testActivityUnlimited}, {"NonRetryable", testActivityNonRetryable}, {"Heartbeat", testActivityHeartbeat},
	{"HeartbeatLimit", testActivityHeartbeatLimit}, {"ResultLimit", testActivityResultLimit}, {"Status", testActivityStatus},
	{"LostAnswer", testOutcomeLostAnswer},
}

func testCompleteActivity(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	act := x.takeActivityOf("w", "wf")
	x.Clock.Advance(2e9)
	out := x.succeed(act)
	require.Equal(t, rules.ActivityCompleted, out.Outcome)
	completed := x.payload(act.Run.RunID, "ActivityCompleted")
	require.Equal(t, map[string]any{"codec": "avro", "blob": "AQ=="}, completed["result"])
	require.Equal(t, "avro", completed["payload_codec"])
	next := x.takeWorkflow("w")
	require.Equal(t, out.NextTaskID, next.Task.TaskID)
	why := decode(t, next.Task.Payload)
	require.Equal(t, []any{"activity", "activity:" + act.Activity.ExecutionID, "activity_execution", act.Activity.ExecutionID,
		act.Attempt.AttemptID, "act", 1.0, "ActivityCompleted"}, []any{why["workflow_wait_kind"], why["open_wait_id"],
		why["resume_source_kind"], why["resume_source_id"], why["activity_attempt_id"], why["activity_type"],
		why["workflow_sequence"], why["workflow_event_type"]})
}

func testOutcomeRepeat(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	act := x.takeActivityOf("w", "wf")
	x.succeed(act)
	again, err := x.CompleteActivity(x.ctx(), success(act))
	require.NoError(t, err)
	require.Equal(t, runtime.ActivityOutcomeResult{Outcome: rules.ActivityCompleted}, again)
	other := success(act)
	other.BodyDigest = []byte("other")
	_, err = x.CompleteActivity(x.ctx(), other)
	_, late := x.FailActivity(x.ctx(), failure(act)) // after a success nothing turns it into a failure (R15)
	for _, err := range []error{err, late} {
		r := x.refusal("stale_attempt", err)
		require.Equal(t, []any{rules.ActivityCompleted, rules.AttemptCompleted, rules.TaskCompleted}, []any{r.Fields["activity_status"],
			r.Fields["attempt_status"], r.Fields["task_status"]})
	}
	x.terminate("wf")
	again, err = x.CompleteActivity(x.ctx(), success(act))
	require.NoError(t, err, "the recorded answer, also after the run closed")
	require.False(t, again.Recorded)

	bad := x.takeActivityOf("w", "bad", retrying(2))
	x.failed(bad)
	again, err = x.FailActivity(x.ctx(), failure(bad))
	require.NoError(t, err)
	require.Equal(t, runtime.ActivityOutcomeResult{Outcome: rules.ActivityFailed}, again)
	_, err = x.CompleteActivity(x.ctx(), success(bad))
	x.refusal("stale_attempt", err)
	state, err := x.HeartbeatActivity(x.ctx(), runtime.HeartbeatActivityRequest{ActivityFence: activityFence(bad)})
	require.NoError(t, err)
	require.Equal(t, "attempt_closed", state.Reason)
	require.Len(t, x.history(bad.Run.RunID, 0), 5, "one retry scheduled")
}

func testActivityRetry(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	act := x.takeActivityOf("w", "wf", retrying(3, 2, 5))
	for _, backoff := range []int64{2, 5} {
		out := x.failed(act)
		task, err := x.Store.ReadTask(x.ctx(), out.NextTaskID)
		require.NoError(t, err)
		require.Equal(t, x.now()+backoff*1_000_000, task.AvailableAt)
		x.due(seconds(backoff) - 1000)
		x.nothing("w")
		x.Clock.Advance(1000)
		next := x.takeActivity("w")
		require.Equal(t, act.Attempt.AttemptNumber+1, next.Attempt.AttemptNumber)
		require.Equal(t, act.Activity.ExecutionID, next.Activity.ExecutionID)
		require.NotEqual(t, act.Attempt.AttemptID, next.Attempt.AttemptID)
		act = next
	}
	x.failed(act)
	require.Equal(t, 3.0, x.payload(act.Run.RunID, "ActivityFailed")["attempt_number"])
	x.due(3600e9)
	x.nothing2("w", x.PollActivityTask)
	x.step("w", finish())
}

func testActivityUnlimited(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	act := x.takeActivityOf("w", "wf", func(c *command) { c.RetryPolicy = &rules.RetryPolicy{Unlimited: true} })
	for range 20 {
		x.failed(act)
		act = x.takeActivity("w")
	}
	x.succeed(act)
	require.Equal(t, 21.0, x.payload(act.Run.RunID, "ActivityCompleted")["attempt_number"])
}

func testActivityNonRetryable(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	act := x.takeActivityOf("w", "wf", retrying(5))
	out := x.failed(act, func(r *rules.ActivityFailureReport) { r.NonRetryable = true })
	require.Equal(t, out.NextTaskID, x.takeWorkflow("w").Task.TaskID)
	require.Equal(t, true, x.payload(act.Run.RunID, "ActivityFailed")["non_retryable"])
}

func testActivityHeartbeat(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	act := x.takeActivityOf("w", "wf", func(c *command) { c.HeartbeatTimeout = ptr[int64](10) })
	for range 50 { // past the lease of 300 s
		x.due(9e9)
		state, err := x.HeartbeatActivity(x.ctx(), runtime.HeartbeatActivityRequest{ActivityFence: activityFence(act), Progress: []byte(`{"current":3}`)})
		require.NoError(t, err)
		require.Equal(t, []any{true, true, false, "", x.now() + 300_000_000, x.now()}, []any{state.CanContinue, state.HeartbeatRecorded,
			state.CancelRequested, state.Reason, state.Task.LeaseExpiresAt, state.Attempt.LastHeartbeatAt})
	}
	require.Equal(t, map[string]any{"current": 3.0}, x.payload(act.Run.RunID, "ActivityHeartbeatRecorded")["progress"])
	x.succeed(act)
	require.Len(t, x.history(act.Run.RunID, 0), 4+50+1)
}

func testActivityHeartbeatLimit(t *testing.T, open Open) {
	x := newFixture(t, open, func(o *runtime.Options) { o.Limits = &rules.Limits{PayloadBytes: 10} })
	x.register("w")
	x.begun("wf")
	x.step("w", activity("act"))
	act := x.takeActivity("w")
	_, err := x.HeartbeatActivity(x.ctx(), runtime.HeartbeatActivityRequest{ActivityFence: activityFence(act), Progress: []byte(`{"a":"bcdefgh"}`)})
	require.Equal(t, "payload_size", x.refusal("structural_limit_exceeded", err).Fields["limit_kind"])
	require.NotContains(t, x.history(act.Run.RunID, 0), "ActivityHeartbeatRecorded#1")
}

func testActivityResultLimit(t *testing.T, open Open) {
	x := newFixture(t, open, func(o *runtime.Options) { o.Limits = &rules.Limits{PayloadBytes: 10} })
	x.register("w")
	act := x.takeActivityOf("w", "wf", retrying(5))
	req := success(act)
	req.ResultSize = 11
	out, err := x.CompleteActivity(x.ctx(), req)
	require.NoError(t, err)
	require.True(t, out.Recorded)
	failed := x.payload(act.Run.RunID, "ActivityFailed")
	require.Equal(t, []any{"structural_limit", "payload_size", 11.0, 10.0}, []any{failed["failure_category"],
		failed["structural_limit_kind"], failed["structural_limit_value"], failed["structural_limit_configured"]})
	again, err := x.CompleteActivity(x.ctx(), req)
	require.NoError(t, err)
	require.False(t, again.Recorded)
	require.Equal(t, out.NextTaskID, x.takeWorkflow("w").Task.TaskID)
}

func testActivityStatus(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	act := x.takeActivityOf("w", "wf", func(c *command) {
		c.HeartbeatTimeout, c.StartToCloseTimeout, c.ScheduleToCloseTimeout = ptr[int64](5), ptr[int64](10), ptr[int64](20)
	})
	before := x.events(act.Run.RunID)
	state, err := x.ActivityStatus(x.ctx(), activityFence(act))
	require.NoError(t, err)
	require.True(t, state.CanContinue)
	x.same(act.Task, state.Task, "it never renews")
	require.Equal(t, before, x.events(act.Run.RunID), "or writes")
}

func testOutcomeLostAnswer(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	for range 20 {
		run := x.begun("")
		x.step("w", activity("act"))
		act := x.takeActivity("w")
		ctx, cancel := context.WithCancel(x.ctx())
		go cancel()
		_, err := x.CompleteActivity(ctx, success(act))
		require.True(t, err == nil || errors.Is(err, context.Canceled), "%v", err)
		_, err = x.CompleteActivity(x.ctx(), success(act))
		require.NoError(t, err)
		require.Equal(t, "ActivityCompleted#1", x.history(run.RunID, 4)[0])
		require.Len(t, x.history(run.RunID, 0), 5)
		x.step("w", finish())
	}
}
