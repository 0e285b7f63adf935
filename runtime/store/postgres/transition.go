package postgres

import (
	"context"
	"time"

	"dwserver/gen/pgdb"
	"dwserver/runtime/rules"
	"dwserver/runtime/store"
	"dwserver/runtime/store/locking"
)

// commitTimeout bounds how long the answer to COMMIT is waited for; then the outcome is unknown.
const commitTimeout = 30 * time.Second

// Transition implements store.Store.
func (s *Store) Transition(ctx context.Context, fn func(context.Context, store.Tx) error) error {
	var tries locking.Retries
	for {
		tries.Begin()
		err := s.once(ctx, fn, &tries)
		s.distrust(err)
		if err == nil || !tries.Again(ctx, err) {
			return locking.Outcome(ctx, err)
		}
	}
}

func (s *Store) newTx(ctx context.Context) *tx {
	t := &tx{s: s, ctx: ctx}
	t.reads.run = t.read
	return t
}

// once runs fn in one transaction.
func (s *Store) once(ctx context.Context, fn func(context.Context, store.Tx) error, tries *locking.Retries) error {
	if s.closed.Load() {
		return store.ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	t := s.newTx(ctx)
	t.settle = tries.Settled()
	defer t.end() // also when fn panics
	if t.first = tries.First; t.first != "" {
		if err := t.queueFor(s.queue.Run(t.first)); err != nil {
			return err
		}
	}
	err := fn(ctx, t)
	if t.fault != nil {
		return t.fault // whatever fn made of it
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return err
	}
	if err := t.commit(); err != nil {
		return err
	}
	s.notifier.add(t.wakes)
	s.storeSeen(ctx, t.seen)
	return nil
}

// storeSeen moves workers' last_seen_at forward, each by itself and after the commit: a transition
// that holds other locks never waits for a registration's. When the database is lost just then, the
// workers are seen again soon, and the transition stands.
func (s *Store) storeSeen(ctx context.Context, list []rules.WorkerSeen) {
	ctx = context.WithoutCancel(ctx)
	for i := range list {
		w := &list[i]
		err := s.read(ctx, func(q *pgdb.Queries) error {
			return q.WorkerSeen(ctx, pgdb.WorkerSeenParams{LastSeenAt: w.At, Namespace: w.Namespace, WorkerID: w.WorkerID})
		})
		if err != nil {
			s.log.Warn("the time a worker was seen was not stored", "worker", w.WorkerID, "error", err)
		}
	}
}
