package writetest

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"dwserver/runtime"
	"dwserver/runtime/rules"
)

// testBudgets: a completion over a budget is refused with the limit, its value and what was asked; no row is
// written, and the same claim takes a smaller batch (write-path.md 5).
func testBudgets(t *testing.T, empty Empty) {
	for _, c := range []struct {
		kind  string
		set   func(*rules.Limits)
		limit int64
		asks  int64 // 0: at least the limit
		large []rules.WorkflowCommand
		small []rules.WorkflowCommand
	}{
		{"history_transaction_size", func(l *rules.Limits) { l.HistoryTransactionSize = 15 }, 15, 18, times(6, local(4)), times(5, local(4))},
		{"completion_events", func(l *rules.Limits) { l.CompletionMaxEvents = 15 }, 15, 16,
			append(times(5, local(4)), sideEffect(4)), times(5, local(4))},
		{"completion_rows", func(l *rules.Limits) { l.CompletionMaxRows = 26 }, 26, 30, times(6, local(4)), times(5, local(4))},
		{"completion_rows", func(l *rules.Limits) { l.CompletionMaxRows = 31 }, 31, 34, times(11, schedule()), times(10, schedule())},
		{"completion_bytes", func(l *rules.Limits) { l.CompletionMaxBytes = 100_000 }, 100_000, 0,
			append(times(2, local(4)), sideEffect(60_000)), append(times(2, local(4)), sideEffect(20_000))},
		{"payload_size", func(l *rules.Limits) { l.PayloadBytes = 900 }, 900, 903, []rules.WorkflowCommand{local(4), sideEffect(1204)},
			[]rules.WorkflowCommand{local(4), sideEffect(1200)}},
	} {
		t.Run(fmt.Sprint(c.kind, " ", c.limit), func(t *testing.T) {
			limits := rules.DefaultLimits()
			c.set(&limits)
			w := newWorld(t, empty, &limits)
			w.register()
			task := w.leased()
			var err error
			ran := w.probe.during(func() { _, err = w.complete(task, w.both(), c.large...) })
			require.Equal(t, "structural_limit_exceeded", reasonOf(err), "%v", err)
			fields := refusal(t, err).Fields
			require.Equal(t, []any{c.kind, c.limit}, []any{fields["limit_kind"], fields["configured_limit"]})
			require.Greater(t, fields["current_value"], c.limit)
			if c.asks > 0 {
				require.Equal(t, c.asks, fields["current_value"])
			}
			require.Empty(t, ran.writes(), "refused before the first write")
			require.Len(t, w.history(task.Run.RunID), 2)
			w.requireUntouched(task)
			w.done(task, c.small...)
			w.history(task.Run.RunID)
		})
	}
}

// requireUntouched holds a run to the state in which its first claim left it.
func (w *world) requireUntouched(task *runtime.WorkflowTaskAnswer) {
	w.t.Helper()
	run, err := w.store.ReadRun(w.t.Context(), task.Run.RunID)
	require.NoError(w.t, err)
	require.Equal(w.t, task.Run, run)
	stored, err := w.store.ReadTask(w.t.Context(), task.Task.TaskID)
	require.NoError(w.t, err)
	require.Equal(w.t, task.Task, stored)
	acts, err := w.store.ListActivities(w.t.Context(), run.RunID, 0, 10)
	require.NoError(w.t, err)
	require.Empty(w.t, acts)
}
