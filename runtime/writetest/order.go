package writetest

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"dwserver/runtime"
	"dwserver/runtime/rules"
)

// authored is the position in workflow code that an event's payload names, 0 when it names none.
func authored(t *testing.T, ev *rules.Event) int64 {
	t.Helper()
	var payload struct {
		Sequence int64 `json:"sequence"`
	}
	require.NoError(t, json.Unmarshal(ev.Payload, &payload))
	return payload.Sequence
}

// testOrder: 40 local activities with a side effect after the 35th and a signal wait at the end leave their events
// in authored order, each record's position right, and the activities view complete (write-path.md 4).
func testOrder(t *testing.T, empty Empty) {
	const records, effectAt = 40, 35
	w := newWorld(t, empty, nil)
	w.register()
	commands := append(times(effectAt, local(8)), sideEffect(8))
	commands = append(append(commands, times(records-effectAt, local(8))...), signalWait())
	task := w.leased()
	ran := w.probe.during(func() { w.done(task, commands...) })

	var want []step
	for i := range records {
		position := int64(i + 1)
		if i == effectAt {
			want = append(want, step{"SideEffectRecorded", position})
		}
		if i >= effectAt {
			position++
		}
		want = append(want, step{"ActivityScheduled", position}, step{"ActivityStarted", position}, step{"ActivityCompleted", position})
	}
	want = append(want, step{"SignalWaitOpened", records + 2})
	events := w.history(task.Run.RunID)
	require.Len(t, events, 2+records*3+2)
	require.Equal(t, want, stepsOf(t, events[2:]))
	w.requireView(task.Run, records)
	if w.engine() != sqliteEngine {
		require.Equal(t, []int{2, 1, 1}, []int{ran.count("EventInsert"), ran.count("ActivityInsert"), ran.count("AttemptInsert")}, ran)
	}
}

// step is an event and its authored sequence.
type step struct {
	event    string
	position int64
}

func stepsOf(t *testing.T, events []rules.Event) (out []step) {
	t.Helper()
	for i := range events {
		out = append(out, step{events[i].EventType, authored(t, &events[i])})
	}
	return out
}

// requireView holds the activities view of a run of completed local activities against its history.
func (w *world) requireView(run rules.Run, records int) {
	w.t.Helper()
	starts := map[int64]map[string]string{}
	for _, ev := range w.history(run.RunID) {
		if ev.EventType == "ActivityStarted" {
			starts[authored(w.t, &ev)] = map[string]string{
				"execution": rules.Text(ev.Payload, "activity_execution_id"), "attempt": rules.Text(ev.Payload, "activity_attempt_id"),
			}
		}
	}
	require.Len(w.t, starts, records)
	var seen []runtime.RunActivity
	for after := int64(0); ; {
		page, err := w.ListActivities(w.t.Context(), runtime.Target{Namespace: namespace, WorkflowID: run.WorkflowID, RunID: run.RunID}, after, 7)
		require.NoError(w.t, err)
		seen = append(seen, page.Activities...)
		if after = page.NextAfter; after == 0 {
			break
		}
	}
	require.Len(w.t, seen, records)
	last := int64(0)
	for i := range seen {
		a := &seen[i]
		require.Greater(w.t, a.Sequence, last)
		last = a.Sequence
		require.Len(w.t, a.Attempts, 1)
		require.Equal(w.t, starts[a.Sequence], map[string]string{"execution": a.ExecutionID, "attempt": a.Attempts[0].AttemptID})
		require.Equal(w.t, []any{rules.ActivityCompleted, rules.AttemptCompleted, int64(1)}, []any{a.Status, a.Attempts[0].Status, a.IsLocal})
	}
}
