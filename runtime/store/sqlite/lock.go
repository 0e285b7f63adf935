package sqlite

import (
	"context"
	"errors"

	"dwserver/gen/sqlitedb"
	"dwserver/runtime/rules"
	"dwserver/runtime/store"
)

// LockTask implements store.Tx.
func (t *tx) LockTask(ctx context.Context, kind, taskID, attemptID string) (*store.Locked, error) {
	task, err := t.GetTask(ctx, taskID)
	if err != nil {
		return nil, err
	}
	l := &store.Locked{Task: task}
	if attemptID == "" {
		attemptID = task.ActivityAttemptID
	}
	l.Run, err = t.lockRun(task.RunID, func() (sqlitedb.WorkflowRun, error) { return t.q.RunLockOfTask(t.ctx, taskID) })
	if err := absent(err); err != nil {
		return nil, err
	}
	if kind == rules.KindWorkflow && task.LeaseOwner != "" {
		l.Owner, err = t.ShareWorker(ctx, task.Namespace, task.LeaseOwner)
		if err := absent(err); err != nil {
			return nil, err
		}
	}
	return t.whole(ctx, l, kind, attemptID)
}

// LockRun implements store.Tx.
func (t *tx) LockRun(ctx context.Context, runID string) (*store.Locked, error) {
	run, err := t.lockRun(runID, func() (sqlitedb.WorkflowRun, error) { return t.q.RunLock(t.ctx, runID) })
	if err != nil {
		return nil, err
	}
	return t.whole(ctx, &store.Locked{Run: run}, "", "")
}

// LockCurrentRun implements store.Tx.
func (t *tx) LockCurrentRun(ctx context.Context, workflowID string) (*store.Locked, error) {
	inst, err := t.LockInstance(ctx, workflowID)
	if err != nil {
		return nil, err
	}
	run, err := t.lockRun(inst.CurrentRunID, func() (sqlitedb.WorkflowRun, error) { return t.q.RunLockCurrent(t.ctx, workflowID) })
	if errors.Is(err, store.ErrNotFound) {
		err = t.end(store.Missing("run", inst.CurrentRunID))
	}
	if err != nil {
		return nil, err
	}
	return t.whole(ctx, &store.Locked{Instance: inst, Run: run}, "", "")
}

// LockInstance implements store.Tx.
func (t *tx) LockInstance(_ context.Context, workflowID string) (rules.Instance, error) {
	row, err := t.q.InstanceLock(t.ctx, workflowID)
	return rules.Instance(row), t.end(err)
}

// LockWorker implements store.Tx.
func (t *tx) LockWorker(_ context.Context, namespace, workerID string) (rules.Worker, error) {
	return through(&t.cache.workers, workerKey(namespace, workerID), func() (rules.Worker, error) {
		row, err := t.q.WorkerLock(t.ctx, sqlitedb.WorkerLockParams{Namespace: namespace, WorkerID: workerID})
		return rules.Worker(row), t.end(err)
	})
}

// ShareWorker implements store.Tx.
func (t *tx) ShareWorker(_ context.Context, namespace, workerID string) (rules.Worker, error) {
	return through(&t.cache.workers, workerKey(namespace, workerID), func() (rules.Worker, error) {
		row, err := t.q.WorkerShare(t.ctx, sqlitedb.WorkerShareParams{Namespace: namespace, WorkerID: workerID})
		return rules.Worker(row), t.end(err)
	})
}

// lockRun reads a run, which is locking it here.
func (t *tx) lockRun(runID string, read func() (sqlitedb.WorkflowRun, error)) (rules.Run, error) {
	return through(&t.cache.runs, runID, func() (rules.Run, error) {
		row, err := read()
		return rules.Run(row), t.end(err)
	})
}

// whole loads what the locked rows name: of an activity task its activity and one of its attempts, and the
// run's open workflow task unless a workflow task was asked for.
func (t *tx) whole(ctx context.Context, l *store.Locked, kind, attemptID string) (_ *store.Locked, err error) {
	if id := l.Task.ActivityExecutionID; id != "" && kind == rules.KindActivity {
		if l.Activity, err = t.GetActivity(ctx, id); absent(err) != nil {
			return nil, err
		}
		if attemptID != "" {
			if l.Attempt, err = t.GetAttempt(ctx, attemptID); absent(err) != nil {
				return nil, err
			}
		}
	}
	switch open := l.Run.WorkflowTaskID; {
	case open == l.Task.TaskID:
		l.OpenTask = l.Task
	case open != "" && kind != rules.KindWorkflow:
		if l.OpenTask, err = t.GetTask(ctx, open); absent(err) != nil {
			return nil, err
		}
	}
	if err := l.Whole(kind); err != nil {
		return nil, t.end(err)
	}
	return l, nil
}

// absent passes a missing row that may be missing.
func absent(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}
