package rules

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// local is a record_local_activity that completed at its first attempt.
func local(change ...func(*WorkflowCommand)) WorkflowCommand {
	return with(WorkflowCommand{
		Type: "record_local_activity", ActivityType: ptr("l"), Outcome: ptr("completed"), Result: []byte(`"AA=="`),
	}, append([]func(*WorkflowCommand){attempts(`[{"attempt_number":1,"outcome":"completed","duration_ms":5}]`)}, change...))
}

// attempts reports attempts as they are named on the wire; "unknown" lists members that there are none of.
func attempts(doc string) func(*WorkflowCommand) {
	return func(c *WorkflowCommand) {
		var list []struct {
			AttemptID      *string  `json:"attempt_id"`
			Number         int64    `json:"attempt_number"`
			Outcome        string   `json:"outcome"`
			DurationMS     *int64   `json:"duration_ms"`
			Message        *string  `json:"message"`
			ExceptionType  *string  `json:"exception_type"`
			NonRetryable   *bool    `json:"non_retryable"`
			TimeoutKind    *string  `json:"timeout_kind"`
			RetryReason    *string  `json:"retry_reason"`
			BackoffSeconds *int64   `json:"backoff_seconds"`
			Unknown        []string `json:"unknown"`
			Heartbeats     []struct {
				ElapsedMS *int64          `json:"elapsed_ms"`
				Details   json.RawMessage `json:"details"`
			} `json:"heartbeats"`
		}
		if err := json.Unmarshal([]byte(doc), &list); err != nil {
			panic(err)
		}
		c.Attempts = []LocalAttempt{}
		for _, a := range list {
			attempt := LocalAttempt{AttemptID: a.AttemptID, Number: a.Number, Outcome: a.Outcome, DurationMS: a.DurationMS,
				Message: a.Message, ExceptionType: a.ExceptionType, NonRetryable: a.NonRetryable, TimeoutKind: a.TimeoutKind,
				RetryReason: a.RetryReason, BackoffSeconds: a.BackoffSeconds, Unknown: a.Unknown}
			for _, beat := range a.Heartbeats {
				attempt.Heartbeats = append(attempt.Heartbeats, LocalHeartbeat{beat.ElapsedMS, beat.Details})
			}
			c.Attempts = append(c.Attempts, attempt)
		}
	}
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

// Every event names the step, the execution and the task, and shows the activity and the attempt as of then.
func TestLocalActivityEvents(t *testing.T) {
	w := newWorld(t)
	w.complete(local(ended("failed"), retrying(2, 3), func(c *WorkflowCommand) { c.ExceptionType, c.NonRetryable = ptr("E"), ptr(true) }, attempts(`[
		{"attempt_number":1,"outcome":"timed_out","timeout_kind":"heartbeat","message":"late","retry_reason":"timeout","backoff_seconds":3,
		 "exception_type":"T","heartbeats":[{"elapsed_ms":0,"details":{"n":1}},{"elapsed_ms":0}],"attempt_id":"one"},
		{"attempt_number":2,"outcome":"failed","message":"no","non_retryable":true}]`)))
	events := w.events[w.run().RunID][2:]
	statuses := []string{"pending", "running", "running", "running", "pending", "running", "failed"}
	tries := []string{"", "running", "running", "running", "failed", "running", "failed"}
	act, attempts := w.activity(1), w.tries.where(func(*Attempt) bool { return true })
	require.Len(t, events, len(statuses))
	for i, ev := range events {
		p := fields(t, ev.Payload)
		for name, want := range map[string]any{
			"execution_mode": "local", "local_activity": true, "workflow_task_id": ev.WorkflowTaskID, "sequence": int64(1),
			"activity_execution_id": act.ExecutionID, "activity_class": "l", "activity_type": "l",
		} {
			require.Equal(t, want, p[name], "%s of %s", name, ev.EventType)
		}
		snapshot := p["activity"].(map[string]any)
		require.Equal(t, []any{statuses[i], "local", true, act.ExecutionID}, []any{snapshot["status"],
			snapshot["execution_mode"], snapshot["local_activity"], snapshot["id"]}, ev.EventType)
		require.Equal(t, ev.WorkflowTaskID, p["task"].(map[string]any)["id"])
		if tries[i] == "" {
			require.NotContains(t, p, "activity_attempt")
			continue
		}
		attempt := &attempts[0]
		if i > 4 {
			attempt = &attempts[1]
		}
		require.Equal(t, []any{attempt.AttemptID, attempt.AttemptNumber}, []any{p["activity_attempt_id"], p["attempt_number"]})
		require.Equal(t, orNil(attempt.WorkerAttemptID), p["worker_attempt_id"], "null when the worker named none")
		shown := p["activity_attempt"].(map[string]any)
		require.Equal(t, []any{attempt.AttemptID, tries[i], ev.WorkflowTaskID, attempt.LeaseOwner},
			[]any{shown["id"], shown["status"], shown["task_id"], shown["lease_owner"]})
		if attempt.WorkerAttemptID != "" {
			require.Equal(t, attempt.WorkerAttemptID, shown["worker_attempt_id"])
		}
	}
	beat := fields(t, events[2].Payload)
	require.Equal(t, FormatTime(attempts[0].StartedAt), beat["heartbeat_at"])
	require.Contains(t, beat, "progress")
	require.NotContains(t, fields(t, events[3].Payload), "progress")
	retry := w.event("ActivityRetryScheduled")
	require.Equal(t, []any{"late", "T", "timeout", int64(3), "heartbeat"}, []any{retry["message"], retry["exception_type"],
		retry["retry_reason"], retry["retry_backoff_seconds"], retry["timeout_kind"]})
	failed := w.event("ActivityFailed")
	require.Equal(t, []any{"activity", true, "E", "E", "m"}, []any{failed["failure_category"], failed["non_retryable"],
		failed["exception_type"], failed["exception_class"], failed["message"]})
	require.Equal(t, map[string]any{"class": "E", "type": "E", "message": "m"}, failed["exception"])
	require.NotEmpty(t, failed["failure_id"])
	require.Equal(t, attempts[0].LastHeartbeatAt, act.LastHeartbeatAt, "the latest of all attempts")
}

func TestLocalActivityOutcomes(t *testing.T) {
	last := func(more string) string {
		return `[{"attempt_number":1,"duration_ms":1,"message":"m"` + more + `}]`
	}
	for outcome, row := range map[string]struct {
		change func(*WorkflowCommand)
		event  string
		status string
		has    map[string]any
	}{
		"failed": {attempts(last(`,"outcome":"failed"`)), "ActivityFailed", ActivityFailed,
			map[string]any{"exception_type": "", "non_retryable": false}}, // replay needs them, also when nothing was said
		"cancelled": {attempts(last(`,"outcome":"cancelled"`)), "ActivityCancelled", ActivityCancelled,
			map[string]any{"cancelled_at": FormatTime(epoch)}},
		"timed_out": {func(c *WorkflowCommand) {
			c.TimeoutKind = ptr("heartbeat")
			attempts(last(`,"outcome":"timed_out","timeout_kind":"heartbeat"`))(c)
		}, "ActivityTimedOut", ActivityFailed, map[string]any{"timeout_kind": "heartbeat", "failure_category": "timeout",
			"exception_class": timeoutClass}},
	} {
		w := newWorld(t)
		w.complete(local(ended(outcome), row.change))
		require.Equal(t, []string{"ActivityScheduled#1", "ActivityStarted#1", row.event + "#1"}, w.history(3))
		ended := w.event(row.event)
		require.Equal(t, "m", ended["message"])
		for name, want := range row.has {
			require.Equal(t, want, ended[name], name)
		}
		act := w.activity(1)
		require.Equal(t, row.status, act.Status)
		require.Equal(t, row.status, w.tries.rows[act.AttemptID].Status)
		require.Equal(t, w.run().LastHistorySequence, act.ClosedEventSequence)
		require.Equal(t, []int64{epoch, 0}, []int64{act.ClosedAt, act.LastHeartbeatAt})
	}
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
