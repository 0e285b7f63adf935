package storetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"dwserver/runtime/rules"
	"dwserver/runtime/store"
)

// testClaimFound: a claim that is told what ReadHead found gets that, announced or not, with what belongs to it,
// and another where that is gone.
func testClaimFound(t *testing.T, x *suite) {
	queue, run := x.id("queue"), x.newRun(t)
	act, task := x.activity(run, queue)
	later, next := x.activity(x.newRun(t), queue)
	next.OrderAt = task.OrderAt + 1
	worker := fill[rules.Worker](x.last.Add(1))
	worker.Namespace = "default"
	x.apply(t, &rules.Effects{NewActs: []rules.Activity{act, later}, NewTasks: []rules.Task{task, next}, Worker: &worker})
	c := claimOf(queue)
	c.Kind = rules.KindActivity
	head, err := x.ReadHead(t.Context(), c)
	require.NoError(t, err)
	c.Found, c.History = &head, 10
	for _, announced := range []bool{true, false} {
		x.undone(t, func(ctx context.Context, tx store.Tx) {
			if announced {
				tx.Expect(store.Expected{Namespace: worker.Namespace, WorkerID: worker.WorkerID, Claims: []store.Claim{c}})
			}
			_, err := tx.ShareWorker(ctx, worker.Namespace, worker.WorkerID)
			require.NoError(t, err)
			l, err := tx.Claim(ctx, c)
			require.NoError(t, err)
			l.Documents = nil
			same(t, &store.Locked{Run: run, Task: task, Activity: act}, l)
		})
	}
	task.Status = rules.TaskCompleted
	x.apply(t, &rules.Effects{Tasks: []rules.Task{task}})
	x.undone(t, func(ctx context.Context, tx store.Tx) {
		tx.Expect(store.Expected{Namespace: worker.Namespace, WorkerID: worker.WorkerID, Claims: []store.Claim{c}})
		_, err := tx.ShareWorker(ctx, worker.Namespace, worker.WorkerID)
		require.NoError(t, err)
		l, err := tx.Claim(ctx, c)
		require.NoError(t, err)
		require.Equal(t, next.TaskID, l.Task.TaskID, "what was found is gone")
	})
}

// undone runs fn in a transaction that is taken back.
func (x *suite) undone(t *testing.T, fn func(context.Context, store.Tx)) {
	t.Helper()
	undone := errors.New("undone")
	err := x.Transition(t.Context(), func(ctx context.Context, tx store.Tx) error {
		fn(ctx, tx)
		return undone
	})
	require.ErrorIs(t, err, undone)
}

// testClaimTaken: what a claim of this process is taking is not to be had by another that is told of it, and who
// looks meanwhile waits for how that ends: taken back, the task is there; taken for good, it is not.
func testClaimTaken(t *testing.T, x *suite) {
	if !x.LooksFirst() {
		t.Skip("claims search by themselves")
	}
	queue := x.id("queue")
	task := x.ready(x.newRun(t), queue)
	x.apply(t, &rules.Effects{NewTasks: []rules.Task{task}})
	c := claimOf(queue)
	found, err := x.ReadHead(t.Context(), c)
	require.NoError(t, err)
	type looked struct {
		head store.Head
		err  error
	}
	var answer chan looked
	meanwhile := func() {
		told := c
		told.Found = &found
		err := x.Transition(t.Context(), func(ctx context.Context, tx store.Tx) error {
			_, err := tx.Claim(ctx, told)
			return err
		})
		require.ErrorIs(t, err, store.ErrTaken)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		_, err = x.ReadHead(ctx, c)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		answer = make(chan looked, 1)
		go func() {
			head, err := x.ReadHead(t.Context(), c)
			answer <- looked{head, err}
		}()
	}
	x.undone(t, func(ctx context.Context, tx store.Tx) {
		_, err := lease(ctx, tx, c, "worker")
		require.NoError(t, err)
		meanwhile()
	})
	got := <-answer
	require.NoError(t, got.err)
	require.Equal(t, task.TaskID, got.head.TaskID)
	x.inside(t, func(ctx context.Context, tx store.Tx) {
		_, err := lease(ctx, tx, c, "worker")
		require.NoError(t, err)
		meanwhile()
	})
	got = <-answer
	require.ErrorIs(t, got.err, store.ErrNotFound)
}
