package rules

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func timeouts(total, toStart, beat, toClose int64) func(*WorkflowCommand) {
	set := func(n int64) *int64 {
		if n == 0 {
			return nil
		}
		return &n
	}
	return func(c *WorkflowCommand) {
		c.ScheduleToCloseTimeout, c.ScheduleToStartTimeout = set(total), set(toStart)
		c.HeartbeatTimeout, c.StartToCloseTimeout = set(beat), set(toClose)
	}
}

// The four deadlines in the contract's order (6.4): the first that has passed wins.
func TestTimeoutOrder(t *testing.T) {
	for name, row := range map[string]struct {
		change  func(*WorkflowCommand)
		started bool
		kind    string
	}{
		"pending, all passed":           {timeouts(5, 5, 5, 5), false, "schedule_to_close"},
		"pending, start only":           {timeouts(9, 5, 0, 0), false, "schedule_to_start"},
		"pending has no heartbeat":      {timeouts(0, 0, 2, 2), false, ""},
		"running, all passed":           {timeouts(5, 5, 5, 5), true, "schedule_to_close"},
		"running, heartbeat first":      {timeouts(9, 0, 5, 5), true, "heartbeat"},
		"running, close only":           {timeouts(9, 0, 0, 5), true, "start_to_close"},
		"running ignores start timeout": {timeouts(0, 5, 0, 0), true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.complete(scheduleActivity("charge", row.change))
			if row.started {
				w.start(1)
			}
			w.now += 5*second - 1
			require.False(t, w.expire(1), "nothing ends early")
			w.now++
			require.Equal(t, row.kind, w.activity(1).DueTimeout(w.now))
			if row.kind == "" {
				require.False(t, w.expire(1))
				return
			}
			require.True(t, w.expire(1))
			out := w.event("ActivityTimedOut")
			require.Equal(t, []any{row.kind, "timeout", timeoutClass},
				[]any{out["timeout_kind"], out["failure_category"], out["exception_class"]})
			want := "Activity charge " + strings.ReplaceAll(row.kind, "_", "-") + " deadline expired at " + FormatTime(epoch+5*second)
			if row.kind == "heartbeat" {
				want += " (last heartbeat: never)"
			}
			require.Equal(t, want+".", out["message"])
			require.Equal(t, ActivityFailed, w.activity(1).Status)
			require.Equal(t, Never, w.activity(1).NextDeadlineAt)
			require.Equal(t, TaskFailed, w.tasks.rows[w.activity(1).TaskID].Status)
			require.Equal(t, "ActivityTimedOut", w.resume("workflow_event_type"))
			require.False(t, w.expire(1), "once")
		})
	}
}

func TestTimeoutRetries(t *testing.T) {
	for name, row := range map[string]struct {
		change  func(*WorkflowCommand)
		started bool
		retried bool
	}{
		"schedule_to_close is never retried": {timeouts(5, 0, 0, 0), true, false},
		"schedule_to_start retries":          {timeouts(0, 5, 0, 0), false, true},
		"heartbeat retries":                  {timeouts(0, 0, 5, 0), true, true},
		"start_to_close retries":             {timeouts(0, 0, 0, 5), true, true},
		"not a class listed as non-retryable": {func(c *WorkflowCommand) {
			timeouts(0, 0, 0, 5)(c)
			c.RetryPolicy.NonRetryableErrorTypes = []string{timeoutClass}
		}, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.complete(scheduleActivity("a", retrying(2, 4), row.change))
			if row.started {
				w.start(1)
			}
			w.after(5)
			require.True(t, w.expire(1))
			require.Equal(t, row.retried, w.activity(1).Status == ActivityPending)
			if !row.retried {
				return
			}
			retry := w.event("ActivityRetryScheduled")
			require.Equal(t, "timeout", retry["retry_reason"])
			require.NotEmpty(t, retry["timeout_kind"])
			require.Equal(t, w.now+4*second, w.tasks.rows[w.activity(1).TaskID].AvailableAt)
			w.after(4)
			w.start(1)
			w.after(5)
			if w.expire(1) {
				require.Equal(t, int64(2), w.event("ActivityTimedOut")["attempt_number"])
			} else {
				w.succeed(1) // a schedule-to-start timeout is over once it has started
			}
			require.Equal(t, int64(2), w.activity(1).AttemptCount, "max_attempts 2")
			require.True(t, w.awake())
		})
	}
}

// An activity nobody starts uses up its attempts too, and each of them has a row.
func TestMissedAttemptsCount(t *testing.T) {
	w := newWorld(t)
	w.complete(scheduleActivity("a", retrying(3), timeouts(0, 5, 0, 0)))
	for range 2 {
		w.after(5)
		require.True(t, w.expire(1))
	}
	require.Equal(t, int64(3), w.start(1).AttemptNumber)
	w.fail(1, ActivityFailureReport{Message: "m"})
	require.Equal(t, ActivityFailed, w.activity(1).Status)
	require.Equal(t, int64(3), w.activity(1).AttemptCount)
}

func TestScheduleToCloseSpansRetries(t *testing.T) {
	w := newWorld(t)
	w.complete(scheduleActivity("a", retrying(9, 100), timeouts(10, 0, 0, 0)))
	w.fail(1, ActivityFailureReport{Message: "m"})
	require.Equal(t, epoch+10*second, w.activity(1).NextDeadlineAt, "due while it waits for its retry")
	w.after(10)
	require.True(t, w.expire(1))
	require.Equal(t, "schedule_to_close", w.event("ActivityTimedOut")["timeout_kind"])
	require.Equal(t, TaskFailed, w.tasks.rows[w.activity(1).TaskID].Status, "its waiting task is not handed out again")
}

func TestHeartbeatTimeoutNamesTheLast(t *testing.T) {
	w := newWorld(t)
	w.complete(scheduleActivity("a", timeouts(0, 0, 3, 0)))
	w.start(1)
	w.after(2)
	act, attempt, task := w.held(1)
	tr := w.begin()
	tr.HeartbeatActivity(act, attempt, task, w.now+300*second, nil)
	w.write(tr)
	last := w.now
	w.after(3)
	require.True(t, w.expire(1))
	require.Contains(t, w.event("ActivityTimedOut")["message"], "(last heartbeat: "+FormatTime(last)+").")
}

// Deadlines that no clock reaches are none; sums near 2^63 do not wrap around.
func TestDeadlinesNearTheEnd(t *testing.T) {
	require.Equal(t, Never, after(epoch, 0))
	require.Equal(t, Never, after(epoch, -5))
	require.Equal(t, Never, after(epoch, 1<<62))
	require.Equal(t, Never, after(epoch, Never))
	require.Equal(t, Never, after(Never, 1))
	last := (lastInstant - epoch) / second
	require.Equal(t, epoch+last*second, after(epoch, last))
	require.Equal(t, "9999", FormatTime(after(epoch, last))[:4])
	require.Equal(t, Never, after(epoch, last+1))

	w := newWorld(t, func(s *StartSpec) { s.Run.ExecutionTimeout, s.Run.RunTimeout = 1<<40, 1<<50 })
	require.Equal(t, Never, w.run().DeadlineAt)
	require.NotContains(t, w.event("WorkflowStarted"), "execution_deadline_at")
	w.now = lastInstant - second
	w.complete(startTimer(1<<31-1), scheduleActivity("a", timeouts(1<<31-1, 0, 0, 0)))
	require.Equal(t, Never, w.activity(1+1).NextDeadlineAt)
	require.Positive(t, w.timers.where(func(*Timer) bool { return true })[0].DueAt)
}
