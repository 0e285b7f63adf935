package postgres

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"dwserver/runtime/store"
)

// A transition that met contention runs again, whole, after a pause that grows and varies; one
// that found its connection dead before anything was sent for good runs again at once. What may
// have been committed never runs again.
const (
	contentionTries = 8
	busyTries       = 50 // claims that found only tasks locked by others
	deadTries       = 3
	commitTimeout   = 30 * time.Second
)

// busy ends a claim whose candidates are all locked just now: the transition starts again by
// waiting for the run of the first. It never leaves the package.
type busy struct{ taskID string }

func (busy) Error() string { return "postgres: every candidate is locked" }

// errMoved ends a lock of a workflow id whose current run changed while the lock was waited for.
var errMoved = errors.New("postgres: the current run changed")

// Transition implements store.Store.
func (s *Store) Transition(ctx context.Context, fn func(context.Context, store.Tx) error) error {
	var r retries
	for {
		err := s.once(ctx, fn, &r)
		pause, again := r.next(err)
		if !again {
			return err
		}
		if err := wait(ctx, pause); err != nil {
			return err
		}
	}
}

// retries counts why a transition ran again.
type retries struct {
	contention, busy, dead int
	first                  string // task whose run the next try waits for, "" when none
}

func (r *retries) next(err error) (pause time.Duration, again bool) {
	r.first = ""
	var b busy
	switch {
	case errors.As(err, &b):
		r.busy++
		r.first = b.taskID
		return 0, true
	case errors.Is(err, errMoved), errors.Is(err, store.ErrContention):
		r.contention++
		return jitter(r.contention * r.contention * 4), r.contention < contentionTries
	case errors.Is(err, errDead):
		r.dead++
		return 0, r.dead < deadTries
	}
	return 0, false
}

// jitter is a random pause up to so many milliseconds.
func jitter(ms int) time.Duration {
	return time.Duration(rand.Int64N(int64(ms)*int64(time.Millisecond))) + time.Millisecond/4
}

func wait(ctx context.Context, d time.Duration) error {
	if d == 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// once runs fn in one transaction.
func (s *Store) once(ctx context.Context, fn func(context.Context, store.Tx) error, r *retries) error {
	if s.closed.Load() {
		return store.ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	t := &tx{s: s, ctx: ctx, settle: r.busy >= busyTries}
	t.reads.run = t.read
	defer t.end() // also when fn panics
	if r.first != "" {
		if err := t.waitFor(r.first); err != nil {
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
	return nil
}
