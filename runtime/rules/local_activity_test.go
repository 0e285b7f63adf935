package rules

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// local is a record_local_activity that completed at its first attempt.
func local(change ...func(*WorkflowCommand)) WorkflowCommand {
	return with(WorkflowCommand{
		Type: "record_local_activity", ActivityType: ptr("l"), Outcome: ptr("completed"), Result: []byte(`"AA=="`),
		Attempts: []byte(`[{"attempt_number":1,"outcome":"completed","duration_ms":5}]`),
	}, change)
}

func attempts(doc string) func(*WorkflowCommand) {
	return func(c *WorkflowCommand) { c.Attempts = []byte(doc) }
}

func unreported(c *WorkflowCommand) { c.Attempts = nil }

func ended(outcome string) func(*WorkflowCommand) {
	return func(c *WorkflowCommand) { c.Outcome, c.Result, c.Message = &outcome, nil, ptr("m") }
}

// The example of commands-and-history.md 4.2: durations 4 s and 2 s, backoff 1 s, reckoned backwards.
func TestLocalActivityTimes(t *testing.T) {
	w := newWorld(t)
	w.complete(local(retrying(2, 1), attempts(`[
		{"attempt_number":1,"outcome":"failed","duration_ms":4000,"message":"m","retry_reason":"failure","backoff_seconds":1,
		 "heartbeats":[{"elapsed_ms":10,"details":{"n":1}},{"elapsed_ms":4000}]},
		{"attempt_number":2,"outcome":"completed","duration_ms":2000,"attempt_id":"mine"}]`)))
	require.Equal(t, []string{"ActivityScheduled#1", "ActivityStarted#1", "ActivityHeartbeatRecorded#1", "ActivityHeartbeatRecorded#1",
		"ActivityRetryScheduled#1", "ActivityStarted#1", "ActivityCompleted#1"}, w.history(3))
	tries := w.tries.where(func(*Attempt) bool { return true })
	at := func(s int64) int64 { return w.now + s*second }
	require.Equal(t, []int64{at(-7), at(-3), at(-2), at(0)}, []int64{tries[0].StartedAt, tries[0].ClosedAt, tries[1].StartedAt, tries[1].ClosedAt})
	require.Equal(t, at(-3), tries[0].LastHeartbeatAt)
	require.Equal(t, []string{AttemptFailed, AttemptCompleted}, []string{tries[0].Status, tries[1].Status})
	act := w.activity(1)
	require.Equal(t, []any{ActivityCompleted, int64(2), at(-7), w.now, tries[1].AttemptID},
		[]any{act.Status, act.AttemptCount, act.StartedAt, act.ClosedAt, act.AttemptID})
	require.Equal(t, int64(1), act.IsLocal)
	for _, ev := range w.events[w.run().RunID][2:] {
		p := fields(t, ev.Payload)
		require.Equal(t, true, p["local_activity"], ev.EventType)
		require.Equal(t, "local", p["execution_mode"], ev.EventType)
		require.Equal(t, w.now, ev.RecordedAt, "recorded when written")
		require.NotEmpty(t, ev.WorkflowTaskID)
		if _, ok := p["activity_attempt_id"]; ok {
			require.Contains(t, p, "worker_attempt_id", ev.EventType)
		}
	}
	require.Equal(t, "mine", w.event("ActivityCompleted")["worker_attempt_id"])
	require.NotContains(t, w.event("ActivityRetryScheduled"), "retry_task_id")
	require.False(t, w.awake(), "nothing to wake it")
}

// 40 records, a side effect at index 35, a trailing signal wait (4.5).
func TestLocalActivityBatch(t *testing.T) {
	w := newWorld(t)
	var commands []WorkflowCommand
	for i := range 40 {
		if i == 35 {
			commands = append(commands, sideEffect())
		}
		commands = append(commands, local())
	}
	w.complete(append(commands, signalWait("s"))...)
	require.Len(t, w.history(1), 2+40*3+2)
	for i := range int64(40) {
		seq := i + 1
		if i >= 35 {
			seq++
		}
		require.Equal(t, ActivityCompleted, w.activity(seq).Status)
	}
	require.Equal(t, "SideEffectRecorded#36", w.history(3)[35*3])
	require.Equal(t, "SignalWaitOpened#42", w.history(1)[len(w.history(1))-1])
}

