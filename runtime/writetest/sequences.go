package writetest

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"dwserver/runtime"
	"dwserver/runtime/rules"
	"dwserver/runtime/store"
	"dwserver/runtime/store/storetest"
)

const (
	exhausted = "history_sequence_exhausted"
	maximum   = rules.Never // of the counter's column
)

func (w *world) setCounter(runID string, value int64) {
	w.t.Helper()
	storetest.SetCounter(w.t, w.store, runID, value)
}

// reasonOf is the reason of a refusal, "" for another error or none.
func reasonOf(err error) string {
	var r *runtime.Refusal
	if errors.As(err, &r) {
		return r.Reason
	}
	return ""
}

// tail is the events of a run after a sequence.
func (w *world) tail(runID string, after int64) []rules.Event {
	w.t.Helper()
	events, err := w.store.ListEvents(w.t.Context(), runID, after, maximum, 100)
	require.NoError(w.t, err)
	return events
}

// testExhausted: a counter that cannot take all events of a completion refuses it as it would a single one; what
// fits is taken, up to the maximum; what did not fit leaves nothing, and the claim is usable (write-path.md 3).
func testExhausted(t *testing.T, empty Empty) {
	w := newWorld(t, empty, nil)
	w.register()
	const n = 16 // events of five local activities and a side effect
	batch := append(times(5, local(4)), sideEffect(4))
	for _, left := range []int64{0, 1, n - 1, n} {
		task := w.leased()
		run := task.Run.RunID
		w.setCounter(run, maximum-left)
		var many, one error
		ran := w.probe.during(func() { _, many = w.complete(task, runtime.Carriers{}, batch...) })
		if left == n {
			require.NoError(t, many)
			require.Len(t, w.tail(run, maximum-left), n)
			stored, err := w.store.ReadRun(t.Context(), run)
			require.NoError(t, err)
			require.EqualValues(t, maximum, stored.LastHistorySequence)
			require.Equal(t, 1, ran.count("RunUpdate"), "the range is one statement's")
			continue
		}
		require.Equal(t, exhausted, reasonOf(many), "%d left", left)
		require.Empty(t, ran.writes())
		require.Empty(t, w.tail(run, maximum-left), "what fitted is rolled back")
		acts, err := w.store.ListActivities(t.Context(), run, 0, 10)
		require.NoError(t, err)
		require.Empty(t, acts)

		_, one = w.complete(task, runtime.Carriers{}, sideEffect(4))
		if left > 0 {
			require.NoError(t, one, "the claim is usable, and one fits")
			require.Len(t, w.tail(run, maximum-left), 1)
			continue
		}
		require.Equal(t, exhausted, reasonOf(one))
		require.Equal(t, refusal(t, one), refusal(t, many), "the refusal of a range is that of one")
		w.setCounter(run, 2)
		w.done(task, batch...)
		w.history(run)
	}
}

func refusal(t *testing.T, err error) runtime.Refusal {
	t.Helper()
	var r *runtime.Refusal
	require.ErrorAs(t, err, &r)
	return *r
}

// testExhaustedByAClaim: a completion that fits and a carried claim that does not are refused together.
func testExhaustedByAClaim(t *testing.T, empty Empty) {
	w := newWorld(t, empty, nil)
	w.register()
	task := w.leased()
	w.setCounter(task.Run.RunID, maximum-1)
	_, err := w.complete(task, w.both(), schedule())
	require.Equal(t, exhausted, reasonOf(err), "%v", err)
	require.Empty(t, w.tail(task.Run.RunID, maximum-1))
	w.done(task, schedule())
	_, err = w.PollActivityTask(t.Context(), w.poll())
	require.Equal(t, exhausted, reasonOf(err), "%v", err)
}

// testMissingRun: a range of events for a run that is not there fails as one event does, and leaves nothing.
func testMissingRun(t *testing.T, empty Empty) {
	w := newWorld(t, empty, nil)
	w.register()
	task := *w.leased()
	stray := task.Task
	stray.TaskID, stray.RunID = w.ids.New(), "gone"
	w.apply(&rules.Effects{NewTasks: []rules.Task{stray}})
	task.Task = stray
	_, many := w.complete(&task, runtime.Carriers{}, times(5, local(4))...)
	_, one := w.complete(&task, runtime.Carriers{}, sideEffect(4))
	require.ErrorIs(t, many, store.ErrBroken)
	require.ErrorIs(t, one, store.ErrBroken)
	require.Equal(t, one.Error(), many.Error())
	require.Empty(t, w.tail("gone", 0))
	stored, err := w.store.ReadTask(t.Context(), stray.TaskID)
	require.NoError(t, err)
	require.Equal(t, rules.TaskLeased, stored.Status)

	for _, n := range []int64{1, 5} { // and where only the update of the run would tell
		e := &rules.Effects{Run: &rules.Run{RunID: "gone", LastHistorySequence: n}}
		for i := range n {
			e.Events = append(e.Events, rules.Event{RunID: "gone", Sequence: i + 1, EventID: w.ids.New()})
		}
		err := w.store.Transition(t.Context(), func(ctx context.Context, tx store.Tx) error { return tx.Apply(ctx, e) })
		require.ErrorIs(t, err, store.ErrConflict)
		require.Empty(t, w.tail("gone", 0))
	}
}
