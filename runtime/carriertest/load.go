package carriertest

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"dwserver/runtime"
	"dwserver/runtime/rules"
	"dwserver/runtime/store"
)

const (
	loadWorkers = 8
	loadSteps   = 5 // activities of a workflow, one after the other
	loadQueue   = "load"
	replaceEach = 50 * time.Millisecond
)

// testLoad: workers that carry polls and continue workflows share a queue while registrations are replaced
// all the time, each by one for other activities. No lease goes to a worker that did not register for it,
// no activity is lost, and none is leased twice.
func testLoad(t *testing.T, empty Empty) {
	activities := 10_000
	if testing.Short() {
		activities = 2_000
	}
	f := newFleet(t, empty, activities/loadSteps)
	f.start()
	var workers, replacing sync.WaitGroup
	for i := range loadWorkers {
		workers.Go(func() { f.work(loadWorker(i)) })
	}
	replacing.Go(f.replace)
	workers.Wait()
	close(f.done)
	replacing.Wait()
	f.verify()
}

func loadWorker(i int) string { return fmt.Sprintf("worker-%d", i) }

// activityKind is one of the two activity types, n of which a worker registers by turns.
func activityKind(n int) string { return fmt.Sprintf("activity-%d", n%2) }

// fleet is the workers of testLoad and what they saw.
type fleet struct {
	t      *testing.T
	url    string
	engine *runtime.Engine
	store  store.Store
	ctx    context.Context
	done   chan struct{}
	runs   []string
	open   atomic.Int64 // runs that are not closed

	mu     sync.Mutex
	kinds  map[string]string // worker and generation → the activities it registered
	leases map[string]lease  // task and attempt → the lease
	count  struct{ carried, continued, registered, refused int }
	wrong  []string
}

// lease is a lease as its worker got it.
type lease struct {
	worker string
	task   rules.Task
}

func newFleet(t *testing.T, empty Empty, runs int) *fleet {
	f := &fleet{
		t: t, ctx: t.Context(), done: make(chan struct{}), runs: make([]string, runs),
		kinds: map[string]string{}, leases: map[string]lease{},
	}
	f.store, f.url = empty.open(t, store.Options{})
	f.engine = runtime.New(f.store, runtime.Options{Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, f.engine.Start(t.Context()))
	t.Cleanup(f.engine.Close)
	return f
}

func (f *fleet) start() {
	for i := range loadWorkers {
		f.register(i, i)
	}
	f.open.Store(int64(len(f.runs)))
	var starting sync.WaitGroup
	for first := range loadWorkers {
		starting.Go(func() {
			for i := first; i < len(f.runs); i += loadWorkers {
				f.runs[i] = f.startRun(i)
			}
		})
	}
	starting.Wait()
}

func (f *fleet) startRun(i int) string {
	got, err := f.engine.StartWorkflow(f.ctx, runtime.StartRequest{
		Namespace: namespace, WorkflowID: fmt.Sprintf("workflow-%d", i), WorkflowType: workflowType, TaskQueue: loadQueue,
		Arguments: payload("AAAA"), Priority: 5, FairnessWeight: 1,
	})
	if err != nil {
		f.problem("start: %v", err)
	}
	return got.Run.RunID
}

// replace replaces one registration after the other by one for the other activities.
func (f *fleet) replace() {
	tick := time.NewTicker(replaceEach)
	defer tick.Stop()
	for n := loadWorkers; ; n++ {
		select {
		case <-f.done:
			return
		case <-tick.C:
			f.register(n%loadWorkers, n%loadWorkers+n/loadWorkers)
		}
	}
}

// register registers a worker for one kind of activities.
func (f *fleet) register(i, kind int) {
	got, err := f.engine.Register(f.ctx, runtime.RegisterRequest{
		Namespace: namespace, WorkerID: loadWorker(i), TaskQueue: loadQueue, Runtime: "go", ProtocolMinor: minor,
		WorkflowTypes: []string{workflowType}, ActivityTypes: []string{activityKind(kind)}, MaxWorkflowTasks: 1, MaxActivityTasks: 1,
	})
	if err != nil {
		f.problem("register: %v", err)
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.kinds[generation(loadWorker(i), got.Worker.Generation)] = activityKind(kind)
	f.count.registered++
}

func generation(worker string, n int64) string { return fmt.Sprintf("%s/%d", worker, n) }

func (f *fleet) problem(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.wrong = append(f.wrong, fmt.Sprintf(format, args...))
}

// granted notes a lease. A task and attempt is leased once, to the one who got it.
func (f *fleet) granted(worker string, task *rules.Task) {
	f.mu.Lock()
	defer f.mu.Unlock()
	name := fmt.Sprintf("%s/%d", task.TaskID, task.AttemptCount)
	if before, twice := f.leases[name]; twice {
		f.wrong = append(f.wrong, fmt.Sprintf("%s was leased to %s and to %s", name, before.worker, worker))
	}
	if task.LeaseOwner != worker {
		f.wrong = append(f.wrong, fmt.Sprintf("%s went to %s but is %s's", name, worker, task.LeaseOwner))
	}
	f.leases[name] = lease{worker, *task}
}
