package mysql

import (
	"context"
	"time"

	"dwserver/runtime/store"
	"dwserver/runtime/store/locking"
)

// commitTimeout bounds how long the answer to COMMIT is waited for; then the outcome is unknown.
const commitTimeout = 30 * time.Second

// Transition implements store.Store.
func (s *Store) Transition(ctx context.Context, fn func(context.Context, store.Tx) error) error {
	var tries locking.Retries
	for {
		err := s.once(ctx, fn, &tries)
		if err == nil || !tries.Again(ctx, err) {
			return locking.Outcome(ctx, err)
		}
	}
}

// once runs fn in one transaction.
func (s *Store) once(ctx context.Context, fn func(context.Context, store.Tx) error, tries *locking.Retries) error {
	if s.closed.Load() {
		return store.ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	t := &tx{s: s, ctx: ctx, settle: tries.Settled()}
	t.reads.run = t.read
	defer t.end() // also when fn panics
	if tries.First != "" {
		if err := t.waitFor(tries.First); err != nil {
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
	return t.commit()
}
