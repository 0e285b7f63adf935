package postgres

import (
	"context"

	"dwserver/gen/pgdb"
	"dwserver/runtime/rules"
	"dwserver/runtime/store"
	"dwserver/runtime/store/locking"
)

// Locks and everything that is loaded with them make one round trip: each load finds its row from
// what the caller knows, and, as a statement of its own after the lock, sees what its last holder
// committed.

// LockTask implements store.Tx.
func (t *tx) LockTask(ctx context.Context, kind, taskID, attemptID string) (*store.Locked, error) {
	if err := t.queueFor(t.s.queue.Run(taskID)); err != nil {
		return nil, err
	}
	l := &store.Locked{}
	var none, torn bool                              // rows whose absence is judged afterwards
	owner := t.worker == nil && t.ahead.Asked == nil // has to be loaded; else it is held, as a rule
	err := t.trip(func(p *pipe) {
		t.shareAhead(p)
		p.load(func(q *pgdb.Queries) error {
			run, err := q.RunLockOfTask(ctx, taskID)
			l.Run = rules.Run(run)
			return err
		}, &none)
		if kind != rules.KindWorkflow && attemptID != "" {
			p.loadWhole(ctx, l, taskID, attemptID, &torn)
		} else {
			p.loadParts(ctx, l, kind, taskID, attemptID)
		}
		if kind == rules.KindWorkflow && owner {
			p.load(loadOwner(ctx, l, taskID), &none)
		}
		t.lookAhead(p)
	})
	if err == nil && torn {
		err = t.trip(func(p *pipe) { p.loadParts(ctx, l, kind, taskID, attemptID) })
	}
	if kind == rules.KindWorkflow && l.Run.WorkflowTaskID == taskID {
		l.OpenTask = l.Task
	}
	if err == nil && kind == rules.KindWorkflow && !owner && l.Task.LeaseOwner != "" {
		err = t.heldOwner(ctx, l)
	}
	return t.lockedRun(l, kind, err)
}

// heldOwner takes the owner's registration from the one that is held, which it usually is.
func (t *tx) heldOwner(ctx context.Context, l *store.Locked) error {
	if w := t.worker; w != nil && w.WorkerID == l.Task.LeaseOwner && w.Namespace == l.Task.Namespace {
		l.Owner = *w
		return nil
	}
	var none bool
	return t.trip(func(p *pipe) { p.load(loadOwner(ctx, l, l.Task.TaskID), &none) })
}

func loadOwner(ctx context.Context, l *store.Locked, taskID string) func(*pgdb.Queries) error {
	return func(q *pgdb.Queries) error {
		owner, err := q.WorkerGetOfTask(ctx, taskID)
		l.Owner = rules.Worker(owner)
		return err
	}
}

// loadWhole loads an activity task and what it names, *torn when one of it is missing.
func (p *pipe) loadWhole(ctx context.Context, l *store.Locked, taskID, attemptID string, torn *bool) {
	var none bool
	p.load(func(q *pgdb.Queries) error {
		row, err := q.TaskGetWhole(ctx, pgdb.TaskGetWholeParams{AttemptID: attemptID, TaskID: taskID})
		l.Task, l.Activity, l.Attempt = rules.Task(row.Task), rules.Activity(row.Activity), rules.Attempt(row.ActivityAttempt)
		return err
	}, torn)
	p.loadOpen(ctx, l, taskID, &none)
}

// loadParts is loadWhole for a task of any kind that may lack what it names.
func (p *pipe) loadParts(ctx context.Context, l *store.Locked, kind, taskID, attemptID string) {
	p.load(func(q *pgdb.Queries) error {
		task, err := q.TaskGet(ctx, taskID)
		l.Task = rules.Task(task)
		return err
	}, nil)
	if kind != rules.KindWorkflow {
		p.loadActivityOf(ctx, l, taskID, attemptID)
	}
}

func (p *pipe) loadOpen(ctx context.Context, l *store.Locked, taskID string, none *bool) {
	p.load(func(q *pgdb.Queries) error {
		open, err := q.TaskGetOpenOfTask(ctx, taskID)
		l.OpenTask = rules.Task(open)
		return err
	}, none)
}

// loadActivityOf loads what an activity task names.
func (p *pipe) loadActivityOf(ctx context.Context, l *store.Locked, taskID, attemptID string) {
	var none bool
	p.load(func(q *pgdb.Queries) error {
		activity, err := q.ActivityGetOfTask(ctx, taskID)
		l.Activity = rules.Activity(activity)
		return err
	}, &none)
	p.load(func(q *pgdb.Queries) error {
		attempt, err := attemptOf(ctx, q, taskID, attemptID)
		l.Attempt = rules.Attempt(attempt)
		return err
	}, &none)
	p.loadOpen(ctx, l, taskID, &none)
}

func attemptOf(ctx context.Context, q *pgdb.Queries, taskID, attemptID string) (pgdb.ActivityAttempt, error) {
	if attemptID == "" {
		return q.AttemptGetOfTask(ctx, taskID)
	}
	return q.AttemptGet(ctx, attemptID)
}

