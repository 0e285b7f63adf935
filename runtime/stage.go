package runtime

import (
	"context"
	"errors"

	"dwserver/runtime/rules"
	"dwserver/runtime/store"
)

// stage is a transaction that remembers what was written in it, so that waiters are woken for the
// whole of it once it is committed.
type stage struct {
	store.Tx
	written []*rules.Effects
	pending *rules.Effects // decided, not yet written
	joined  []string       // runs of claims that were added to what is pending
	held    *rules.Worker  // registration shared by this transaction; its rows cannot change meanwhile
}

// ShareWorker implements store.Tx.
func (s *stage) ShareWorker(ctx context.Context, namespace, workerID string) (rules.Worker, error) {
	if h := s.held; h != nil && h.Namespace == namespace && h.WorkerID == workerID {
		return *h, nil
	}
	worker, err := s.Tx.ShareWorker(ctx, namespace, workerID)
	if err == nil {
		s.held = &worker
	}
	return worker, err
}

// write puts effects down, after what is held back; nil and empty effects write nothing.
func (s *stage) write(ctx context.Context, eff *rules.Effects) error {
	if err := s.flush(ctx); err != nil || eff == nil || eff.Empty() {
		return err
	}
	return s.put(ctx, eff)
}

func (s *stage) put(ctx context.Context, eff *rules.Effects) error {
	s.written = append(s.written, eff)
	return s.Apply(ctx, eff)
}

// Savepoint implements store.Tx; what fn wrote is forgotten when it fails.
func (s *stage) Savepoint(ctx context.Context, fn func() error) error {
	if err := s.flush(ctx); err != nil {
		return err
	}
	kept := len(s.written)
	err := s.Tx.Savepoint(ctx, fn)
	if err != nil {
		s.written = s.written[:kept]
	}
	return err
}

// transact runs fn in one transaction and, once it is committed, or may be, wakes who waits for what it
// wrote.
func (e *Engine) transact(ctx context.Context, fn func(ctx context.Context, tx *stage) error) error {
	var done *stage
	err := e.store.Transition(ctx, func(ctx context.Context, tx store.Tx) error {
		done = &stage{Tx: tx}
		if err := fn(ctx, done); err != nil {
			return err
		}
		return done.flush(ctx)
	})
	if err == nil || errors.Is(err, store.ErrOutcomeUnknown) {
		e.committed(done.written)
	}
	return err
}

// transition is transact for the common case of one decision: decide returns what to write. Only a
// fault, or a refusal without effects, is an error of decide; a refusal that has effects is kept by
// the caller.
func (e *Engine) transition(ctx context.Context, decide func(ctx context.Context, tx store.Tx) (*rules.Effects, error)) error {
	return e.transact(ctx, func(ctx context.Context, tx *stage) error {
		eff, err := decide(ctx, tx)
		if err != nil {
			return err
		}
		return tx.write(ctx, eff)
	})
}

// committed wakes polls, readers and the due loop for what a transaction wrote.
func (e *Engine) committed(written []*rules.Effects) {
	at := rules.Never
	last := ""
	for i, eff := range written {
		for j := range eff.NewTasks {
			e.wakeTask(written[i:], &eff.NewTasks[j])
		}
		for j := range eff.Tasks {
			e.wakeTask(written[i+1:], &eff.Tasks[j])
		}
		for j := range eff.Events {
			if id := eff.Events[j].RunID; id != last {
				e.hub.Changed(id)
				last = id
			}
		}
		at = min(at, earliest(eff))
	}
	e.due.kick(at)
}

// wakeTask notifies for a ready task, unless the same transaction went on to lease or end it.
func (e *Engine) wakeTask(later []*rules.Effects, task *rules.Task) {
	if task.Status != rules.TaskReady {
		return
	}
	for _, eff := range later {
		for i := range eff.Tasks {
			if eff.Tasks[i].TaskID == task.TaskID && eff.Tasks[i].Status != rules.TaskReady {
				return
			}
		}
	}
	e.hub.Notify(workOf(task))
}
