package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"dwserver/runtime/rules"
	"dwserver/runtime/store"
)

var errRefused = errors.New("refused by a rule")

// testRefusals: transitions that share a commit do not share a refusal or a conflict.
func testRefusals(t *testing.T, x *suite) {
	taken := x.id("wf")
	x.apply(t, &rules.Effects{NewInstance: &rules.Instance{WorkflowID: taken}})
	const n = 60
	workflow := make([]string, n)
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		workflow[i] = x.id("wf")
		wg.Go(func() {
			errs[i] = x.Transition(t.Context(), func(ctx context.Context, tx store.Tx) error {
				id := workflow[i]
				if i%3 == 2 {
					id = taken
				}
				e := &rules.Effects{
					NewInstance: &rules.Instance{WorkflowID: id},
					NewInputs:   []rules.RunInput{{RunID: workflow[i]}},
				}
				if err := tx.Apply(ctx, e); err != nil {
					return fmt.Errorf("start: %w", err)
				}
				if i%3 == 1 {
					return errRefused
				}
				return nil
			})
		})
	}
	wg.Wait()
	for i := range n {
		_, err := x.ReadRunInput(t.Context(), workflow[i])
		switch i % 3 {
		case 0:
			require.NoError(t, errs[i])
			require.NoError(t, err)
		case 1:
			require.Equal(t, errRefused, errs[i], "returned as it is")
			require.ErrorIs(t, err, store.ErrNotFound)
		case 2:
			require.ErrorIs(t, errs[i], store.ErrConflict)
			require.ErrorIs(t, err, store.ErrNotFound)
		}
	}
}

func testSavepoints(t *testing.T, x *suite) {
	put := func(ctx context.Context, tx store.Tx, id string) error {
		return tx.Apply(ctx, &rules.Effects{NewInputs: []rules.RunInput{{RunID: id}}})
	}
	kept, undone, inner, after := x.id("in"), x.id("in"), x.id("in"), x.id("in")
	x.inside(t, func(ctx context.Context, tx store.Tx) {
		require.NoError(t, put(ctx, tx, kept))
		err := tx.Savepoint(ctx, func() error {
			require.NoError(t, put(ctx, tx, undone))
			require.NoError(t, tx.Savepoint(ctx, func() error { return put(ctx, tx, inner) }))
			_, err := tx.GetRunInput(ctx, inner)
			require.NoError(t, err)
			return errRefused
		})
		require.Equal(t, errRefused, err)
		_, err = tx.GetRunInput(ctx, undone)
		require.ErrorIs(t, err, store.ErrNotFound)
		err = tx.Savepoint(ctx, func() error {
			if err := put(ctx, tx, undone); err != nil {
				return err
			}
			err := put(ctx, tx, kept)
			if err == nil { // held back: the conflict shows at the next read
				_, err = tx.GetRunInput(ctx, kept)
			}
			return err
		})
		require.ErrorIs(t, err, store.ErrConflict)
		require.NoError(t, tx.Savepoint(ctx, func() error { return put(ctx, tx, after) }))
	})
	x.requireInputs(t, map[string]bool{kept: true, undone: false, inner: false, after: true})

	lost := x.id("in")
	err := x.do(t, func(ctx context.Context, tx store.Tx) error {
		if err := tx.Savepoint(ctx, func() error { return put(ctx, tx, lost) }); err != nil {
			return err
		}
		return errRefused
	})
	require.Equal(t, errRefused, err)
	x.requireInputs(t, map[string]bool{lost: false})
}

func (x *suite) requireInputs(t *testing.T, want map[string]bool) {
	t.Helper()
	for id, there := range want {
		_, err := x.ReadRunInput(t.Context(), id)
		if there {
			require.NoError(t, err, id)
		} else {
			require.ErrorIs(t, err, store.ErrNotFound, id)
		}
	}
}

