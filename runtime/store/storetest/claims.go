package storetest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"dwserver/runtime/rules"
	"dwserver/runtime/store"
)

// claimOf is a claim of workflow tasks of the type "type" in a queue, at a time when all is due.
func claimOf(queue string) store.Claim {
	return store.Claim{Namespace: "default", TaskQueue: queue, Kind: rules.KindWorkflow, TypeNames: []string{"type"}, Now: 1000}
}

// claim leases what a claim finds.
func (x *suite) claim(t *testing.T, c store.Claim) (task rules.Task) {
	t.Helper()
	if c.Now == 0 {
		c.Now = 1000
	}
	head, err := x.ReadHead(t.Context(), c)
	require.NoError(t, err)
	x.inside(t, func(ctx context.Context, tx store.Tx) {
		inside, err := tx.Head(ctx, c)
		require.NoError(t, err)
		require.Equal(t, head, inside)
		task, err = lease(ctx, tx, c, "worker")
		require.NoError(t, err)
	})
	head.ActivityExecutionID, head.Moment = "", 0
	require.Equal(t, store.Head{Priority: task.Priority, OrderAt: task.OrderAt, TaskID: task.TaskID, RunID: task.RunID}, head)
	return task
}

func (x *suite) claimNone(t *testing.T, c store.Claim) {
	t.Helper()
	if c.Now == 0 {
		c.Now = 1000
	}
	_, err := x.ReadHead(t.Context(), c)
	require.ErrorIs(t, err, store.ErrNotFound)
	x.inside(t, func(ctx context.Context, tx store.Tx) {
		_, err := tx.Head(ctx, c)
		require.ErrorIs(t, err, store.ErrNotFound)
		_, err = tx.Claim(ctx, c)
		require.ErrorIs(t, err, store.ErrNotFound)
	})
}

func lease(ctx context.Context, tx store.Tx, c store.Claim, owner string) (rules.Task, error) {
	l, err := tx.Claim(ctx, c)
	if err != nil {
		return rules.Task{}, err
	}
	l.Task.Status, l.Task.LeaseOwner, l.Task.LeaseExpiresAt = rules.TaskLeased, owner, c.Now+1000
	l.Task.AttemptCount++
	return l.Task, tx.Apply(ctx, &rules.Effects{Tasks: []rules.Task{l.Task}})
}

// testClaimOrder: priority, then the order key (age and fairness), then the id.
func testClaimOrder(t *testing.T, x *suite) {
	queue := x.id("queue")
	type place struct{ priority, order int64 }
	places := []place{{5, 200}, {5, 100}, {9, 1}, {0, 900}, {5, 100}, {0, 300}, {5, 150}}
	want := []place{{0, 300}, {0, 900}, {5, 100}, {5, 100}, {5, 150}, {5, 200}, {9, 1}}
	e := &rules.Effects{}
	for i, p := range places {
		task := x.ready(x.newRun(t), queue)
		task.Priority, task.OrderAt, task.TypeName = p.priority, p.order, fmt.Sprint("type", i%3)
		e.NewTasks = append(e.NewTasks, task)
	}
	x.apply(t, e)
	c := claimOf(queue)
	c.TypeNames = []string{"type2", "type0", "none", "type1"}
	var got []place
	var last rules.Task
	for range places {
		task := x.claim(t, c)
		if last.Priority == task.Priority && last.OrderAt == task.OrderAt {
			require.Less(t, last.TaskID, task.TaskID)
		}
		got, last = append(got, place{task.Priority, task.OrderAt}), task
	}
	require.Equal(t, want, got)
	x.claimNone(t, c)
}

func testClaimFilters(t *testing.T, x *suite) {
	queue := x.id("queue")
	run := x.newRun(t)
	put := func(change func(*rules.Task)) rules.Task {
		task := x.ready(run, queue)
		change(&task)
		x.apply(t, &rules.Effects{NewTasks: []rules.Task{task}})
		return task
	}
	put(func(task *rules.Task) { task.Namespace = "other" })
	put(func(task *rules.Task) { task.TaskQueue = queue + "x" })
	put(func(task *rules.Task) { task.Kind = rules.KindActivity })
	put(func(task *rules.Task) { task.TypeName = "another" })
	for _, status := range []string{rules.TaskLeased, rules.TaskCompleted, rules.TaskFailed, rules.TaskCancelled} {
		put(func(task *rules.Task) { task.Status = status })
	}
	later := put(func(task *rules.Task) { task.AvailableAt, task.OrderAt = 1001, 1001 })
	pinned := put(func(task *rules.Task) { task.Compatibility, task.OrderAt = "build", 10 })
	modern := put(func(task *rules.Task) { task.MinProtocol, task.OrderAt = 18, 20 })
	c := claimOf(queue)
	c.ProtocolMinor = 17
	x.claimNone(t, c)
	c.TypeNames = nil
	x.claimNone(t, c)
	c.TypeNames, c.BuildID = []string{"type"}, "other build"
	x.claimNone(t, c)
	c.BuildID = "build"
	require.Equal(t, pinned.TaskID, x.claim(t, c).TaskID)
	x.claimNone(t, c)
	c.ProtocolMinor = 18
	require.Equal(t, modern.TaskID, x.claim(t, c).TaskID)
	free := put(func(*rules.Task) {})
	c.Now = 1001
	require.Equal(t, free.TaskID, x.claim(t, c).TaskID, "older than the other, whatever the build")
	require.Equal(t, later.TaskID, x.claim(t, c).TaskID)
	x.claimNone(t, c)
}

