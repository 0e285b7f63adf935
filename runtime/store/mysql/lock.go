package mysql

import (
	"context"
	"errors"

	"dwserver/gen/mysqldb"
	"dwserver/runtime/rules"
	"dwserver/runtime/store"
	"dwserver/runtime/store/locking"
)

// LockTask implements store.Tx: the run's lock first, then everything else as it is after that.
func (t *tx) LockTask(ctx context.Context, taskID, attemptID string) (*store.Locked, error) {
	if err := t.queueFor(t.s.queue.Run(taskID)); err != nil {
		return nil, err
	}
	l := &store.Locked{}
	err := t.read(ctx, func(q *mysqldb.Queries) error {
		run, err := q.RunLockOfTask(ctx, taskID)
		l.Run = rules.Run(run)
		return err
	})
	if err != nil {
		return nil, err
	}
	t.locked = true
	if l.Task, err = t.GetTask(ctx, taskID); err != nil {
		return nil, err
	}
	t.s.queue.Remember(taskID, l.Run.RunID)
	if attemptID == "" {
		attemptID = l.Task.ActivityAttemptID
	}
	if err := t.loadActivity(ctx, l, attemptID); err != nil {
		return nil, err
	}
	if l.Task.LeaseOwner != "" {
		err = t.read(ctx, func(q *mysqldb.Queries) error {
			owner, err := q.WorkerGet(ctx, mysqldb.WorkerGetParams{Namespace: l.Task.Namespace, WorkerID: l.Task.LeaseOwner})
			l.Owner = rules.Worker(owner)
			return err
		})
		if err := absent(err); err != nil {
			return nil, err
		}
	}
	return l, t.loadOpenTask(ctx, l)
}

// loadActivity loads the activity of an activity task and one of its attempts, where there is one.
func (t *tx) loadActivity(ctx context.Context, l *store.Locked, attemptID string) (err error) {
	if l.Task.ActivityExecutionID == "" {
		return nil
	}
	if l.Activity, err = t.GetActivity(ctx, l.Task.ActivityExecutionID); err != nil || attemptID == "" {
		return err
	}
	l.Attempt, err = t.GetAttempt(ctx, attemptID)
	return absent(err)
}

func (t *tx) loadOpenTask(ctx context.Context, l *store.Locked) (err error) {
	switch l.Run.WorkflowTaskID {
	case "":
	case l.Task.TaskID:
		l.OpenTask = l.Task
	default:
		l.OpenTask, err = t.GetTask(ctx, l.Run.WorkflowTaskID)
	}
	return err
}

// absent passes a missing row that may be missing.
func absent(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

// waitFor waits until the run of a task is free and locks it, before anything else is locked.
func (t *tx) waitFor(taskID string) error {
	if err := t.queueFor(t.s.queue.Run(taskID)); err != nil {
		return err
	}
	return absent(t.read(t.ctx, func(q *mysqldb.Queries) error {
		_, err := q.RunLockOfTask(t.ctx, taskID)
		return err
	}))
}

// LockRun implements store.Tx.
func (t *tx) LockRun(ctx context.Context, runID string) (*store.Locked, error) {
	if err := t.queueFor(runID); err != nil {
		return nil, err
	}
	l := &store.Locked{}
	err := t.read(ctx, func(q *mysqldb.Queries) error {
		run, err := q.RunLock(ctx, runID)
		l.Run = rules.Run(run)
		return err
	})
	if err != nil {
		return nil, err
	}
	t.locked = true
	return l, t.loadOpenTask(ctx, l)
}

// LockCurrentRun implements store.Tx. Another run may have become the current one while the lock
// was waited for; then the transition starts again.
func (t *tx) LockCurrentRun(ctx context.Context, workflowID string) (*store.Locked, error) {
	l := &store.Locked{}
	err := t.read(ctx, func(q *mysqldb.Queries) error {
		run, err := q.RunLockCurrent(ctx, workflowID)
		l.Run = rules.Run(run)
		return err
	})
	if err != nil {
		return nil, err
	}
	t.locked = true
	if l.Instance, err = t.GetInstance(ctx, workflowID); err != nil {
		return nil, err
	}
	if l.Instance.CurrentRunID != l.Run.RunID {
		return nil, t.note(locking.ErrMoved)
	}
	return l, t.loadOpenTask(ctx, l)
}

// LockInstance implements store.Tx.
func (t *tx) LockInstance(ctx context.Context, workflowID string) (inst rules.Instance, err error) {
	err = t.read(ctx, func(q *mysqldb.Queries) error {
		row, err := q.InstanceLock(ctx, workflowID)
		inst = rules.Instance(row)
		return err
	})
	return inst, err
}

// LockWorker implements store.Tx.
func (t *tx) LockWorker(ctx context.Context, namespace, workerID string) (w rules.Worker, err error) {
	err = t.read(ctx, func(q *mysqldb.Queries) error {
		row, err := q.WorkerLock(ctx, mysqldb.WorkerLockParams{Namespace: namespace, WorkerID: workerID})
		w = rules.Worker(row)
		return err
	})
	return w, err
}

// ShareWorker implements store.Tx.
func (t *tx) ShareWorker(ctx context.Context, namespace, workerID string) (w rules.Worker, err error) {
	err = t.read(ctx, func(q *mysqldb.Queries) error {
		row, err := q.WorkerShare(ctx, mysqldb.WorkerShareParams{Namespace: namespace, WorkerID: workerID})
		w = rules.Worker(row)
		return err
	})
	return w, err
}