// lockedRun ends a lock: kind is that of the task it was asked for, "" when for none.
func (t *tx) lockedRun(l *store.Locked, kind string, err error) (*store.Locked, error) {
	if err == nil {
		err = t.note(l.Whole(kind))
	}
	if err != nil {
		return nil, err
	}
	t.locked = true
	if l.Task.TaskID != "" {
		t.s.queue.Remember(l.Task.TaskID, l.Run.RunID)
	}
	return l, nil
}

// waitFor waits for the lock of a task's run, with nothing locked but a registration.
func (t *tx) waitFor(ctx context.Context, taskID string) error {
	var noRun, gone bool
	err := t.trip(func(p *pipe) {
		p.load(func(q *pgdb.Queries) error {
			_, err := q.RunLockOfTask(ctx, taskID)
			return err
		}, &noRun)
		p.load(func(q *pgdb.Queries) error {
			_, err := q.TaskGet(ctx, taskID)
			return err
		}, &gone)
	})
	t.ahead.DropLines()
	if err == nil && noRun && !gone {
		err = t.note(store.Missing("run of task", taskID))
	}
	return err
}

// LockRun implements store.Tx.
func (t *tx) LockRun(ctx context.Context, runID string) (*store.Locked, error) {
	if err := t.queueFor(runID); err != nil {
		return nil, err
	}
	l := &store.Locked{}
	var none bool
	err := t.trip(func(p *pipe) {
		p.load(func(q *pgdb.Queries) error {
			run, err := q.RunLock(ctx, runID)
			l.Run = rules.Run(run)
			return err
		}, nil)
		p.load(func(q *pgdb.Queries) error {
			open, err := q.TaskGetOpen(ctx, runID)
			l.OpenTask = rules.Task(open)
			return err
		}, &none)
	})
	return t.lockedRun(l, "", err)
}

// LockCurrentRun implements store.Tx. Another run may have become the current one while the lock
// was waited for; then the transition starts again.
func (t *tx) LockCurrentRun(ctx context.Context, workflowID string) (*store.Locked, error) {
	l := &store.Locked{}
	var none bool
	err := t.trip(func(p *pipe) {
		p.load(func(q *pgdb.Queries) error {
			run, err := q.RunLockCurrent(ctx, workflowID)
			l.Run = rules.Run(run)
			return err
		}, &none)
		p.load(func(q *pgdb.Queries) error {
			inst, err := q.InstanceGet(ctx, workflowID)
			l.Instance = rules.Instance(inst)
			return err
		}, nil)
		p.load(func(q *pgdb.Queries) error {
			open, err := q.TaskGetOpenOfWorkflow(ctx, workflowID)
			l.OpenTask = rules.Task(open)
			return err
		}, &none)
	})
	if err == nil && l.Instance.CurrentRunID != l.Run.RunID {
		err = t.note(locking.ErrMoved)
	}
	return t.lockedRun(l, "", err)
}

// LockInstance implements store.Tx.
func (t *tx) LockInstance(ctx context.Context, workflowID string) (inst rules.Instance, err error) {
	err = t.trip(func(p *pipe) {
		p.load(func(q *pgdb.Queries) error {
			row, err := q.InstanceLock(ctx, workflowID)
			inst = rules.Instance(row)
			return err
		}, nil)
		if t.definition != nil {
			t.definition.load(ctx, p)
		}
	})
	return inst, err
}

// LockWorker implements store.Tx.
func (t *tx) LockWorker(ctx context.Context, namespace, workerID string) (w rules.Worker, err error) {
	err = t.read(ctx, func(q *pgdb.Queries) error {
		row, err := q.WorkerLock(ctx, pgdb.WorkerLockParams{Namespace: namespace, WorkerID: workerID})
		w = rules.Worker(row)
		return err
	})
	return t.heldWorker(w, err)
}

// ShareWorker implements store.Tx.
func (t *tx) ShareWorker(ctx context.Context, namespace, workerID string) (w rules.Worker, err error) {
	if h := t.worker; h != nil && h.WorkerID == workerID && h.Namespace == namespace {
		return *h, nil
	}
	if e := t.ahead.Asked; e != nil && e.WorkerID == workerID && e.Namespace == namespace {
		if err := t.takeTold(e); err != nil {
			return w, err
		}
		err = t.trip(func(p *pipe) {
			t.shareAhead(p)
			t.lookAhead(p)
		})
		if err == nil && t.worker == nil {
			err = store.ErrNotFound
		}
		if err != nil {
			return w, err
		}
		return *t.worker, nil
	}
	err = t.read(ctx, func(q *pgdb.Queries) error {
		row, err := q.WorkerShare(ctx, pgdb.WorkerShareParams{Namespace: namespace, WorkerID: workerID})
		w = rules.Worker(row)
		return err
	})
	return t.heldWorker(w, err)
}

// heldWorker remembers a registration that cannot change until the transaction ends, except by it.
func (t *tx) heldWorker(w rules.Worker, err error) (rules.Worker, error) {
	if err == nil {
		t.worker = &w
	}
	return w, err
}