// testContexts: a caller that goes away before COMMIT starts leaves nothing.
func testContexts(t *testing.T, x *suite) {
	before, during, waiting := x.id("in"), x.id("in"), x.id("in")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := x.Transition(ctx, func(ctx context.Context, tx store.Tx) error {
		return tx.Apply(ctx, &rules.Effects{NewInputs: []rules.RunInput{{RunID: before}}})
	})
	require.ErrorIs(t, err, context.Canceled)

	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	err = x.Transition(ctx, func(ctx context.Context, tx store.Tx) error {
		defer cancel()
		return tx.Apply(ctx, &rules.Effects{NewInputs: []rules.RunInput{{RunID: during}}})
	})
	require.ErrorIs(t, err, context.Canceled)

	// One whose turn has not come: the run it needs is held by another.
	run := x.newRun(t)
	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	outcome := make(chan error, 1)
	started := make(chan struct{})
	x.inside(t, func(held context.Context, tx store.Tx) {
		_, err := tx.LockRun(held, run.RunID)
		require.NoError(t, err)
		go func() {
			close(started)
			outcome <- x.Transition(ctx, func(ctx context.Context, tx store.Tx) error {
				if _, err := tx.LockRun(ctx, run.RunID); err != nil {
					return err
				}
				return tx.Apply(ctx, &rules.Effects{NewInputs: []rules.RunInput{{RunID: waiting}}})
			})
		}()
		<-started
		cancel()
		require.ErrorIs(t, <-outcome, context.Canceled, "it must not wait for its turn")
	})
	x.requireInputs(t, map[string]bool{before: false, during: false, waiting: false})
	_, err = x.ReadRun(ctx, run.RunID)
	require.ErrorIs(t, err, context.Canceled, "a read of a caller that went away")
}

// testPanics: a panic undoes its own transition and reaches its caller.
func testPanics(t *testing.T, x *suite) {
	gone := x.id("in")
	require.PanicsWithValue(t, "a bug", func() {
		_ = x.Transition(t.Context(), func(ctx context.Context, tx store.Tx) error {
			if err := tx.Apply(ctx, &rules.Effects{NewInputs: []rules.RunInput{{RunID: gone}}}); err != nil {
				return err
			}
			panic("a bug")
		})
	})
	x.requireInputs(t, map[string]bool{gone: false})
	x.newRun(t)
}

func testReadYourWrites(t *testing.T, x *suite) {
	run := x.newRun(t)
	task := x.ready(run, "own")
	x.inside(t, func(ctx context.Context, tx store.Tx) {
		l, err := tx.LockRun(ctx, run.RunID)
		require.NoError(t, err)
		l.Run.WorkflowTaskID, l.Run.OpenTimers = task.TaskID, 7
		require.NoError(t, tx.Apply(ctx, &rules.Effects{Run: &l.Run, NewTasks: []rules.Task{task}}))
		got, err := tx.GetRun(ctx, run.RunID)
		require.NoError(t, err)
		same(t, l.Run, got)
		open, err := tx.ListOpenTasks(ctx, run.RunID)
		require.NoError(t, err)
		require.Equal(t, []string{task.TaskID}, ids(open, taskID))
		claimed, err := tx.Claim(ctx, store.Claim{Namespace: "default", TaskQueue: "own", Kind: rules.KindWorkflow,
			TypeNames: []string{"type"}, Now: 100})
		require.NoError(t, err)
		require.Equal(t, task.TaskID, claimed.Task.TaskID)
		require.EqualValues(t, 7, claimed.Run.OpenTimers)
		require.NoError(t, tx.Apply(ctx, &rules.Effects{}), "nothing to write")
	})
}

// testVisibility: readers and other transitions see committed state only.
func testVisibility(t *testing.T, x *suite) {
	run := x.newRun(t)
	seen := make(chan int64, 1)
	var wg sync.WaitGroup
	x.inside(t, func(ctx context.Context, tx store.Tx) {
		l, err := tx.LockRun(ctx, run.RunID)
		require.NoError(t, err)
		l.Run.OpenTimers = 1
		require.NoError(t, tx.Apply(ctx, &rules.Effects{Run: &l.Run}))
		_, err = tx.GetRun(ctx, run.RunID) // whatever was held back is written now
		require.NoError(t, err)
		got, err := x.ReadRun(ctx, run.RunID)
		require.NoError(t, err)
		require.Zero(t, got.OpenTimers)
		wg.Go(func() {
			_ = x.Transition(t.Context(), func(ctx context.Context, tx store.Tx) error {
				l, err := tx.LockRun(ctx, run.RunID)
				if err == nil {
					seen <- l.Run.OpenTimers
				}
				return err
			})
		})
	})
	wg.Wait()
	require.EqualValues(t, 1, <-seen, "the second transition waited for the first")
	got, err := x.ReadRun(t.Context(), run.RunID)
	require.NoError(t, err)
	require.EqualValues(t, 1, got.OpenTimers)
}