func TestLocalActivityOutcomes(t *testing.T) {
	last := func(more string) string {
		return `[{"attempt_number":1,"duration_ms":1,"message":"m"` + more + `}]`
	}
	for outcome, row := range map[string]struct {
		change func(*WorkflowCommand)
		event  string
		status string
	}{
		"failed":    {attempts(last(`,"outcome":"failed"`)), "ActivityFailed", ActivityFailed},
		"cancelled": {attempts(last(`,"outcome":"cancelled"`)), "ActivityCancelled", ActivityCancelled},
		"timed_out": {func(c *WorkflowCommand) {
			c.TimeoutKind = ptr("heartbeat")
			attempts(last(`,"outcome":"timed_out","timeout_kind":"heartbeat"`))(c)
		}, "ActivityTimedOut", ActivityFailed},
	} {
		w := newWorld(t)
		w.complete(local(ended(outcome), row.change))
		require.Equal(t, []string{"ActivityScheduled#1", "ActivityStarted#1", row.event + "#1"}, w.history(3))
		require.Equal(t, "m", w.event(row.event)["message"])
		require.Equal(t, row.status, w.activity(1).Status)
	}
}

func TestLocalActivityRules(t *testing.T) {
	one := func(members string) func(*WorkflowCommand) { return attempts(`[{` + members + `}]`) }
	two := func(first string) func(*WorkflowCommand) {
		return func(c *WorkflowCommand) {
			retrying(2, 1)(c)
			attempts(`[{` + first + `},{"attempt_number":2,"outcome":"completed"}]`)(c)
		}
	}
	for name, row := range map[string]struct {
		change []func(*WorkflowCommand)
		field  string
	}{
		"no outcome":             {[]func(*WorkflowCommand){func(c *WorkflowCommand) { c.Outcome = nil }}, "outcome"},
		"no result":              {[]func(*WorkflowCommand){func(c *WorkflowCommand) { c.Result = nil }}, "result"},
		"no message":             {[]func(*WorkflowCommand){ended("failed"), func(c *WorkflowCommand) { c.Message = nil }, one(`"attempt_number":1,"outcome":"failed","message":"m"`)}, "message"},
		"flag when completed":    {[]func(*WorkflowCommand){func(c *WorkflowCommand) { c.NonRetryable = ptr(false) }}, "non_retryable"},
		"timeout without kind":   {[]func(*WorkflowCommand){ended("timed_out"), one(`"attempt_number":1,"outcome":"timed_out","message":"m","timeout_kind":"heartbeat"`)}, "timeout_kind"},
		"queue":                  {[]func(*WorkflowCommand){func(c *WorkflowCommand) { c.Queue = ptr("q") }}, "queue"},
		"mode":                   {[]func(*WorkflowCommand){func(c *WorkflowCommand) { c.ExecutionMode = ptr("remote") }}, "execution_mode"},
		"unlimited":              {[]func(*WorkflowCommand){func(c *WorkflowCommand) { c.RetryPolicy = &RetryPolicy{Unlimited: true} }}, "retry_policy.max_attempts"},
		"101 attempts":           {[]func(*WorkflowCommand){retrying(101)}, "retry_policy.max_attempts"},
		"too many backoffs":      {[]func(*WorkflowCommand){retrying(2, 1, 1)}, "retry_policy.backoff_seconds"},
		"attempts absent":        {[]func(*WorkflowCommand){unreported}, "attempts"},
		"attempts empty":         {[]func(*WorkflowCommand){attempts("[]")}, "attempts"},
		"attempts no list":       {[]func(*WorkflowCommand){attempts("{}")}, "attempts"},
		"unknown member":         {[]func(*WorkflowCommand){one(`"attempt_number":1,"outcome":"completed","colour":"red"`)}, "attempts"},
		"number gap":             {[]func(*WorkflowCommand){one(`"attempt_number":2,"outcome":"completed"`)}, "attempts.0.attempt_number"},
		"outcome differs":        {[]func(*WorkflowCommand){one(`"attempt_number":1,"outcome":"failed","message":"m"`)}, "attempts.0.outcome"},
		"negative duration":      {[]func(*WorkflowCommand){one(`"attempt_number":1,"outcome":"completed","duration_ms":-1`)}, "attempts.0.duration_ms"},
		"heartbeats decrease":    {[]func(*WorkflowCommand){one(`"attempt_number":1,"outcome":"completed","heartbeats":[{"elapsed_ms":5},{"elapsed_ms":4}]`)}, "attempts.0.heartbeats.1.elapsed_ms"},
		"last is retried":        {[]func(*WorkflowCommand){one(`"attempt_number":1,"outcome":"completed","retry_reason":"failure"`)}, "attempts.0.retry_reason"},
		"more than allowed":      {[]func(*WorkflowCommand){attempts(`[{"attempt_number":1,"outcome":"failed","message":"m","retry_reason":"failure","backoff_seconds":0},{"attempt_number":2,"outcome":"completed"}]`)}, "attempts"},
		"retried after success":  {[]func(*WorkflowCommand){two(`"attempt_number":1,"outcome":"completed","message":"m","retry_reason":"failure","backoff_seconds":1`)}, "attempts.0.outcome"},
		"no retry reason":        {[]func(*WorkflowCommand){two(`"attempt_number":1,"outcome":"failed","message":"m","backoff_seconds":1`)}, "attempts.0.retry_reason"},
		"reason of another kind": {[]func(*WorkflowCommand){two(`"attempt_number":1,"outcome":"failed","message":"m","retry_reason":"timeout","backoff_seconds":1`)}, "attempts.0.retry_reason"},
		"other backoff":          {[]func(*WorkflowCommand){two(`"attempt_number":1,"outcome":"failed","message":"m","retry_reason":"failure","backoff_seconds":2`)}, "attempts.0.backoff_seconds"},
		"non-retryable retried":  {[]func(*WorkflowCommand){two(`"attempt_number":1,"outcome":"failed","message":"m","non_retryable":true,"retry_reason":"failure","backoff_seconds":1`)}, "attempts.0.non_retryable"},
		"too many heartbeats":    {[]func(*WorkflowCommand){one(`"attempt_number":1,"outcome":"completed","heartbeats":[` + strings.TrimSuffix(strings.Repeat(`{"elapsed_ms":1},`, 1001), ",") + `]`)}, "attempts"},
	} {
		t.Run(name, func(t *testing.T) {
			r := CheckCommands([]WorkflowCommand{local(row.change...)}, 20, DefaultLimits())
			require.NotNil(t, r)
			require.Contains(t, r.Errors, "commands.0."+row.field)
			require.Len(t, r.Errors, 1, "%v", r.Errors)
		})
	}
	// Before 1.19: no list is one attempt, unknown members are ignored.
	require.Nil(t, CheckCommands([]WorkflowCommand{local(unreported)}, 18, DefaultLimits()))
	require.Nil(t, CheckCommands([]WorkflowCommand{local(one(`"attempt_number":1,"outcome":"completed","colour":"red"`))}, 18, DefaultLimits()))
}

// Durations that no process can have had leave instants that can be told.
func TestLocalActivityOfAbsurdDuration(t *testing.T) {
	var list []string
	for i := range 99 {
		list = append(list, fmt.Sprintf(`{"attempt_number":%d,"outcome":"failed","message":"m","retry_reason":"failure","backoff_seconds":2000000000,"duration_ms":1000000000000}`, i+1))
	}
	list = append(list, `{"attempt_number":100,"outcome":"completed","duration_ms":1000000000000}`)
	w := newWorld(t)
	w.complete(local(retrying(100, 2_000_000_000), attempts("["+strings.Join(list, ",")+"]")))
	for _, a := range w.tries.where(func(*Attempt) bool { return true }) {
		require.Positive(t, a.StartedAt)
		require.GreaterOrEqual(t, a.ClosedAt, a.StartedAt)
	}
}
