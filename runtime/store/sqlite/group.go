package sqlite

import (
	"context"
	"errors"
	"fmt"

	"dwserver/runtime/store"
)

// A group is one SQLite transaction shared by the jobs that queued up: BEGIN IMMEDIATE, each member in turn,
// COMMIT, and only then the answers. Almost no member fails once it has written, and savepoints cost: a copy of every
// page that each member changes. So there are none at first. A member that has to be undone after others have
// written takes the transaction with it, and the others run again, in a careful group where each has a savepoint.

// group runs first and whatever is queued by then, at most groupMax jobs.
func (w *writer) group(first *job) {
	if err := w.begin(); err != nil {
		first.finish(classify(err))
		return
	}
	w.careful = first.tries > 0
	w.members, w.workers = w.members[:0], w.workers[:0]
	dirty := false // an earlier member's writes are in the transaction
	for j := first; j != nil; j = w.next() {
		w.members = append(w.members, j)
		changed, lost := w.member(j, dirty)
		if lost != nil {
			w.abandon(lost)
			return
		}
		dirty = dirty || changed
	}
	w.commit(dirty)
}

// next is the next waiting job, nil when there is none or the group is full.
func (w *writer) next() *job {
	if len(w.members) >= groupMax {
		return nil
	}
	if len(w.redo) > 0 {
		return w.again()
	}
	select {
	case j := <-w.jobs:
		return j
	default:
		return nil
	}
}

// again takes the next job whose group was lost.
func (w *writer) again() *job {
	j := w.redo[0]
	w.redo = w.redo[1:]
	return j
}

// begin opens the transaction, on a new connection when the old one is beyond use.
func (w *writer) begin() (err error) {
	if w.conn != nil {
		err = w.verbs.begin.run()
		if err == nil || !hard(classify(err)) || errors.Is(classify(err), store.ErrContention) {
			return err
		}
	}
	if renewErr := w.renew(); renewErr != nil {
		return errors.Join(err, renewErr)
	}
	return w.verbs.begin.run()
}

// member runs one job. It reports whether its writes stay, and an error when undoing them failed,
// which loses the whole transaction.
func (w *writer) member(j *job, dirty bool) (changed bool, lost error) {
	if j.err = j.ctx.Err(); j.err != nil {
		return false, nil //nolint:nilerr // the member's error, told to its caller; the group goes on
	}
	t := &w.tx
	t.start(j.ctx, dirty)
	j.call(t)
	if j.err == nil && j.panic == nil {
		j.err = errors.Join(t.fault, j.ctx.Err())
	}
	if j.err == nil && j.panic == nil {
		return t.wrote, t.keep()
	}
	return false, t.undo()
}

// call runs the job's function and keeps a panic for its caller. A function that ends its
// goroutine, as a failed test does, ends the writer's: loop starts another.
func (j *job) call(t *tx) {
	j.exited = true
	defer func() {
		if j.panic = recover(); j.panic != nil {
			j.exited = false
		}
	}()
	j.err = j.fn(j.ctx, t)
	j.exited = false
}

// commit commits the group and answers every member. Where nothing was written there is nothing to commit.
func (w *writer) commit(dirty bool) {
	end := &w.verbs.commit
	if !dirty {
		end = &w.verbs.rollback
	}
	w.registered.changing(w.workers)
	err := end.run()
	if err != nil {
		err = classifyCommit(err)
		w.tx.cache.clear()
		// The error that matters is the commit's; a rollback that fails is met by begin.
		_ = w.verbs.rollback.run()
	} else if w.probe != nil {
		err = w.probe(context.Background(), store.Committed)
	}
	w.registered.changed(w.workers)
	for _, j := range w.members {
		if j.err == nil {
			j.err = err
		}
		close(j.done)
	}
}

// abandon ends a group whose transaction was lost through its last member: members that had
// succeeded run again, twice at most, in a later group.
func (w *writer) abandon(lost error) {
	w.tx.cache.clear()
	_ = w.verbs.rollback.run()
	for _, j := range w.members {
		switch {
		case j.err != nil || j.panic != nil || j.exited:
			close(j.done)
		case j.tries > 1:
			j.finish(fmt.Errorf("%w: group lost: %w", store.ErrUnavailable, lost))
		default:
			j.tries++
			w.redo = append(w.redo, j)
		}
	}
}

func (j *job) finish(err error) {
	j.err = err
	close(j.done)
}

// Transition implements store.Store. Once fn has begun, the caller stays until the outcome is
// known; its context then ends the transition only up to COMMIT.
func (s *Store) Transition(ctx context.Context, fn func(context.Context, store.Tx) error) error {
	return s.writer.do(ctx, func(ctx context.Context, t *tx) error { return fn(ctx, t) })
}
