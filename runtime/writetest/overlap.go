package writetest

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"dwserver/runtime/rules"
	"dwserver/runtime/store"
)

// patience bounds how long a test waits for what has to happen.
const patience = 30 * time.Second

// await waits for a channel to be closed.
func await(t *testing.T, done <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(patience):
		require.FailNow(t, "it did not happen", what)
	}
}

// testOverlap: the next transition of a run begins when COMMIT of the one before starts and waits on the lock in
// the database, where there is one; it sees what that one wrote. SQLite's begins after the commit (write-path.md 1).
func testOverlap(t *testing.T, empty Empty) {
	url := empty(t)
	p := &probe{}
	s := openStore(t, url, store.Options{Probe: p.see})
	runID := makeRun(t, s)
	committing, locking, goOn := make(chan struct{}), make(chan struct{}), make(chan struct{})
	p.on(func(name string) error {
		switch {
		case name == commit && !isClosed(committing):
			close(committing)
			<-goOn
		case name == "RunLock" && isClosed(committing) && !isClosed(locking):
			close(locking)
		}
		return nil
	})
	var seen int64
	ran := p.during(func() {
		first, second := make(chan error, 1), make(chan error, 1)
		go func() { first <- appendEvents(t.Context(), s, runID, 3, nil) }()
		await(t, committing, "the first transition commits")
		go func() { second <- appendEvents(t.Context(), s, runID, 2, &seen) }()
		if engineOf(url) != sqliteEngine {
			await(t, locking, "the second transition begins while the first commits")
		}
		close(goOn)
		require.NoError(t, <-first)
		require.NoError(t, <-second)
	})
	require.EqualValues(t, 3, seen, "what the first one committed")
	requireEvents(t, s, runID, 5)
	if engineOf(url) == sqliteEngine {
		second := slices.Index(ran[slices.Index(ran, "RunLock")+1:], "RunLock")
		require.Less(t, slices.Index(ran, committed), second+slices.Index(ran, "RunLock")+1, "%s", strings.Join(ran, " "))
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// makeRun stores an empty run and returns its id.
func makeRun(t *testing.T, s store.Store) string {
	t.Helper()
	const id = "run"
	require.NoError(t, s.Transition(t.Context(), func(ctx context.Context, tx store.Tx) error {
		return tx.Apply(ctx, &rules.Effects{
			NewInstance: &rules.Instance{WorkflowID: id, Namespace: namespace, CurrentRunID: id, RunCount: 1},
			NewRuns: []rules.Run{{RunID: id, WorkflowID: id, Namespace: namespace, RunNumber: 1, Status: rules.RunRunning,
				ExecutionDeadlineAt: rules.Never, RunDeadlineAt: rules.Never, DeadlineAt: rules.Never}},
		})
	}))
	return id
}

// appendEvents is a transition that adds n events to a run.
func appendEvents(ctx context.Context, s store.Store, runID string, n int64, before *int64) error {
	return s.Transition(ctx, func(ctx context.Context, tx store.Tx) error { return writeEvents(ctx, tx, runID, n, before) })
}

// writeEvents adds n events to a run and tells how many there were. It returns when the database has them.
func writeEvents(ctx context.Context, tx store.Tx, runID string, n int64, before *int64) error {
	l, err := tx.LockRun(ctx, runID)
	if err != nil {
		return err
	}
	base := l.Run.LastHistorySequence
	if before != nil {
		*before = base
	}
	e := &rules.Effects{Run: &l.Run, RunBase: base}
	for i := range n {
		e.Events = append(e.Events, rules.Event{RunID: runID, Sequence: base + i + 1, EventID: "event", EventType: "Some"})
	}
	l.Run.LastHistorySequence += n
	if err := tx.Apply(ctx, e); err != nil {
		return err
	}
	_, err = tx.GetRun(ctx, runID) // behind what was held back
	return err
}

// requireEvents holds a run to exactly n events, numbered without a gap.
func requireEvents(t *testing.T, s store.Store, runID string, n int64) {
	t.Helper()
	run, err := s.ReadRun(t.Context(), runID)
	require.NoError(t, err)
	require.Equal(t, n, run.LastHistorySequence)
	events, err := s.ListEvents(t.Context(), runID, 0, rules.Never, 1000)
	require.NoError(t, err)
	require.Len(t, events, int(n))
	for i := range events {
		require.EqualValues(t, i+1, events[i].Sequence)
	}
}
