// Package fill puts rows into a database before its server starts: what a long life would leave there, made
// in seconds, through the store itself.
package fill

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"dwserver/cmd/dwbench/program"
	"dwserver/runtime/rules"
	"dwserver/runtime/store"
	"dwserver/runtime/store/open"
)

const (
	writers = 4   // run at the same time, where the engine can
	batch   = 200 // runs of one transaction
)

// Runs fills the database of a URL with n runs, each as the given function makes it.
func Runs(ctx context.Context, databaseURL string, n int, effects func(i int) *rules.Effects) (err error) {
	s, err := open.Store(ctx, databaseURL, store.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	var next atomic.Int64
	faults := make([]error, writers)
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for faults[w] == nil {
				from := int(next.Add(batch)) - batch
				if from >= n {
					return
				}
				faults[w] = s.Transition(ctx, func(ctx context.Context, tx store.Tx) error {
					for i := from; i < min(from+batch, n); i++ {
						if err := tx.Apply(ctx, effects(i)); err != nil {
							return err
						}
					}
					return nil
				})
			}
		})
	}
	wg.Wait()
	return errors.Join(faults...)
}

// id makes ids of the length that the server's own have, which do not collide with them.
func id(kind string, i, j int) string { return fmt.Sprintf("00%s%012d%08d", kind, i, j) }

// started is the moment all these runs were started, a day ago.
var started = time.Now().Add(-24 * time.Hour).UnixMicro()

// base is a run that has just been started on a queue.
func base(i int, queue string) *rules.Effects {
	run := rules.Run{
		RunID: id("RUN0", i, 0), WorkflowID: fmt.Sprintf("old-%08d", i), Namespace: "default", RunNumber: 1,
		WorkflowType: program.Sequence, TaskQueue: queue, Status: rules.RunPending, Priority: 5, FairnessWeight: 1,
		ExecutionDeadlineAt: rules.Never, RunDeadlineAt: rules.Never, DeadlineAt: rules.Never,
		LastCommandSequence: 1, StartedAt: started + int64(i), LastProgressAt: started + int64(i),
	}
	return &rules.Effects{
		NewInstance: &rules.Instance{WorkflowID: run.WorkflowID, Namespace: run.Namespace, WorkflowType: run.WorkflowType,
			CurrentRunID: run.RunID, RunCount: 1, CreatedAt: run.StartedAt},
		NewRuns:   []rules.Run{run},
		NewInputs: []rules.RunInput{{RunID: run.RunID, Arguments: []byte(program.Arguments), Memo: []byte("{}"), SearchAttributes: []byte("{}")}},
	}
}

func task(e *rules.Effects, kind string, i, j int, status string) rules.Task {
	run := &e.NewRuns[0]
	t := rules.Task{
		TaskID: id("TSK0", i, j), RunID: run.RunID, WorkflowID: run.WorkflowID, Namespace: run.Namespace, Kind: kind,
		TaskQueue: run.TaskQueue, TypeName: run.WorkflowType, Status: status, Priority: 5,
		OrderAt: run.StartedAt, AvailableAt: run.StartedAt, ReadyAt: run.StartedAt, LeaseExpiresAt: rules.Never,
		CreatedAt: run.StartedAt, Payload: []byte("{}"),
	}
	if status != rules.TaskReady {
		t.AttemptCount, t.LeaseOwner, t.LeasedAt, t.ClosedAt = 1, "old-worker", run.StartedAt, run.StartedAt
		t.ClaimedSequence = 2
	}
	return t
}

// history gives the run n events of some hundred bytes.
func history(e *rules.Effects, i, n int) {
	run := &e.NewRuns[0]
	types := [...]string{"ActivityScheduled", "ActivityStarted", "ActivityCompleted"}
	for k := 1; k <= n; k++ {
		event := rules.Event{RunID: run.RunID, Sequence: int64(k), EventID: id("EVT0", i, k), RecordedAt: run.StartedAt}
		switch k {
		case 1:
			event.EventType, event.Payload = "StartAccepted", []byte("{}")
		case 2:
			event.EventType, event.Payload = "WorkflowStarted", []byte("{}")
		default:
			event.EventType = types[k%3]
			event.Payload = fmt.Appendf(nil, `{"activity_execution_id":%q,"activity_class":"work","activity_type":"work","sequence":%d,"attempt_number":1,`+
				`"result":%s,"payload_codec":"avro","activity":{"id":%q,"sequence":%d,"type":"work","class":"work","status":"completed","payload_codec":"avro"}}`,
				id("ACT0", i, k/3), k/3, program.Result, id("ACT0", i, k/3), k/3)
		}
		run.HistorySizeBytes += int64(len(event.Payload))
		e.Events = append(e.Events, event)
	}
	run.LastHistorySequence = int64(n)
	run.LastStepSequence = int64(n / 3)
}

// Closed is a run of one activity that has completed, on the queue of the workload. Its history is cut short:
// claims do not look at it.
func Closed(queue string) func(i int) *rules.Effects {
	return func(i int) *rules.Effects {
		e := base(i, queue)
		history(e, i, 3)
		run := &e.NewRuns[0]
		run.Status, run.ClosedReason, run.ClosedAt, run.ClosedEventSequence = rules.RunCompleted, "completed", run.StartedAt, 3
		e.NewTasks = []rules.Task{task(e, rules.KindWorkflow, i, 0, rules.TaskCompleted), task(e, rules.KindActivity, i, 1, rules.TaskCompleted)}
		e.NewActs = []rules.Activity{{
			ExecutionID: id("ACT0", i, 1), RunID: run.RunID, Namespace: run.Namespace, Sequence: 1, ActivityType: program.ActivityType,
			TaskQueue: queue, Status: rules.ActivityCompleted, AttemptCount: 1, AttemptID: id("ATT0", i, 1), TaskID: e.NewTasks[1].TaskID,
			ScheduledEvent: 3, ScheduleDeadlineAt: rules.Never, ScheduleToCloseAt: rules.Never, CloseDeadlineAt: rules.Never,
			HeartbeatDeadlineAt: rules.Never, NextDeadlineAt: rules.Never, CreatedAt: run.StartedAt, StartedAt: run.StartedAt,
			ClosedAt: run.StartedAt, ClosedEventSequence: 3,
		}}
		return e
	}
}

// Ready is a run whose first workflow task is ready, with so many events, on a queue that the function names.
func Ready(events int, queue func(i int) string) func(i int) *rules.Effects {
	return func(i int) *rules.Effects {
		e := base(i, queue(i))
		history(e, i, events)
		e.NewTasks = []rules.Task{task(e, rules.KindWorkflow, i, 0, rules.TaskReady)}
		e.NewRuns[0].WorkflowTaskID = e.NewTasks[0].TaskID
		return e
	}
}
