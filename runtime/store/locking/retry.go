package locking

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"dwserver/runtime/store"
)

// A transition that met contention runs again, whole, after a pause that grows and varies; one that
// found its connection dead before COMMIT was sent runs again at once. What may have been committed
// never runs again.
const (
	contentionTries = 8
	contentionTime  = 10 * time.Second // from the first try on
	busyTries       = 50
	deadTries       = 3
)

// Busy ends a claim whose candidates are all locked just now: the transition starts again, and its
// claim then waits for the run of one of them.
type Busy struct{ TaskID string }

func (Busy) Error() string { return "every candidate is locked" }

// ErrMoved ends a lock of a workflow id whose current run changed while the lock was waited for.
var ErrMoved = errors.New("the current run changed")

// ErrDead marks a connection that was lost before COMMIT was sent: nothing happened, and another
// connection may do better.
var ErrDead = errors.New("connection lost")

// Retries counts why a transition ran again. The zero value is a first try.
type Retries struct {
	// First names a task whose run the next try's claim waits for; "" when none.
	First string

	contention, busy, dead int
	began                  time.Time
}

// Begin marks the start of a try.
func (r *Retries) Begin() {
	if r.began.IsZero() {
		r.began = time.Now()
	}
}

// Settled reports that claims have been busy so often that they now report store.ErrCrowded instead.
func (r *Retries) Settled() bool { return r.busy >= busyTries }

// Again judges the outcome of a try: whether to run it again, after a pause that it makes here.
func (r *Retries) Again(ctx context.Context, err error) bool {
	r.First = ""
	var busy Busy
	switch {
	case errors.As(err, &busy):
		r.busy++
		r.First = busy.TaskID
		return ctx.Err() == nil
	case errors.Is(err, ErrMoved), errors.Is(err, store.ErrContention):
		r.contention++
		return r.contention < contentionTries && time.Since(r.began) < contentionTime && Wait(ctx, Jitter(r.contention*r.contention*4)) == nil
	case errors.Is(err, ErrDead):
		r.dead++
		return r.dead < deadTries && ctx.Err() == nil
	}
	return false
}

// Outcome is what a caller is told of an error that was not retried any more.
func Outcome(ctx context.Context, err error) error {
	var busy Busy
	internal := errors.As(err, &busy) || errors.Is(err, ErrMoved)
	switch {
	case internal && ctx.Err() != nil:
		return ctx.Err()
	case internal:
		return errors.Join(store.ErrContention, err)
	}
	return err
}

// Reread runs a read again as long as it meets dead connections, a few times.
func Reread(read func() error) (err error) {
	for range deadTries {
		if err = read(); !errors.Is(err, ErrDead) {
			return err
		}
	}
	return err
}

// Jitter is a random pause up to so many milliseconds.
func Jitter(ms int) time.Duration {
	return time.Duration(rand.Int64N(int64(ms)*int64(time.Millisecond))) + time.Millisecond/4
}

// Wait pauses for d or until ctx ends, and returns the context's error then.
func Wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
