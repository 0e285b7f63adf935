package rules

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRetriesWithBackoff(t *testing.T) {
	w := newWorld(t)
	w.complete(scheduleActivity("a", retrying(4, 2, 5)))
	for attempt, backoff := range []int64{2, 5, 5} { // the last entry repeats
		w.fail(1, ActivityFailureReport{Message: "no", Type: "Oops"})
		retry := w.event("ActivityRetryScheduled")
		require.Equal(t, backoff, retry["retry_backoff_seconds"])
		require.Equal(t, int64(attempt+1), retry["retry_after_attempt"])
		require.Equal(t, "failure", retry["retry_reason"])
		require.Equal(t, int64(4), retry["max_attempts"])
		act := w.activity(1)
		require.Equal(t, ActivityPending, act.Status)
		task := w.tasks.rows[act.TaskID]
		require.Equal(t, retry["retry_task_id"], task.TaskID)
		require.Equal(t, w.now+backoff*second, task.AvailableAt)
		require.Equal(t, int64(attempt+1), task.AttemptCount, "the task goes on counting")
		require.False(t, w.awake(), "a retry wakes nobody")
		w.after(backoff)
	}
	w.fail(1, ActivityFailureReport{Message: "no", Type: "Oops", Class: "app.Oops"})
	require.Equal(t, ActivityFailed, w.activity(1).Status)
	failed := w.event("ActivityFailed")
	require.Equal(t, int64(4), failed["attempt_number"])
	require.Equal(t, []any{"Oops", "app.Oops", "no", "activity", false}, []any{failed["exception_type"],
		failed["exception_class"], failed["message"], failed["failure_category"], failed["non_retryable"]})
	require.Equal(t, "ActivityFailed", w.resume("workflow_event_type"))
	for _, ev := range w.history(1) {
		require.NotEqual(t, "ActivityCompleted#1", ev)
	}
}

func TestRetryDecision(t *testing.T) {
	policy := func(p *RetryPolicy) func(*WorkflowCommand) { return func(c *WorkflowCommand) { c.RetryPolicy = p } }
	timeouts := func(c *WorkflowCommand) { c.StartToCloseTimeout = ptr[int64](5) }
	for name, row := range map[string]struct {
		change  func(*WorkflowCommand)
		report  ActivityFailureReport
		retried bool
	}{
		"no policy means one attempt":      {func(*WorkflowCommand) {}, ActivityFailureReport{Message: "m"}, false},
		"timeouts alone mean one attempt":  {timeouts, ActivityFailureReport{Message: "m"}, false},
		"absent max_attempts is one":       {policy(&RetryPolicy{BackoffSeconds: []int64{1}}), ActivityFailureReport{Message: "m"}, false},
		"null max_attempts is unlimited":   {policy(&RetryPolicy{Unlimited: true}), ActivityFailureReport{Message: "m"}, true},
		"two attempts":                     {retrying(2), ActivityFailureReport{Message: "m"}, true},
		"non-retryable by the report":      {retrying(2), ActivityFailureReport{Message: "m", NonRetryable: true}, false},
		"a cancelled activity":             {retrying(2), ActivityFailureReport{Message: "m", Cancelled: true}, false},
		"a cancellation kind":              {retrying(2), ActivityFailureReport{Message: "m", Kind: "cancellation"}, false},
		"a reported timeout":               {retrying(2), ActivityFailureReport{Message: "m", Kind: "timeout", TimeoutType: "heartbeat"}, true},
		"non-retryable by type":            {policy(&RetryPolicy{Unlimited: true, NonRetryableErrorTypes: []string{"Bad"}}), ActivityFailureReport{Message: "m", Type: "Bad"}, false},
		"non-retryable by class":           {policy(&RetryPolicy{Unlimited: true, NonRetryableErrorTypes: []string{"app.Bad"}}), ActivityFailureReport{Message: "m", Type: "B", Class: "app.Bad"}, false},
		"a type that only begins the same": {policy(&RetryPolicy{Unlimited: true, NonRetryableErrorTypes: []string{"Bad"}}), ActivityFailureReport{Message: "m", Type: "BadLuck"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.complete(scheduleActivity("a", row.change))
			w.fail(1, row.report)
			require.Equal(t, row.retried, w.activity(1).Status == ActivityPending)
			require.Equal(t, !row.retried, w.awake())
		})
	}
}

func TestUnlimitedRetriesGoOn(t *testing.T) {
	w := newWorld(t)
	w.complete(scheduleActivity("a", func(c *WorkflowCommand) { c.RetryPolicy = &RetryPolicy{Unlimited: true} }))
	require.Contains(t, string(w.activity(1).RetryPolicy), `"max_attempts":null`)
	for range 200 {
		w.fail(1, ActivityFailureReport{Message: "m"})
	}
	require.Equal(t, int64(200), w.activity(1).AttemptCount)
	w.succeed(1)
	require.Equal(t, int64(201), w.event("ActivityCompleted")["attempt_number"])
}

