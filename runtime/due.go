package runtime

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"dwserver/runtime/rules"
	"dwserver/runtime/store"
)

const (
	dueBatch = 256 // of each kind per scan
	dueWidth = 64  // transitions at once: what a group commit takes
	// dueScan is the longest sleep between two scans: what another process made due, and steps of
	// the wall clock, are noticed within it.
	dueScan = time.Second
	// dueBackoff is the pause after a scan that met a fault.
	dueBackoff = 250 * time.Millisecond
	pruneEvery = 30 * time.Second
	pruneBatch = 250 // rows a statement: what is due in the meantime does not wait long
)

// dueLoop does what has a due time: timers, activity deadlines, run deadlines, lease ends. Every
// process runs one; each piece of work is decided again under its run's lock, so they need no leader.
type dueLoop struct {
	engine *Engine
	kicks  chan struct{}
	target atomic.Int64 // micros until which the loop sleeps
	pruned time.Time
}

func newDueLoop(e *Engine) *dueLoop {
	d := &dueLoop{engine: e, kicks: make(chan struct{}, 1)}
	d.target.Store(rules.Never)
	return d
}

// kick tells the loop that something falls due at a time, if it would sleep past it.
func (d *dueLoop) kick(at int64) {
	if at >= d.target.Load() {
		return
	}
	select {
	case d.kicks <- struct{}{}:
	default:
	}
}

func (d *dueLoop) run(ctx context.Context) {
	for ctx.Err() == nil {
		d.target.Store(rules.Never) // a commit from here on kicks, whatever the scan below sees
		pause := d.pause(ctx)
		if pause <= 0 {
			continue
		}
		timer, stop := d.engine.clock.After(pause)
		select {
		case <-ctx.Done():
		case <-timer:
		case <-d.kicks:
		}
		stop()
	}
}

// pause does what is due and answers how long nothing more will be, 0 to go on at once.
func (d *dueLoop) pause(ctx context.Context) time.Duration {
	more, err := d.scan(ctx)
	left := false
	if err == nil {
		left, err = d.prune(ctx)
	}
	if err == nil && (more || left) {
		return 0
	}
	next := rules.Never
	if err == nil {
		next, err = d.engine.store.NextDue(ctx)
	}
	if err != nil {
		if ctx.Err() == nil {
			d.engine.log.Error("due work failed; trying again", "error", err)
		}
		return dueBackoff
	}
	now := d.engine.now()
	sleep := min(time.Duration(max(min(next-now, dueScan.Microseconds()), 0))*time.Microsecond, dueScan)
	d.target.Store(now + sleep.Microseconds())
	return sleep
}

// RunDue does what is due now, as the background loop does, and returns when all of it is done.
func (e *Engine) RunDue(ctx context.Context) error {
	for {
		if more, err := e.due.scan(ctx); err != nil || !more {
			return err
		}
	}
}

// scan does one batch of each kind and reports whether any was full.
func (d *dueLoop) scan(ctx context.Context) (more bool, err error) {
	e, now := d.engine, d.engine.now()
	timers, err := e.store.DueTimers(ctx, now, dueBatch)
	if err != nil {
		return false, err
	}
	acts, err := e.store.DueActivities(ctx, now, dueBatch)
	if err != nil {
		return false, err
	}
	runs, err := e.store.DueRuns(ctx, now, dueBatch)
	if err != nil {
		return false, err
	}
	leases, err := e.store.DueLeases(ctx, now, dueBatch)
	if err != nil {
		return false, err
	}
	var jobs []func(context.Context) error
	for i := range runs {
		jobs = append(jobs, func(ctx context.Context) error { return e.expireRun(ctx, runs[i].RunID) })
	}
	for i := range timers {
		jobs = append(jobs, func(ctx context.Context) error { return e.fireTimer(ctx, timers[i].RunID, timers[i].TimerID) })
	}
	for i := range acts {
		jobs = append(jobs, func(ctx context.Context) error { return e.expireActivity(ctx, acts[i].RunID, acts[i].ExecutionID) })
	}
	for i := range leases {
		jobs = append(jobs, func(ctx context.Context) error { return e.recoverLease(ctx, &leases[i]) })
	}
	err = parallel(ctx, jobs)
	full := max(len(timers), len(acts), len(runs), len(leases)) == dueBatch
	return full, err
}

// parallel runs jobs a few at a time and returns the first fault; every job is tried.
func parallel(ctx context.Context, jobs []func(context.Context) error) error {
	var mu sync.Mutex
	var first error
	var wg sync.WaitGroup
	slots := make(chan struct{}, dueWidth)
	for _, job := range jobs {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			if err := job(ctx); err != nil {
				mu.Lock()
				defer mu.Unlock()
				if first == nil {
					first = err
				}
			}
		})
	}
	wg.Wait()
	return first
}

