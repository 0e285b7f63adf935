package floor

import (
	"context"
	"fmt"

	"dwserver/runtime/rules"
	"dwserver/runtime/store"
)

// caller advances one run by the usual transition: lock a task, update its run, append two events, close the
// task and create the next.
type caller struct {
	store store.Store
	run   string
	task  string
	n     int
}

func newCaller(ctx context.Context, s store.Store, i int) (*caller, error) {
	c := &caller{store: s, run: runID(i)}
	c.task = c.run + "-0"
	run := newRun(c.run, c.task)
	err := s.Transition(ctx, func(ctx context.Context, tx store.Tx) error {
		return tx.Apply(ctx, &rules.Effects{NewRuns: []rules.Run{run}, NewTasks: []rules.Task{newTask(c.run, c.task)}})
	})
	return c, err
}

func runID(i int) string { return fmt.Sprintf("01JAAAAAAAAAAAAAAAAAAA%04d", i) }

func newRun(run, task string) rules.Run {
	return rules.Run{RunID: run, WorkflowID: run, Namespace: "default", TaskQueue: "q", Status: rules.RunRunning,
		ExecutionDeadlineAt: rules.Never, RunDeadlineAt: rules.Never, DeadlineAt: rules.Never, WorkflowTaskID: task}
}

func newTask(run, task string) rules.Task {
	return rules.Task{TaskID: task, RunID: run, WorkflowID: run, Namespace: "default", Kind: rules.KindWorkflow,
		TaskQueue: "q", TypeName: "w", Status: rules.TaskReady, LeaseExpiresAt: rules.Never}
}

func newEvent(run string, sequence int64) rules.Event {
	return rules.Event{RunID: run, Sequence: sequence, EventID: fmt.Sprintf("%s-%d", run, sequence),
		EventType: "ActivityScheduled", Payload: payload[:]}
}

// payload is as long as that of a usual event.
var payload = [400]byte{}

func (c *caller) step(ctx context.Context) error {
	next := fmt.Sprintf("%s-%d", c.run, c.n+1)
	err := c.store.Transition(ctx, func(ctx context.Context, tx store.Tx) error {
		l, err := tx.LockTask(ctx, rules.KindWorkflow, c.task, "")
		if err != nil {
			return err
		}
		e := rules.Effects{RunBase: l.Run.LastHistorySequence, Run: &l.Run}
		for range 2 {
			l.Run.LastHistorySequence++
			e.Events = append(e.Events, newEvent(c.run, l.Run.LastHistorySequence))
		}
		l.Task.Status = rules.TaskCompleted
		l.Run.WorkflowTaskID = next
		e.Tasks = []rules.Task{l.Task}
		e.NewTasks = []rules.Task{newTask(c.run, next)}
		return tx.Apply(ctx, &e)
	})
	if err == nil {
		c.task = next
		c.n++
	}
	return err
}
