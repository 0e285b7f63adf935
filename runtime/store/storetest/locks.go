package storetest

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"dwserver/runtime/rules"
	"dwserver/runtime/store"
)

func testLocks(t *testing.T, x *suite) {
	run := x.newRun(t)
	act, task := x.activity(run, "locks")
	worker := fill[rules.Worker](x.last.Add(1))
	worker.Namespace = "default"
	first := rules.Attempt{AttemptID: x.id("try"), ExecutionID: act.ExecutionID, Receipt: []byte("1")}
	second := rules.Attempt{AttemptID: x.id("try"), ExecutionID: act.ExecutionID, Receipt: []byte("2")}
	task.ActivityAttemptID, task.LeaseOwner, task.Status = second.AttemptID, worker.WorkerID, rules.TaskLeased
	task.Payload, task.Receipt = []byte{}, []byte{}
	act.RetryPolicy, act.Parallel = []byte{}, []byte{}
	open := x.ready(run, "locks")
	open.Payload, open.Receipt = []byte("{}"), []byte("r")
	open.LeaseOwner, open.Status = worker.WorkerID, rules.TaskLeased
	ended := x.ready(run, "locks")
	ended.Status, ended.Payload, ended.Receipt = rules.TaskCompleted, []byte{}, []byte{}
	x.apply(t, &rules.Effects{Worker: &worker, NewTasks: []rules.Task{task, open, ended}, NewActs: []rules.Activity{act},
		NewTries: []rules.Attempt{first, second}})
	run.WorkflowTaskID, run.PendingWake = open.TaskID, []byte("wake")
	x.apply(t, &rules.Effects{Run: &run})
	instance, err := x.ReadInstance(t.Context(), run.WorkflowID)
	require.NoError(t, err)

	lock := func(fn func(context.Context, store.Tx) (*store.Locked, error)) (l *store.Locked) {
		t.Helper()
		x.inside(t, func(ctx context.Context, tx store.Tx) {
			var err error
			l, err = fn(ctx, tx)
			require.NoError(t, err)
		})
		return l
	}
	byTask := func(attempt string) func(ctx context.Context, tx store.Tx) (*store.Locked, error) {
		return func(ctx context.Context, tx store.Tx) (*store.Locked, error) {
			return tx.LockTask(ctx, rules.KindActivity, task.TaskID, attempt)
		}
	}
	want := &store.Locked{Run: run, Task: task, Activity: act, Attempt: second, OpenTask: open}
	same(t, want, lock(byTask("")), "the current attempt")
	want.Attempt = first
	same(t, want, lock(byTask(first.AttemptID)), "a named attempt")
	want.Attempt = rules.Attempt{}
	same(t, want, lock(byTask("absent")), "an unknown attempt")
	byKind := func(kind, id string) func(ctx context.Context, tx store.Tx) (*store.Locked, error) {
		return func(ctx context.Context, tx store.Tx) (*store.Locked, error) { return tx.LockTask(ctx, kind, id, "") }
	}
	same(t, &store.Locked{Run: run, Task: open, Owner: worker, OpenTask: open}, lock(byKind(rules.KindWorkflow, open.TaskID)))
	same(t, &store.Locked{Run: run, Task: ended}, lock(byKind(rules.KindWorkflow, ended.TaskID)), "not the run's open task")
	for kind, other := range map[string]rules.Task{rules.KindWorkflow: task, rules.KindActivity: open} {
		l := lock(byKind(kind, other.TaskID))
		l.Owner, l.OpenTask = rules.Worker{}, rules.Task{} // of no interest
		same(t, &store.Locked{Run: run, Task: other}, l, "another kind")
	}
	same(t, &store.Locked{Run: run, OpenTask: open},
		lock(func(ctx context.Context, tx store.Tx) (*store.Locked, error) { return tx.LockRun(ctx, run.RunID) }))
	same(t, &store.Locked{Run: run, OpenTask: open, Instance: instance},
		lock(func(ctx context.Context, tx store.Tx) (*store.Locked, error) {
			return tx.LockCurrentRun(ctx, run.WorkflowID)
		}))

	x.inside(t, func(ctx context.Context, tx store.Tx) {
		got, err := tx.LockInstance(ctx, run.WorkflowID)
		require.NoError(t, err)
		require.Equal(t, instance, got)
		_, err = tx.LockInstance(ctx, "absent")
		require.ErrorIs(t, err, store.ErrNotFound)
		_, err = tx.LockTask(ctx, rules.KindWorkflow, "absent", "")
		require.ErrorIs(t, err, store.ErrNotFound)
		_, err = tx.LockTask(ctx, rules.KindActivity, "absent", "")
		require.ErrorIs(t, err, store.ErrNotFound)
		_, err = tx.LockRun(ctx, "absent")
		require.ErrorIs(t, err, store.ErrNotFound)
		_, err = tx.LockCurrentRun(ctx, "absent")
		require.ErrorIs(t, err, store.ErrNotFound)
	})
}