// prune drops what has been kept long enough, one batch of each: poll receipts and ended registration tokens. It
// reports whether there may be more.
func (d *dueLoop) prune(ctx context.Context) (more bool, err error) {
	now := d.engine.clock.Now()
	if now.Sub(d.pruned) < pruneEvery && !now.Before(d.pruned) {
		return false, nil
	}
	receipts, err := d.engine.store.PrunePollReceipts(ctx, now.UnixMicro(), pruneBatch)
	if err != nil {
		return false, err
	}
	// A terminal token is kept for its receipt, and as long again to be answered as expired.
	tokens, err := d.engine.store.PruneRegistrations(ctx, now.Add(-2*registrationRetention).UnixMicro(), pruneBatch)
	if err != nil {
		return false, err
	}
	if receipts == pruneBatch || tokens == pruneBatch {
		return true, nil
	}
	d.pruned = now
	return false, nil
}

// expireRun closes a run whose deadline has passed.
func (e *Engine) expireRun(ctx context.Context, runID string) error {
	return e.transition(ctx, func(ctx context.Context, tx store.Tx) (*rules.Effects, error) {
		l, err := tx.LockRun(ctx, runID)
		if err != nil {
			return nil, ignoreMissing(err)
		}
		if l.Run.IsClosed() || l.Run.DeadlineAt > e.now() {
			return nil, nil
		}
		return e.timeOutRun(ctx, tx, l)
	})
}

// fireTimer fires a due timer (6.6). Nothing fires early, and nothing on a closed run.
func (e *Engine) fireTimer(ctx context.Context, runID, timerID string) error {
	return e.transition(ctx, func(ctx context.Context, tx store.Tx) (*rules.Effects, error) {
		l, err := tx.LockRun(ctx, runID)
		if err != nil {
			return nil, ignoreMissing(err)
		}
		timer, err := tx.GetTimer(ctx, timerID)
		if err != nil {
			return nil, ignoreMissing(err)
		}
		t := e.begin(ctx, tx, l)
		if timer.Status != rules.TimerPending || timer.DueAt > t.Now || l.Run.IsClosed() {
			return nil, nil
		}
		if t.DeadlinePassed() {
			return e.timeOutRun(ctx, tx, l)
		}
		var waits rules.Waits
		if timer.WaitID != "" {
			if waits, err = loadWaits(ctx, tx, &l.Run); err != nil {
				return nil, err
			}
		}
		if !t.FireTimer(&timer, &waits, e.barrier(ctx, tx, runID, t)) {
			return nil, fmt.Errorf("%w: pending timeout %s of a wait that is not open", store.ErrBroken, timerID)
		}
		return effects(t)
	})
}

// expireActivity enforces an activity's deadlines (6.4).
func (e *Engine) expireActivity(ctx context.Context, runID, executionID string) error {
	return e.transition(ctx, func(ctx context.Context, tx store.Tx) (*rules.Effects, error) {
		l, err := tx.LockRun(ctx, runID)
		if err != nil {
			return nil, ignoreMissing(err)
		}
		act, err := tx.GetActivity(ctx, executionID)
		if err != nil {
			return nil, ignoreMissing(err)
		}
		task, err := tx.GetTask(ctx, act.TaskID)
		if err != nil {
			return nil, err
		}
		var attempt rules.Attempt
		if act.Status == rules.ActivityRunning {
			if attempt, err = tx.GetAttempt(ctx, act.AttemptID); err != nil {
				return nil, err
			}
		}
		t := e.begin(ctx, tx, l)
		if l.Run.IsClosed() || !t.TimeOutActivity(&act, &attempt, &task) {
			return nil, nil
		}
		return effects(t)
	})
}

// recoverLease takes back a task whose lease has ended: a workflow task becomes ready, an
// activity attempt is closed and retried by its policy.
func (e *Engine) recoverLease(ctx context.Context, task *rules.Task) error {
	return e.transition(ctx, func(ctx context.Context, tx store.Tx) (*rules.Effects, error) {
		l, err := tx.LockTask(ctx, task.Kind, task.TaskID, "")
		if err != nil {
			return nil, ignoreMissing(err)
		}
		return e.takeBack(ctx, tx, l)
	})
}

// takeBack recovers a locked task if its lease is over; nil effects otherwise.
func (e *Engine) takeBack(ctx context.Context, tx store.Tx, l *store.Locked) (*rules.Effects, error) {
	t := e.begin(ctx, tx, l)
	switch {
	case l.Task.Status != rules.TaskLeased || l.Task.LeaseExpiresAt > t.Now:
		return nil, nil
	case t.DeadlinePassed():
		return e.timeOutRun(ctx, tx, l)
	case l.Task.Kind == rules.KindWorkflow:
		t.RecoverWorkflowTask(&l.Task)
	case !t.TimeOutActivity(&l.Activity, &l.Attempt, &l.Task):
		t.LoseAttempt(&l.Activity, &l.Attempt, &l.Task)
	}
	return effects(t)
}

func ignoreMissing(err error) error {
	if isNotFound(err) {
		return nil
	}
	return err
}
