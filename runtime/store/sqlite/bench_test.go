package sqlite_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"dwserver/runtime/rules"
	"dwserver/runtime/store"
	"dwserver/runtime/store/sqlite"
)

// BenchmarkTransition measures the usual transition (lock a task, update its run, append two events,
// close the task and create the next) by callers that each advance a run of their own.
func BenchmarkTransition(b *testing.B) {
	for _, callers := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) { benchTransition(b, callers) })
	}
}

func benchTransition(b *testing.B, callers int) {
	s, err := sqlite.Open(b.Context(), "sqlite://"+filepath.Join(b.TempDir(), "dw.db"), store.Options{})
	require.NoError(b, err)
	defer func() { require.NoError(b, s.Close()) }()
	var left atomic.Int64
	left.Store(int64(b.N))
	took := make([][]time.Duration, callers)
	b.ReportAllocs()
	b.ResetTimer()
	cpu := cpuTime()
	var wg sync.WaitGroup
	for c := range callers {
		wg.Go(func() {
			r := newRunner(b, s, c)
			for left.Add(-1) >= 0 {
				start := time.Now()
				r.step(b)
				took[c] = append(took[c], time.Since(start))
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	all := slices.Sorted(slices.Values(slices.Concat(took...)))
	b.ReportMetric(float64((cpuTime()-cpu).Microseconds())/float64(b.N), "cpu-µs/op")
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "transitions/s")
	b.ReportMetric(float64(all[len(all)*99/100].Microseconds()), "p99-µs")
}

// cpuTime is what this process has used so far, which other load on the machine does not change much.
func cpuTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

type runner struct {
	s    store.Store
	id   string
	task string
	n    int
}

func newRunner(b *testing.B, s store.Store, n int) *runner {
	r := &runner{s: s, id: fmt.Sprintf("01JAAAAAAAAAAAAAAAAAAA%04d", n)}
	r.task = r.id + "-0"
	err := s.Transition(b.Context(), func(ctx context.Context, tx store.Tx) error {
		return tx.Apply(ctx, &rules.Effects{
			NewRuns: []rules.Run{{RunID: r.id, WorkflowID: r.id, Namespace: "default", TaskQueue: "q",
				DeadlineAt: rules.Never, WorkflowTaskID: r.task, Status: rules.RunRunning}},
			NewTasks: []rules.Task{r.newTask()},
		})
	})
	require.NoError(b, err)
	return r
}

func (r *runner) newTask() rules.Task {
	return rules.Task{TaskID: r.task, RunID: r.id, WorkflowID: r.id, Namespace: "default", Kind: rules.KindWorkflow,
		TaskQueue: "q", TypeName: "w", Status: rules.TaskReady, LeaseExpiresAt: rules.Never}
}

func (r *runner) step(b *testing.B) {
	err := r.s.Transition(b.Context(), func(ctx context.Context, tx store.Tx) error {
		l, err := tx.LockTask(ctx, rules.KindWorkflow, r.task, "")
		if err != nil {
			return err
		}
		e := rules.Effects{RunBase: l.Run.LastHistorySequence, Run: &l.Run}
		for range 2 {
			l.Run.LastHistorySequence++
			e.Events = append(e.Events, rules.Event{RunID: r.id, Sequence: l.Run.LastHistorySequence,
				EventID: fmt.Sprintf("%s-%d", r.id, l.Run.LastHistorySequence), EventType: "ActivityScheduled", Payload: payload[:]})
		}
		l.Task.Status = rules.TaskCompleted
		e.Tasks = []rules.Task{l.Task}
		r.n++
		r.task = fmt.Sprintf("%s-%d", r.id, r.n)
		l.Run.WorkflowTaskID = r.task
		e.NewTasks = []rules.Task{r.newTask()}
		return tx.Apply(ctx, &e)
	})
	if err != nil {
		b.Error(err)
	}
}

var payload = [400]byte{}
