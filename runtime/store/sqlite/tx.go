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
		if _, err := t.w.verbs.mark.Exec(); err != nil {
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
	_, err := t.w.verbs.keep.Exec()
	return err
}

// undo removes the member's writes. Its error means that the transaction is lost.
func (t *tx) undo() error {
	if !t.wrote {
		return nil
	}
	if t.saved {
		_, err := t.w.verbs.undo.Exec()
		if err == nil {
			_, err = t.w.verbs.keep.Exec()
		}
		return err
	}
	// Nothing else is in the transaction. SQLite may have rolled it back already, so only BEGIN tells.
	_, _ = t.w.verbs.rollback.Exec()
	_, err := t.w.verbs.begin.Exec()
	return err
}

// Savepoint implements store.Tx.
func (t *tx) Savepoint(_ context.Context, fn func() error) error {
	if err := t.writing(); err != nil {
		return err
	}
	if _, err := t.w.verbs.markPart.Exec(); err != nil {
		return t.end(err)
	}
	failed := fn()
	if failed != nil {
		if _, err := t.w.verbs.undoPart.Exec(); err != nil {
			return errors.Join(failed, t.end(err))
		}
	}
	if _, err := t.w.verbs.keepPart.Exec(); err != nil {
		return errors.Join(failed, t.end(err))
	}
	return failed
}
