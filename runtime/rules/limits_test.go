package rules

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func requireLimit(t *testing.T, r *Refusal, kind string, value, limit int64) {
	t.Helper()
	require.NotNil(t, r)
	require.Equal(t, "structural_limit_exceeded", r.Reason)
	require.Equal(t, []any{kind, value, limit}, []any{r.Fields["limit_kind"], r.Fields["current_value"], r.Fields["configured_limit"]})
}

// A limit is exceeded when open + batch > limit; the whole batch is judged before anything is written.
func TestPendingLimits(t *testing.T) {
	w := newWorld(t)
	w.limit.PendingActivities, w.limit.PendingTimers = 3, 3
	w.complete(scheduleActivity("a"), scheduleActivity("a"), startTimer(1), startTimer(1), signalWait("x"))
	w.signal("x")
	requireLimit(t, w.refused(scheduleActivity("a"), scheduleActivity("a")), "pending_activity_count", 4, 3)
	requireLimit(t, w.refused(startTimer(1), conditionWait("k", within(1))), "pending_timer_count", 4, 3)
	task := w.tasks.rows[w.run().WorkflowTaskID]
	_, r := w.answer(task, scheduleActivity("a"), startTimer(1), conditionWait("k", within(0)))
	require.Nil(t, r, "the same claim sends a smaller batch")

	w = newWorld(t)
	w.limit.PendingActivities = 2
	w.complete(group(1, "a", "b")...)
	w.fail(1, ActivityFailureReport{Message: "m"})
	w.complete(group(1, "a", "b")...) // a group sent again is not counted again

	w = newWorld(t)
	w.limit.PendingActivities, w.limit.PendingTimers = 0, 0
	w.complete(scheduleActivity("a"), startTimer(1)) // 0 switches a limit off
}

func TestBatchAndPayloadLimits(t *testing.T) {
	w := newWorld(t)
	w.limit.CommandBatchSize = 2
	requireLimit(t, w.refused(sideEffect(), sideEffect(), sideEffect()), "command_batch_size", 3, 2)

	w = newWorld(t)
	w.limit.PayloadBytes = 6
	exact, over := []byte(`"AAAAAAAA"`), []byte(`{"codec":"avro","blob":"AAAAAAAAAA=="}`)
	for field, set := range map[string]func(*WorkflowCommand, []byte){
		"arguments": func(c *WorkflowCommand, doc []byte) { *c = scheduleActivity("a"); c.Arguments = doc },
		"result":    func(c *WorkflowCommand, doc []byte) { *c = sideEffect(); c.Result = doc },
		"output":    func(c *WorkflowCommand, doc []byte) { *c = completeWorkflow(); c.Result = doc },
		"continue":  func(c *WorkflowCommand, doc []byte) { *c = continueAsNew(); c.Arguments = doc },
	} {
		var c WorkflowCommand
		set(&c, over)
		requireLimit(t, w.refused(c), "payload_size", 7, 6)
		set(&c, exact)
		require.Nil(t, checkSizes([]WorkflowCommand{c}, w.limit), field)
	}
}

func TestCompletionBudgets(t *testing.T) {
	commands := []WorkflowCommand{scheduleActivity("a"), startTimer(1), conditionWait("k", within(1)), sideEffect()} // 5 events
	for kind, row := range map[string]struct {
		set   func(*Limits, int64)
		value int64
	}{
		"history_transaction_size": {func(l *Limits, n int64) { l.HistoryTransactionSize = n }, 5},
		"completion_events":        {func(l *Limits, n int64) { l.CompletionMaxEvents = n }, 5},
		// 5 events, the activity and its task, two timers, a wait, the completed task
		"completion_rows": {func(l *Limits, n int64) { l.CompletionMaxRows = n }, 11},
	} {
		w := newWorld(t)
		row.set(&w.limit, row.value-1)
		requireLimit(t, w.refused(commands...), kind, row.value, row.value-1)
		row.set(&w.limit, row.value)
		_, r := w.answer(w.tasks.rows[w.run().WorkflowTaskID], commands...)
		require.Nil(t, r, kind)
	}
	w := newWorld(t)
	w.limit.CompletionMaxBytes = 100_000
	big := sideEffect(func(c *WorkflowCommand) { c.Result = []byte(`"` + strings.Repeat("A", 100_000) + `"`) })
	r := w.refused(big)
	require.Equal(t, "completion_bytes", r.Fields["limit_kind"])
	require.Greater(t, r.Fields["current_value"], int64(100_000))
}

// The counter takes what fits and refuses what does not, as a single allocation would (write-path.md 3).
func TestHistorySequenceExhausted(t *testing.T) {
	for left, fits := range map[int64]bool{0: false, 1: false, 2: true, 3: true} {
		run := Run{RunID: "r", Status: RunWaiting, LastHistorySequence: Never - left}
		tr := NewTransition(epoch, func() string { return "id" }, &run, DefaultLimits())
		tr.Record("A", 0, NewObject(0))
		tr.Record("B", 0, NewObject(0))
		r := tr.Check()
		require.Equal(t, fits, r == nil, "%d left", left)
		if r != nil {
			require.Equal(t, "history_sequence_exhausted", r.Reason)
		}
	}
}

func TestHistoryBudgetIsAdvice(t *testing.T) {
	for _, row := range []struct {
		events, bytes, fan int64
		pressure           string
		dims               []string
	}{
		{7999, 0, 0, "ok", nil},
		{8000, 0, 0, "approaching", []string{"event_count"}},
		{10000, 0, 0, "continue_as_new_recommended", []string{"event_count"}},
		{0, 4 << 20, 160, "approaching", []string{"size_bytes", "fan_out"}},
		{8000, 5 << 20, 0, "continue_as_new_recommended", []string{"event_count", "size_bytes"}},
		{0, 0, 200, "continue_as_new_recommended", []string{"fan_out"}},
	} {
		b := Budget(row.events, row.bytes, row.fan)
		require.Equal(t, row.pressure, b.Pressure)
		require.Equal(t, row.dims, b.Dimensions)
		require.Equal(t, row.pressure == "continue_as_new_recommended", b.Recommended)
	}
}

func TestPayloadSizes(t *testing.T) {
	for doc, size := range map[string]int64{
		"": 0, `""`: 0, `"AA=="`: 1, `"AAA="`: 2, `"AAAA"`: 3, `"AAAAAA=="`: 4,
		`{"codec":"avro","blob":"AAAA"}`: 3, `{"codec":"avro","blob":""}`: 0,
	} {
		require.Equal(t, size, PayloadSize([]byte(doc)), doc)
	}
}

func TestEnvelopes(t *testing.T) {
	for doc, want := range map[string]string{
		"": "", "null": "", `""`: "", `"AA=="`: `{"codec":"avro","blob":"AA=="}`,
		`{"codec":"avro","blob":"AA=="}`: `{"codec":"avro","blob":"AA=="}`,
	} {
		require.Equal(t, want, string(Envelope([]byte(doc))), doc)
	}
	for doc, ok := range map[string]bool{
		`"A\/8="`: true, `"A/8="`: true, `"AA="`: false, `"AA"`: false, "true": false,
		`{"codec":"avro","external_storage":{"uri":"s3://x"}}`:      true,
		`{"codec":"avro","external_payload":{"reference_id":"ep"}}`: true,
		`{"codec":"avro","external_storage":"x"}`:                   false,
		`{"codec":"avro","blob":7}`:                                 false,
	} {
		require.Equal(t, ok, CheckPayload([]byte(doc), nil) == "", doc)
	}
}
