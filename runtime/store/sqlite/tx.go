package sqlite

import (
	"context"
	"errors"
)

// tx implements store.Tx for the member of a group that is running. The writer is alone, so
// locking is reading. Statements run under a context that does not end: an interrupted statement
// could take the group with it.
type tx struct {
	reads
	w     *writer
	dirty bool // an earlier member's writes are in the transaction
	wrote bool // this member wrote
	saved bool // this member's savepoint is open
}

func (t *tx) start(ctx context.Context, dirty bool) {
	t.ctx = context.WithoutCancel(ctx)
	t.dirty, t.wrote, t.saved, t.fault = dirty, false, false, nil
}

// writing opens the member's savepoint before its first write when others' writes precede it.
func (t *tx) writing() error {
	if t.wrote {
		return nil
	}
	if t.dirty {
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

// undo removes the member's writes. Its error means that the transaction is lost.
func (t *tx) undo() error {
	if !t.wrote {
		return nil
	}
	if t.saved {
		err := t.w.verbs.undo.run()
		if err == nil {
			err = t.w.verbs.keep.run()
		}
		return err
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
	failed := fn()
	if failed != nil {
		if err := t.w.verbs.undoPart.run(); err != nil {
			return errors.Join(failed, t.end(err))
		}
	}
	if err := t.w.verbs.keepPart.run(); err != nil {
		return errors.Join(failed, t.end(err))
	}
	return failed
}
