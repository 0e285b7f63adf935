package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"dwserver/runtime/rules"
	"dwserver/runtime/store"
	"dwserver/runtime/store/sqlite"
)

// gate holds the writer in a first transition, so that what is started behind it queues up.
type gate struct {
	s    *sqlite.Store
	log  []string // statements around the writes, in order
	fail map[string]error
}

// newGate opens a store whose commits are logged and fail as fail says, once each.
func newGate(t *testing.T) *gate {
	g := &gate{fail: map[string]error{}}
	s, err := sqlite.Open(t.Context(), "sqlite://"+filepath.Join(t.TempDir(), "dw.db"), store.Options{Probe: g.probe})
	require.NoError(t, err)
	g.s = s
	return g
}

// probe runs on the writer's goroutine alone.
func (g *gate) probe(_ context.Context, statement string) error {
	switch statement {
	case "BEGIN IMMEDIATE", "COMMIT", "COMMITTED", "ROLLBACK", "SAVEPOINT member", "ROLLBACK TO member":
		g.log = append(g.log, statement)
	}
	err := g.fail[statement]
	delete(g.fail, statement)
	return err
}

func (g *gate) count(statement string) (n int) {
	for _, s := range g.log {
		if s == statement {
			n++
		}
	}
	return n
}

// behind runs fns, in order, in the group of one transition that writes nothing.
func (g *gate) behind(t *testing.T, fns ...func(context.Context, store.Tx) error) []error {
	t.Helper()
	errs := make([]error, len(fns))
	open := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		_ = g.s.Transition(t.Context(), func(context.Context, store.Tx) error { <-open; return nil })
	})
	synctest.Wait()
	g.log = nil
	for i, fn := range fns {
		wg.Go(func() { errs[i] = g.s.Transition(t.Context(), fn) })
		synctest.Wait() // it queued up
	}
	close(open)
	wg.Wait()
	return errs
}

func put(id string) func(context.Context, store.Tx) error {
	return func(ctx context.Context, tx store.Tx) error {
		return tx.Apply(ctx, &rules.Effects{NewInputs: []rules.RunInput{{RunID: id}}})
	}
}

func (g *gate) requireStored(t *testing.T, want map[string]bool) {
	t.Helper()
	for id, there := range want {
		_, err := g.s.ReadRunInput(t.Context(), id)
		if there {
			require.NoError(t, err, id)
		} else {
			require.ErrorIs(t, err, store.ErrNotFound, id)
		}
	}
}

func TestGroupSharesOneCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(t)
		var fns []func(context.Context, store.Tx) error
		want := map[string]bool{}
		for i := range 63 {
			fns = append(fns, put(fmt.Sprint(i)))
			want[fmt.Sprint(i)] = true
		}
		for _, err := range g.behind(t, fns...) {
			require.NoError(t, err)
		}
		require.Equal(t, 1, g.count("COMMIT"))
		require.Zero(t, g.count("SAVEPOINT member"), "no member fails")
		g.requireStored(t, want)

		g.behind(t, append(fns[:0:0], make64(64)...)...)
		require.Equal(t, 2, g.count("COMMIT"), "64 transitions a commit at most")
		require.NoError(t, g.s.Close())
	})
}

func make64(n int) (fns []func(context.Context, store.Tx) error) {
	for i := range n {
		fns = append(fns, put(fmt.Sprint("more", i)))
	}
	return fns
}

func TestAnswersComeAfterTheCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(t)
		g.fail["COMMIT"] = store.ErrUnavailable
		errs := g.behind(t, put("a"), func(context.Context, store.Tx) error { return errors.New("own") }, put("b"))
		require.ErrorIs(t, errs[0], store.ErrUnavailable)
		require.EqualError(t, errs[1], "own")
		require.ErrorIs(t, errs[2], store.ErrUnavailable)
		g.requireStored(t, map[string]bool{"a": false, "b": false})

		g.fail["COMMITTED"] = store.ErrOutcomeUnknown
		errs = g.behind(t, put("a"))
		require.ErrorIs(t, errs[0], store.ErrOutcomeUnknown)
		g.requireStored(t, map[string]bool{"a": true})
		require.NoError(t, g.s.Transition(t.Context(), put("c")))
		require.NoError(t, g.s.Close())
	})
}

func TestRefusalUndoesOnlyItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(t)
		refuse := func(id string) func(context.Context, store.Tx) error {
			return func(ctx context.Context, tx store.Tx) error {
				return errors.Join(put(id)(ctx, tx), errors.New("refused"))
			}
		}
		errs := g.behind(t, refuse("first"), put("a"), refuse("x"), put("b"), put("a"), put("c"))
		for i, bad := range []bool{true, false, true, false, true, false} {
			require.Equal(t, bad, errs[i] != nil, i)
		}
		require.ErrorIs(t, errs[4], store.ErrConflict)
		require.Equal(t, 1, g.count("COMMIT"))
		require.Equal(t, 3, g.count("SAVEPOINT member"), "of b, a and c, as a had to run again")
		require.Equal(t, 1, g.count("ROLLBACK TO member"))
		g.requireStored(t, map[string]bool{"first": false, "x": false, "a": true, "b": true, "c": true})
		require.NoError(t, g.s.Close())
	})
}

// TestLostGroupRunsAgain: a fault that takes the whole transaction with it does not fail the
// members that had succeeded.
func TestLostGroupRunsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(t)
		g.fail["ROLLBACK TO member"] = store.ErrUnavailable
		fault := errors.New("fault")
		bad := func(id string) func(ctx context.Context, tx store.Tx) error {
			return func(ctx context.Context, tx store.Tx) error { return errors.Join(put(id)(ctx, tx), fault) }
		}
		errs := g.behind(t, put("a"), put("b"), bad("x"), put("c"), bad("y"), put("d"))
		for i, err := range errs {
			if i == 2 || i == 4 {
				require.ErrorIs(t, err, fault)
			} else {
				require.NoError(t, err, i)
			}
		}
		require.Empty(t, g.fail, "the careful group was lost too")
		g.requireStored(t, map[string]bool{"a": true, "b": true, "x": false, "c": true, "y": false, "d": true})
		require.NoError(t, g.s.Close())
	})
}

// TestSwallowedFaultFailsTheMember: after a fault SQLite may have rolled back, so that a function
// that goes on as if nothing had happened must not commit.
func TestSwallowedFaultFailsTheMember(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(t)
		errs := g.behind(t, put("a"), func(ctx context.Context, tx store.Tx) error {
			g.fail["RunGet"] = store.ErrBroken
			_, _ = tx.GetRun(ctx, "any")
			return put("x")(ctx, tx)
		})
		require.NoError(t, errs[0])
		require.ErrorIs(t, errs[1], store.ErrBroken)
		g.requireStored(t, map[string]bool{"a": true, "x": false})
		require.NoError(t, g.s.Close())
	})
}

// TestFunctionThatEndsItsGoroutine: as a failed test does; the writer goes on.
func TestFunctionThatEndsItsGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(t)
		errs := g.behind(t, put("a"), func(ctx context.Context, tx store.Tx) error {
			_ = put("x")(ctx, tx)
			runtime.Goexit()
			return nil
		}, put("b"))
		require.NoError(t, errs[0])
		require.NoError(t, errs[2])
		g.requireStored(t, map[string]bool{"a": true, "x": false, "b": true})
		require.NoError(t, g.s.Close())
	})
}

// TestCallerThatLeavesTheQueue: one whose context ends before its turn is skipped, at once.
func TestCallerThatLeavesTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(t)
		open := make(chan struct{})
		var wg sync.WaitGroup
		wg.Go(func() {
			_ = g.s.Transition(t.Context(), func(context.Context, store.Tx) error { <-open; return nil })
		})
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		left := make(chan error, 1)
		wg.Go(func() { left <- g.s.Transition(ctx, put("x")) })
		synctest.Wait()
		cancel()
		require.ErrorIs(t, <-left, context.Canceled)
		close(open)
		wg.Wait()
		g.requireStored(t, map[string]bool{"x": false})
		require.NoError(t, g.s.Close())
	})
}

func TestCloseRunsWhatWasTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(t)
		open := make(chan struct{})
		outcome := make(chan error, 1)
		go func() {
			outcome <- g.s.Transition(t.Context(), func(ctx context.Context, tx store.Tx) error {
				<-open
				return put("a")(ctx, tx)
			})
		}()
		synctest.Wait()
		closed := make(chan error, 1)
		go func() { closed <- g.s.Close() }()
		synctest.Wait()
		require.Empty(t, closed, "it waits for the transition that runs")
		close(open)
		require.NoError(t, <-outcome)
		require.NoError(t, <-closed)
	})
}