func TestFailureAlwaysNamesAType(t *testing.T) {
	for name, row := range map[string]struct {
		report ActivityFailureReport
		want   string
	}{
		"type":       {ActivityFailureReport{Message: "m", Type: "T", Class: "c.T"}, "T"},
		"class only": {ActivityFailureReport{Message: "m", Class: "c.T"}, "c.T"},
		"neither":    {ActivityFailureReport{}, ""},
	} {
		w := newWorld(t)
		w.complete(scheduleActivity("a"))
		w.fail(1, row.report)
		failed := w.event("ActivityFailed")
		require.Equal(t, row.want, failed["exception_type"], name)
		require.Contains(t, failed, "message", name)
	}
}

func TestReportedTimeoutAndCancellationKeepTheirCategory(t *testing.T) {
	w := newWorld(t)
	w.complete(scheduleActivity("a"), scheduleActivity("b"))
	w.fail(1, ActivityFailureReport{Message: "m", Kind: "timeout", TimeoutType: "heartbeat"})
	require.Equal(t, "timeout", w.event("ActivityFailed")["failure_category"])
	require.Equal(t, "heartbeat", w.event("ActivityFailed")["timeout_kind"])
	w.fail(2, ActivityFailureReport{Message: "m", Cancelled: true})
	require.Equal(t, "cancelled", w.event("ActivityFailed")["failure_category"])
	require.Equal(t, true, w.event("ActivityFailed")["non_retryable"])
}

func TestLostAttempts(t *testing.T) {
	w := newWorld(t)
	w.complete(scheduleActivity("a", retrying(2, 3)))
	lose := func() {
		act, attempt, task := w.held(1)
		tr := w.begin()
		tr.LoseAttempt(act, attempt, task)
		w.write(tr)
	}
	first := w.start(1)
	lose()
	require.Equal(t, AttemptExpired, w.tries.rows[first.AttemptID].Status)
	require.Equal(t, "timeout", w.event("ActivityRetryScheduled")["retry_reason"])
	w.after(3)
	w.start(1)
	lose()
	failed := w.event("ActivityFailed")
	require.Equal(t, "ActivityLeaseExpired", failed["exception_type"])
	require.Equal(t, "timeout", failed["failure_category"])
	require.True(t, w.awake())
}

func TestResultOverTheLimit(t *testing.T) {
	w := newWorld(t)
	w.complete(scheduleActivity("a", retrying(5)))
	w.start(1)
	act, attempt, task := w.held(1)
	tr := w.begin()
	next := tr.FailActivityOverLimit(act, attempt, task, LimitExceeded("payload_size", 11, 10), []byte("d"))
	w.write(tr)
	failed := w.event("ActivityFailed")
	require.Equal(t, []any{"structural_limit", "payload_size", int64(11), int64(10), true}, []any{failed["failure_category"],
		failed["structural_limit_kind"], failed["structural_limit_value"], failed["structural_limit_configured"], failed["non_retryable"]})
	require.Equal(t, w.run().WorkflowTaskID, next)
}

func TestHeartbeatsBelongToTheirAttempt(t *testing.T) {
	w := newWorld(t)
	w.complete(scheduleActivity("a", retrying(2), func(c *WorkflowCommand) { c.HeartbeatTimeout = ptr[int64](4) }))
	w.start(1)
	w.after(3)
	act, attempt, task := w.held(1)
	tr := w.begin()
	tr.HeartbeatActivity(act, attempt, task, w.now+300*second, []byte(`{"current":1}`))
	w.write(tr)
	beat := w.event("ActivityHeartbeatRecorded")
	require.Equal(t, map[string]any{"current": int64(1)}, numbers(beat["progress"]))
	require.Equal(t, FormatTime(w.now), beat["heartbeat_at"])
	require.Equal(t, w.now+4*second, w.activity(1).HeartbeatDeadlineAt, "the deadline moves")
	require.Equal(t, w.now+300*second, w.tasks.rows[task.TaskID].LeaseExpiresAt, "the lease moves")

	first := w.activity(1).AttemptID
	w.fail(1, ActivityFailureReport{Message: "m"})
	require.Equal(t, w.now, w.tries.rows[first].LastHeartbeatAt)
	second := w.start(1)
	require.Zero(t, w.activity(1).LastHeartbeatAt)
	w.fail(1, ActivityFailureReport{Message: "m"})
	require.Zero(t, w.tries.rows[second.AttemptID].LastHeartbeatAt, "the first attempt's heartbeat is not the second's")
}

func TestErrorTypesAreKeptOnce(t *testing.T) {
	w := newWorld(t)
	w.complete(scheduleActivity("a", func(c *WorkflowCommand) {
		c.RetryPolicy = &RetryPolicy{NonRetryableErrorTypes: []string{"A", "B", "A", "C", "B"}}
	}))
	require.Equal(t, []any{"A", "B", "C"}, fields(t, w.activity(1).RetryPolicy)["non_retryable_error_types"])
}
