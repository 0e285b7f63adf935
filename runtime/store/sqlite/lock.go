package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"dwserver/gen/sqlitedb"
	"dwserver/runtime/rules"
	"dwserver/runtime/store"
)

// LockTask implements store.Tx.
func (t *tx) LockTask(ctx context.Context, taskID, attemptID string) (*store.Locked, error) {
	task, err := t.GetTask(ctx, taskID)
	if err != nil {
		return nil, err
	}
	l := &store.Locked{Task: task}
	if attemptID == "" {
		attemptID = task.ActivityAttemptID
	}
	run, err := t.q.RunLockOfTask(t.ctx, taskID)
	if err := t.loadRun(l, run, present(err, "run", task.RunID)); err != nil {
		return nil, err
	}
	if err := t.loadActivity(l, attemptID); err != nil {
		return nil, err
	}
	if task.LeaseOwner != "" {
		l.Owner, err = t.worker(task.Namespace, task.LeaseOwner)
	}
	return l, absent(err)
}

// LockRun implements store.Tx.
func (t *tx) LockRun(_ context.Context, runID string) (*store.Locked, error) {
	l := &store.Locked{}
	run, err := t.q.RunLock(t.ctx, runID)
	return l, t.loadRun(l, run, err)
}

// LockCurrentRun implements store.Tx.
func (t *tx) LockCurrentRun(ctx context.Context, workflowID string) (*store.Locked, error) {
	inst, err := t.LockInstance(ctx, workflowID)
	if err != nil {
		return nil, err
	}
	l := &store.Locked{Instance: inst}
	run, err := t.q.RunLockCurrent(t.ctx, workflowID)
	return l, t.loadRun(l, run, err)
}

// LockInstance implements store.Tx.
func (t *tx) LockInstance(_ context.Context, workflowID string) (rules.Instance, error) {
	row, err := t.q.InstanceLock(t.ctx, workflowID)
	return rules.Instance(row), t.end(err)
}

// LockWorker implements store.Tx.
func (t *tx) LockWorker(_ context.Context, namespace, workerID string) (rules.Worker, error) {
	row, err := t.q.WorkerLock(t.ctx, sqlitedb.WorkerLockParams{Namespace: namespace, WorkerID: workerID})
	return rules.Worker(row), t.end(err)
}

// ShareWorker implements store.Tx.
func (t *tx) ShareWorker(_ context.Context, namespace, workerID string) (rules.Worker, error) {
	return t.worker(namespace, workerID)
}

func (t *tx) worker(namespace, workerID string) (rules.Worker, error) {
	row, err := t.q.WorkerShare(t.ctx, sqlitedb.WorkerShareParams{Namespace: namespace, WorkerID: workerID})
	return rules.Worker(row), t.end(err)
}

// loadRun takes a run that was locked and loads its open workflow task.
func (t *tx) loadRun(l *store.Locked, row sqlitedb.WorkflowRun, err error) error {
	if err != nil {
		return t.end(err)
	}
	l.Run = rules.Run(row)
	switch open := l.Run.WorkflowTaskID; open {
	case "":
		return nil
	case l.Task.TaskID:
		l.OpenTask = l.Task
		return nil
	default:
		task, err := t.q.TaskGet(t.ctx, open)
		l.OpenTask = rules.Task(task)
		return t.end(present(err, "task", open))
	}
}

// loadActivity loads the activity of an activity task and one of its attempts, where there is one.
func (t *tx) loadActivity(l *store.Locked, attemptID string) error {
	if l.Task.ActivityExecutionID == "" {
		return nil
	}
	row, err := t.q.ActivityGet(t.ctx, l.Task.ActivityExecutionID)
	if err != nil {
		return t.end(present(err, "activity", l.Task.ActivityExecutionID))
	}
	l.Activity = rules.Activity(row)
	if attemptID == "" {
		return nil
	}
	attempt, err := t.q.AttemptGet(t.ctx, attemptID)
	l.Attempt = rules.Attempt(attempt)
	return absent(t.end(err))
}

// absent passes a missing row that may be missing.
func absent(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

// present makes the absence of a row that another row names what it is: broken state, not an answer.
func present(err error, table, id string) error {
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("%w: %s %s is missing", store.ErrBroken, table, id)
	}
	return err
}

// Claim implements store.Tx: one index seek per type and build, the best candidate wins.
func (t *tx) Claim(ctx context.Context, c store.Claim) (*store.Locked, error) {
	var best sqlitedb.TaskFindClaimableRow
	builds := [2]string{"", c.BuildID}
	n := 2
	if c.BuildID == "" {
		n = 1
	}
	for _, typeName := range c.TypeNames {
		for _, build := range builds[:n] {
			row, err := t.q.TaskFindClaimable(t.ctx, sqlitedb.TaskFindClaimableParams{
				Namespace: c.Namespace, TaskQueue: c.TaskQueue, Kind: c.Kind, TypeName: typeName,
				Compatibility: build, Now: c.Now, ProtocolMinor: c.ProtocolMinor,
			})
			if err := absent(t.end(err)); err != nil {
				return nil, err
			}
			if row.TaskID != "" && (best.TaskID == "" || before(row, best)) {
				best = row
			}
		}
	}
	if best.TaskID == "" {
		return nil, store.ErrNotFound
	}
	task, err := t.GetTask(ctx, best.TaskID)
	if err != nil {
		return nil, err
	}
	l := &store.Locked{Task: task}
	run, err := t.q.RunLock(t.ctx, task.RunID)
	if err := t.loadRun(l, run, present(err, "run", task.RunID)); err != nil {
		return nil, err
	}
	return l, t.loadActivity(l, "")
}

// before is claim order.
func before(a, b sqlitedb.TaskFindClaimableRow) bool {
	if a.Priority != b.Priority {
		return a.Priority < b.Priority
	}
	if a.OrderAt != b.OrderAt {
		return a.OrderAt < b.OrderAt
	}
	return a.TaskID < b.TaskID
}
