package sqlite

import (
	"context"
	"errors"

	"dwserver/runtime/rules"
)

// tx implements store.Tx for the member of a group that is running. The writer is alone, so
// locking is reading. Statements run under a context that does not end: an interrupted statement
// could take the group with it.
type tx struct {
	reads
	w     *writer
	cache *caches
	ahead ahead
	dirty bool // an earlier member's writes are in the transaction
	wrote bool // this member wrote
	saved bool // this member's savepoint is open
}

func (t *tx) start(ctx context.Context, dirty bool) {
	t.ctx = context.WithoutCancel(ctx)
	t.dirty, t.wrote, t.saved, t.fault = dirty, false, false, nil
	t.cache.begin()
	t.ahead = ahead{}
}

// writing opens the member's savepoint before its first write, in a careful group, when others' writes precede it.
func (t *tx) writing() error {
	if t.wrote {
		return nil
	}
	if t.dirty && t.w.careful {
		if err := t.w.verbs.mark.run(); err != nil {
			return t.end(err)
		}
		t.saved = true
	}
	t.wrote = true
	return nil
}

func (t *tx) keep() error {
	if !t.saved {
		return nil
	}
	err := t.w.verbs.keep.run()
	return err
}

var errShared = errors.New("the writes of a member that failed stand among others'")

// undo removes the member's writes. Its error means that the transaction is lost.
func (t *tx) undo() error {
	if !t.wrote {
		return nil
	}
	t.cache.undo(0)
	if t.saved {
		err := t.w.verbs.undo.run()
		if err == nil {
			err = t.w.verbs.keep.run()
		}
		return err
	}
	if t.dirty {
		return errShared
	}
	// Nothing else is in the transaction. SQLite may have rolled it back already, so only BEGIN tells.
	_ = t.w.verbs.rollback.run()
	err := t.w.verbs.begin.run()
	return err
}

// Savepoint implements store.Tx.
func (t *tx) Savepoint(_ context.Context, fn func() error) error {
	if err := t.writing(); err != nil {
		return err
	}
	if err := t.w.verbs.markPart.run(); err != nil {
		return t.end(err)
	}
	before := len(t.cache.touched)
	failed := fn()
	if failed != nil {
		t.cache.undo(before)
		t.ahead.forget()
		if err := t.w.verbs.undoPart.run(); err != nil {
			return errors.Join(failed, t.end(err))
		}
	}
	if err := t.w.verbs.keepPart.run(); err != nil {
		return errors.Join(failed, t.end(err))
	}
	return failed
}

// The reads below come from the cache where they can.

// GetTask implements store.Tx.
func (t *tx) GetTask(ctx context.Context, taskID string) (rules.Task, error) {
	return through(&t.cache.tasks, taskID, func() (rules.Task, error) { return t.reads.GetTask(ctx, taskID) })
}

// GetRun implements store.Tx.
func (t *tx) GetRun(ctx context.Context, runID string) (rules.Run, error) {
	return through(&t.cache.runs, runID, func() (rules.Run, error) { return t.reads.GetRun(ctx, runID) })
}

// GetActivity implements store.Tx.
func (t *tx) GetActivity(ctx context.Context, executionID string) (rules.Activity, error) {
	return through(&t.cache.activities, executionID, func() (rules.Activity, error) { return t.reads.GetActivity(ctx, executionID) })
}

// GetAttempt implements store.Tx.
func (t *tx) GetAttempt(ctx context.Context, attemptID string) (rules.Attempt, error) {
	return through(&t.cache.attempts, attemptID, func() (rules.Attempt, error) { return t.reads.GetAttempt(ctx, attemptID) })
}

// through reads a row and keeps it.
func through[V any](in *generations[V], id string, read func() (V, error)) (V, error) {
	if row, ok := in.get(id); ok {
		return row, nil
	}
	row, err := read()
	if err == nil {
		in.put(id, row)
	}
	return row, err
}
