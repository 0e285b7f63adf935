package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"dwserver/runtime/rules"
	"dwserver/runtime/store"
	"dwserver/runtime/store/storetest/cluster"
	"dwserver/runtime/store/storetest/proxy"
)

// Two stores on one database stand for two server processes: they share nothing else.

// The transitions of one run are totally ordered, whichever process they come from.
func testTwoProcesses(t *testing.T, f *faults) {
	url := cluster.URL(t, f.engine)
	stores := []store.Store{f.store(t, url, store.Options{}), f.store(t, url, store.Options{})}
	x := &suite{Store: stores[0]}
	run := x.newRun(t)
	const callers, steps = 8, 20
	var wg sync.WaitGroup
	errs := make(chan error, callers*steps)
	for c := range callers {
		wg.Go(func() {
			for i := range steps {
				errs <- stores[c%2].Transition(t.Context(), func(ctx context.Context, tx store.Tx) error {
					l, err := tx.LockRun(ctx, run.RunID)
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
	got, err := stores[1].ReadRun(t.Context(), run.RunID)
	require.NoError(t, err)
	require.EqualValues(t, callers*steps, got.LastHistorySequence)
}

// 50 polls of two processes against one queue of 1,000 activities of 25 runs.
func testClaimsOfTwo(t *testing.T, f *faults) {
	url := cluster.URL(t, f.engine)
	first := &suite{Store: f.store(t, url, store.Options{})}
	second := f.store(t, url, store.Options{})
	const runs, each, pollers = 25, 40, 50
	e := &rules.Effects{}
	for range runs {
		run := first.newRun(t)
		for range each {
			act, task := first.activity(run, "two")
			e.NewActs, e.NewTasks = append(e.NewActs, act), append(e.NewTasks, task)
		}
	}
	first.apply(t, e)
	c := claimOf("two")
	c.Kind = rules.KindActivity
	var seen sync.Map
	var claimed, twice atomic.Int64
	var wg sync.WaitGroup
	errs := make(chan error, pollers)
	for p := range pollers {
		s := []store.Store{first, second}[p%2]
		wg.Go(func() {
			for claimed.Load() < runs*each && t.Context().Err() == nil {
				var task rules.Task
				err := s.Transition(t.Context(), func(ctx context.Context, tx store.Tx) (err error) {
					task, err = lease(ctx, tx, c, fmt.Sprint("poller", p))
					return err
				})
				if errors.Is(err, store.ErrNotFound) {
					continue
				}
				if err != nil {
					errs <- err
					return
				}
				claimed.Add(1)
				if _, dup := seen.LoadOrStore(task.TaskID, true); dup || task.AttemptCount != 1 {
					twice.Add(1)
				}
			}
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		require.NoError(t, err)
	}
	require.Zero(t, twice.Load())
	require.EqualValues(t, runs*each, claimed.Load())
}

// Work that one process makes wakes the other, by a notification where the engine has them.
func testWakes(t *testing.T, f *faults) {
	url := cluster.URL(t, f.engine)
	clock := func() int64 { return 1_000_000 }
	maker := &suite{Store: f.store(t, url, store.Options{Clock: clock})}
	woken := make(chan store.Wake, 1000)
	f.store(t, url, store.Options{Clock: clock}).Notify(func(w store.Wake) { woken <- w })
	maker.Notify(func(w store.Wake) {
		if w.AvailableAt < clock() {
			t.Error("a process hears of its own work")
		}
	})
	run := maker.newRun(t)
	want := store.Wake{Namespace: "default", TaskQueue: "wakes", Kind: rules.KindWorkflow, TypeName: "type", AvailableAt: clock()}
	if f.engine == cluster.Postgres {
		want.AvailableAt -= 7 // as the task has it; the scan tells only that it is due
	}
	timeout := time.After(20 * time.Second)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case w := <-woken:
			if w == want {
				return
			}
			require.Equal(t, want.TaskQueue, w.TaskQueue)
		case <-tick.C: // again until the other process listens
			task := maker.ready(run, "wakes")
			task.AvailableAt = clock() - 7
			maker.apply(t, &rules.Effects{NewTasks: []rules.Task{task}})
		case <-timeout:
			require.Fail(t, "the other process was not woken")
		}
	}
}

// Work that was made while a process could not ask is found once it can, however long that took: the polls it
// holds would wait for their fallback.
func testWakesAfterOutage(t *testing.T, f *faults) {
	url := cluster.URL(t, f.engine)
	var now atomic.Int64
	now.Store(1_000_000_000)
	opt := store.Options{Clock: now.Load}
	maker := &suite{Store: f.store(t, url, opt)}
	p, through := proxy.New(t, url)
	woken := make(chan store.Wake, 1000)
	f.store(t, through, opt).Notify(func(w store.Wake) { woken <- w })
	run := maker.newRun(t)
	ready := func(queue string, ago int64) {
		task := maker.ready(run, queue)
		task.AvailableAt = now.Load() - ago
		maker.apply(t, &rules.Effects{NewTasks: []rules.Task{task}})
	}
	scanned := func(queue string) {
		t.Helper()
		timeout := time.After(20 * time.Second)
		for {
			select {
			case w := <-woken:
				if w.TaskQueue == queue && w.AvailableAt == now.Load() { // a notification has the task's own time
					return
				}
			case <-timeout:
				require.Fail(t, "the scan did not find "+queue)
			}
		}
	}
	ready("before", 7)
	scanned("before")
	p.Refuse()
	now.Add(60_000_000)
	ready("meanwhile", 30_000_000)
	p.Pass()
	scanned("meanwhile")
}