// testClaimSkips: what a claim loads, and that it passes over what others hold locked.
func testClaimSkips(t *testing.T, x *suite) {
	queue := x.id("queue")
	run, second := x.newRun(t), x.newRun(t)
	act, task := x.activity(run, queue)
	act.RetryPolicy, act.Parallel, task.Payload, task.Receipt = []byte("{}"), []byte{}, []byte{}, []byte{}
	open, next := x.ready(run, queue+"w"), x.ready(second, queue)
	open.Payload, open.Receipt, next.OrderAt = []byte{}, []byte{}, 500
	x.apply(t, &rules.Effects{NewActs: []rules.Activity{act}, NewTasks: []rules.Task{task, open, next}})
	run.WorkflowTaskID, run.PendingWake = open.TaskID, []byte{}
	x.apply(t, &rules.Effects{Run: &run})
	c := claimOf(queue)
	c.Kind = rules.KindActivity
	x.inside(t, func(ctx context.Context, tx store.Tx) {
		l, err := tx.Claim(ctx, c)
		require.NoError(t, err)
		same(t, &store.Locked{Run: run, Task: task, Activity: act, OpenTask: open}, l)
	})
	c.Kind, c.TypeNames = rules.KindWorkflow, []string{"type"}
	x.inside(t, func(ctx context.Context, tx store.Tx) {
		l, err := tx.Claim(ctx, c)
		require.NoError(t, err)
		require.Equal(t, next.TaskID, l.Task.TaskID)
		require.Equal(t, second.RunID, l.Run.RunID)
	})
}

// testClaimRace: 1,000 tasks, 50 pollers: every (task, attempt) is leased exactly once.
func testClaimRace(t *testing.T, x *suite) {
	const runs, perRun = 100, 10
	queue := x.id("queue")
	e := &rules.Effects{}
	for range runs {
		run := x.newRun(t)
		for range perRun {
			task := x.ready(run, queue)
			task.Kind = rules.KindActivity
			e.NewTasks = append(e.NewTasks, task)
		}
	}
	x.apply(t, e)
	c := claimOf(queue)
	c.Kind = rules.KindActivity
	x.race(t, c, 50, runs*perRun)
}

// testClaimFanout: the tasks of one run, whose lock all pollers want.
func testClaimFanout(t *testing.T, x *suite) {
	const n = 200
	queue, run := x.id("queue"), x.newRun(t)
	e := &rules.Effects{}
	for range n {
		act, task := x.activity(run, queue)
		e.NewActs, e.NewTasks = append(e.NewActs, act), append(e.NewTasks, task)
	}
	x.apply(t, e)
	c := claimOf(queue)
	c.Kind = rules.KindActivity
	x.race(t, c, 20, n)
}

func (x *suite) race(t *testing.T, c store.Claim, pollers, total int) {
	t.Helper()
	var got sync.Map
	var claimed, twice atomic.Int64
	var wg sync.WaitGroup
	errs := make(chan error, pollers)
	for p := range pollers {
		wg.Go(func() {
			for claimed.Load() < int64(total) && t.Context().Err() == nil {
				var task rules.Task
				err := x.Transition(t.Context(), func(ctx context.Context, tx store.Tx) (err error) {
					task, err = lease(ctx, tx, c, fmt.Sprint("poller", p))
					return err
				})
				switch {
				case errors.Is(err, store.ErrNotFound):
					runtime.Gosched() // all that is left is locked by others just now
				case err != nil:
					errs <- err
					return
				default:
					claimed.Add(1)
					if _, dup := got.LoadOrStore(task.TaskID, task.AttemptCount); dup || task.AttemptCount != 1 {
						twice.Add(1)
					}
				}
			}
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		require.NoError(t, err)
	}
	require.Zero(t, twice.Load(), "leased twice")
	require.EqualValues(t, total, claimed.Load())
	x.claimNone(t, c)
}

func testFairOrder(t *testing.T, x *suite) {
	queue, run := x.id("queue"), x.newRun(t)
	last := func(key string) (n int64) {
		x.inside(t, func(ctx context.Context, tx store.Tx) {
			var err error
			n, err = tx.LastFairOrder(ctx, "default", queue, rules.KindWorkflow, key)
			require.NoError(t, err)
		})
		return n
	}
	require.Zero(t, last("a"))
	e := &rules.Effects{}
	for i, key := range []string{"a", "b", "a", "", "a"} {
		task := x.ready(run, queue)
		task.FairnessKey, task.OrderAt = key, int64(100+i)
		if i == 4 {
			task.Status = rules.TaskLeased
		}
		e.NewTasks = append(e.NewTasks, task)
	}
	x.apply(t, e)
	require.EqualValues(t, 102, last("a"))
	require.EqualValues(t, 101, last("b"))
	require.Zero(t, last("c"))
}
