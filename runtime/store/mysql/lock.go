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
func (t *tx) LockTask(ctx context.Context, kind, taskID, attemptID string) (*store.Locked, error) {
	if err := t.queueFor(t.s.queue.Run(taskID)); err != nil {
		return nil, err
	}
	if err := t.shareAhead(ctx); err != nil {
		return nil, err
	}
	l := &store.Locked{}
	err := t.read(ctx, func(q *mysqldb.Queries) error {
		run, err := q.RunLockOfTask(ctx, taskID)
		l.Run = rules.Run(run)
		return err
	})
	if absent(err) != nil {
		return nil, err
	}
	if l.Task, err = t.GetTask(ctx, taskID); err != nil {
		return nil, err
	}
	t.s.queue.Remember(taskID, l.Run.RunID)
	if attemptID == "" {
		attemptID = l.Task.ActivityAttemptID
	}
	if w := t.worker; w != nil && w.WorkerID == l.Task.LeaseOwner && w.Namespace == l.Task.Namespace {
		l.Owner = *w
	} else if kind == rules.KindWorkflow && l.Task.LeaseOwner != "" {
		err = t.read(ctx, func(q *mysqldb.Queries) error {
			owner, err := q.WorkerGet(ctx, mysqldb.WorkerGetParams{Namespace: l.Task.Namespace, WorkerID: l.Task.LeaseOwner})
			l.Owner = rules.Worker(owner)
			return err
		})
		if absent(err) != nil {
			return nil, err
		}
	}
	return t.whole(ctx, l, kind, attemptID)
}

// loadActivity loads the activity of a task and one of its attempts, where there is one.
func (t *tx) loadActivity(ctx context.Context, l *store.Locked, attemptID string) (err error) {
	id := l.Task.ActivityExecutionID
	if attemptID != "" {
		err = t.read(ctx, func(q *mysqldb.Queries) error {
			row, err := q.ActivityGetWhole(ctx, mysqldb.ActivityGetWholeParams{AttemptID: attemptID, ExecutionID: id})
			l.Activity, l.Attempt = rules.Activity(row.Activity), rules.Attempt(row.ActivityAttempt)
			return err
		})
		if err == nil || absent(err) != nil {
			return err
		}
	}
	if l.Activity, err = t.GetActivity(ctx, id); absent(err) != nil || attemptID == "" {
		return absent(err)
	}
	l.Attempt, err = t.GetAttempt(ctx, attemptID)
	return absent(err)
}

// whole loads what the locked rows name: of an activity task its activity and one of its attempts, and the
// run's open workflow task unless a workflow task was asked for.
func (t *tx) whole(ctx context.Context, l *store.Locked, kind, attemptID string) (_ *store.Locked, err error) {
	t.locked = true
	if l.Task.ActivityExecutionID != "" && kind == rules.KindActivity {
		if err := t.loadActivity(ctx, l, attemptID); err != nil {
			return nil, err
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
	if err := t.note(l.Whole(kind)); err != nil {
		return nil, err
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

// waitFor waits for the lock of a task's run, with nothing locked but a registration.
func (t *tx) waitFor(ctx context.Context, taskID string) error {
	err := t.read(ctx, func(q *mysqldb.Queries) error {
		_, err := q.RunLockOfTask(ctx, taskID)
		return err
	})
	t.ahead.DropLines()
	if !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if _, err = t.GetTask(ctx, taskID); err == nil {
		err = t.note(store.Missing("run of task", taskID))
	}
	return absent(err)
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
	return t.whole(ctx, l, "", "")
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
	if absent(err) != nil {
		return nil, err
	}
	if l.Instance, err = t.GetInstance(ctx, workflowID); err != nil {
		return nil, err
	}
	if l.Instance.CurrentRunID != l.Run.RunID {
		return nil, t.note(locking.ErrMoved)
	}
	return t.whole(ctx, l, "", "")
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
	if h := t.worker; h != nil && h.WorkerID == workerID && h.Namespace == namespace {
		return *h, nil
	}
	err = t.read(ctx, func(q *mysqldb.Queries) error {
		row, err := q.WorkerShare(ctx, mysqldb.WorkerShareParams{Namespace: namespace, WorkerID: workerID})
		w = rules.Worker(row)
		return err
	})
	if err == nil {
		t.worker = &w
	}
	return w, err
}