// testLockOrder: transitions of one run are totally ordered, whichever way they lock it.
func testLockOrder(t *testing.T, x *suite) {
	run := x.newRun(t)
	task := x.ready(run, "order")
	x.apply(t, &rules.Effects{NewTasks: []rules.Task{task}})
	const callers, steps = 12, 15
	var wg sync.WaitGroup
	errs := make(chan error, callers*steps)
	for c := range callers {
		wg.Go(func() {
			for i := range steps {
				errs <- x.Transition(t.Context(), func(ctx context.Context, tx store.Tx) error {
					l, err := lockSomehow(ctx, tx, (c+i)%3, run, task.TaskID)
					if err != nil {
						return err
					}
					base := l.Run.LastHistorySequence
					l.Run.LastHistorySequence++
					return tx.Apply(ctx, &rules.Effects{Run: &l.Run, RunBase: base,
						Events: []rules.Event{{RunID: run.RunID, Sequence: base + 1, EventID: fmt.Sprint(c, i)}}})
				})
			}
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		require.NoError(t, err)
	}
	got, err := x.ReadRun(t.Context(), run.RunID)
	require.NoError(t, err)
	require.EqualValues(t, callers*steps, got.LastHistorySequence)
	events, err := x.ListEvents(t.Context(), run.RunID, 0, rules.Never, callers*steps+1)
	require.NoError(t, err)
	require.Len(t, events, callers*steps)
}

func lockSomehow(ctx context.Context, tx store.Tx, way int, run rules.Run, taskID string) (*store.Locked, error) {
	switch way {
	case 0:
		return tx.LockTask(ctx, rules.KindWorkflow, taskID, "")
	case 1:
		return tx.LockRun(ctx, run.RunID)
	default:
		return tx.LockCurrentRun(ctx, run.WorkflowID)
	}
}

// testGuard: effects computed from another state of the run are refused whole.
func testGuard(t *testing.T, x *suite) {
	run := x.newRun(t)
	run.LastHistorySequence = 3
	x.apply(t, &rules.Effects{Run: &run, RunBase: 0})
	stale := run
	stale.LastHistorySequence = 4
	err := x.try(t, &rules.Effects{Run: &stale, RunBase: 0, Events: []rules.Event{{RunID: run.RunID, Sequence: 4}}})
	require.ErrorIs(t, err, store.ErrConflict)
	_, err = x.ReadEvent(t.Context(), run.RunID, 4)
	require.ErrorIs(t, err, store.ErrNotFound)

	require.ErrorIs(t, x.try(t, &rules.Effects{Events: []rules.Event{{RunID: run.RunID, Sequence: 9}, {RunID: run.RunID, Sequence: 9}}}),
		store.ErrConflict, "one sequence twice")
	_, err = x.ReadEvent(t.Context(), run.RunID, 9)
	require.ErrorIs(t, err, store.ErrNotFound)
	second := run
	second.RunID = x.id("run")
	require.ErrorIs(t, x.try(t, &rules.Effects{NewRuns: []rules.Run{second}}), store.ErrConflict, "one run number twice")
}

// testMissing: a row that another names and that is not there is damaged state, never an unknown
// task or an empty queue.
func testMissing(t *testing.T, x *suite) {
	fails := func(about string, fn func(context.Context, store.Tx) error) {
		t.Helper()
		err := x.do(t, fn)
		require.ErrorIs(t, err, store.ErrBroken, about)
		require.NotErrorIs(t, err, store.ErrNotFound, about)
	}
	queue := x.id("queue")
	stray := x.ready(rules.Run{RunID: "gone", Namespace: "default", WorkflowType: "type"}, queue)
	x.apply(t, &rules.Effects{NewTasks: []rules.Task{stray}})
	fails("run of a task", func(ctx context.Context, tx store.Tx) error {
		_, err := tx.LockTask(ctx, stray.Kind, stray.TaskID, "")
		return err
	})
	fails("run of a claimed task", func(ctx context.Context, tx store.Tx) error {
		_, err := tx.Claim(ctx, claimOf(queue))
		return err
	})

	run := x.newRun(t)
	_, task := x.activity(run, queue+"a")
	x.apply(t, &rules.Effects{NewTasks: []rules.Task{task}})
	fails("activity of a task", func(ctx context.Context, tx store.Tx) error {
		_, err := tx.LockTask(ctx, task.Kind, task.TaskID, "")
		return err
	})
	fails("activity of a claimed task", func(ctx context.Context, tx store.Tx) error {
		c := claimOf(queue + "a")
		c.Kind = rules.KindActivity
		_, err := tx.Claim(ctx, c)
		return err
	})

	run.WorkflowTaskID = "gone"
	x.apply(t, &rules.Effects{Run: &run})
	fails("open task of a run", func(ctx context.Context, tx store.Tx) error {
		_, err := tx.LockRun(ctx, run.RunID)
		return err
	})
	fails("open task of a workflow's run", func(ctx context.Context, tx store.Tx) error {
		_, err := tx.LockCurrentRun(ctx, run.WorkflowID)
		return err
	})
}

// testOwners: the owner's registration is the stored one, whichever registration is held already.
func testOwners(t *testing.T, x *suite) {
	owner, other := fill[rules.Worker](x.last.Add(1)), fill[rules.Worker](x.last.Add(1))
	owner.Namespace, other.Namespace = "default", "default"
	run := x.newRun(t)
	task := x.ready(run, "owners")
	task.Status, task.LeaseOwner = rules.TaskLeased, owner.WorkerID
	unowned := x.ready(run, "owners")
	x.apply(t, &rules.Effects{Worker: &owner, NewTasks: []rules.Task{task, unowned}})
	x.apply(t, &rules.Effects{Worker: &other})
	for about, hold := range map[string]func(context.Context, store.Tx) (rules.Worker, error){
		"none": func(context.Context, store.Tx) (rules.Worker, error) { return rules.Worker{}, nil },
		"owner": func(ctx context.Context, tx store.Tx) (rules.Worker, error) {
			return tx.ShareWorker(ctx, "default", owner.WorkerID)
		},
		"other": func(ctx context.Context, tx store.Tx) (rules.Worker, error) {
			return tx.LockWorker(ctx, "default", other.WorkerID)
		},
		"absent": func(ctx context.Context, tx store.Tx) (rules.Worker, error) {
			_, err := tx.ShareWorker(ctx, "default", "absent")
			require.ErrorIs(t, err, store.ErrNotFound)
			return rules.Worker{}, nil
		},
	} {
		x.inside(t, func(ctx context.Context, tx store.Tx) {
			_, err := hold(ctx, tx)
			require.NoError(t, err)
			l, err := tx.LockTask(ctx, rules.KindWorkflow, task.TaskID, "")
			require.NoError(t, err)
			require.Equal(t, owner, l.Owner, about)
		})
		x.inside(t, func(ctx context.Context, tx store.Tx) {
			_, err := hold(ctx, tx)
			require.NoError(t, err)
			l, err := tx.LockTask(ctx, rules.KindWorkflow, unowned.TaskID, "")
			require.NoError(t, err)
			require.Zero(t, l.Owner, about)
		})
	}
	next := fill[rules.Worker](x.last.Add(1))
	next.Namespace, next.WorkerID = owner.Namespace, owner.WorkerID
	x.inside(t, func(ctx context.Context, tx store.Tx) {
		_, err := tx.LockWorker(ctx, "default", owner.WorkerID)
		require.NoError(t, err)
		require.NoError(t, tx.Apply(ctx, &rules.Effects{Worker: &next}))
		l, err := tx.LockTask(ctx, rules.KindWorkflow, task.TaskID, "")
		require.NoError(t, err)
		require.Equal(t, next, l.Owner, "changed by the transaction itself")
	})
}
