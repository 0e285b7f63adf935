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
	sick   sickList
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
	more, failed, err := d.scan(ctx)
	if failed != nil && ctx.Err() == nil {
		d.engine.log.Error("due work failed; trying it again later", "error", failed)
	}
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
	if d.sick.size() > 0 { // what cannot be done stays due
		sleep = max(sleep, sickPause)
	}
	d.target.Store(now + sleep.Microseconds())
	return sleep
}

// RunDue does what is due now, as the background loop does, and returns when all of it was tried. Its error is a
// fault of the database, or else the last of the work's own.
func (e *Engine) RunDue(ctx context.Context) error {
	var failed error
	for {
		more, fault, err := e.due.scan(ctx)
		if fault != nil {
			failed = fault
		}
		switch {
		case err != nil:
			return err
		case !more:
			return failed
		}
	}
}

// A dueJob is one piece of work that is due.
type dueJob struct {
	id  string // of the row that says so
	run func(context.Context) error
}

// scan does one batch of each kind and reports whether any was full. Work that failed lately waits, and
// takes no other's place in the batch. Failed is a fault of such work, err one that ails all of it.
func (d *dueLoop) scan(ctx context.Context) (more bool, failed, err error) {
	now, limit := d.engine.now(), int64(dueBatch+d.sick.size())
	jobs, full, err := d.list(ctx, now, limit)
	if err != nil {
		return false, nil, err
	}
	ready := d.sick.without(jobs, now, !full)
	parallel(ctx, ready, func(job *dueJob, fault error) {
		switch {
		case d.sick.note(job.id, now, fault):
			failed = fault
		case fault != nil:
			err = fault
		}
	})
	return full && len(ready) > 0, failed, err
}

// list is what is due, at most limit of each kind, and whether there may be more.
func (d *dueLoop) list(ctx context.Context, now, limit int64) (jobs []dueJob, full bool, err error) {
	e := d.engine
	runs, err := e.store.DueRuns(ctx, now, limit)
	if err != nil {
		return nil, false, err
	}
	timers, err := e.store.DueTimers(ctx, now, limit)
	if err != nil {
		return nil, false, err
	}
	acts, err := e.store.DueActivities(ctx, now, limit)
	if err != nil {
		return nil, false, err
	}
	leases, err := e.store.DueLeases(ctx, now, limit)
	if err != nil {
		return nil, false, err
	}
	for i := range runs {
		jobs = append(jobs, dueJob{runs[i].RunID, func(ctx context.Context) error { return e.expireRun(ctx, runs[i].RunID) }})
	}
	for i := range timers {
		jobs = append(jobs, dueJob{timers[i].TimerID, func(ctx context.Context) error {
			return e.fireTimer(ctx, timers[i].RunID, timers[i].TimerID)
		}})
	}
	for i := range acts {
		jobs = append(jobs, dueJob{acts[i].ExecutionID, func(ctx context.Context) error {
			return e.expireActivity(ctx, acts[i].RunID, acts[i].ExecutionID)
		}})
	}
	for i := range leases {
		jobs = append(jobs, dueJob{leases[i].TaskID, func(ctx context.Context) error { return e.recoverLease(ctx, &leases[i]) }})
	}
	most := max(len(timers), len(acts), len(runs), len(leases))
	return jobs, int64(most) == limit, nil
}

// parallel runs jobs a few at a time and tells how each ended, one by one.
func parallel(ctx context.Context, jobs []dueJob, ended func(*dueJob, error)) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	slots := make(chan struct{}, dueWidth)
	for i := range jobs {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			err := jobs[i].run(ctx)
			mu.Lock()
			defer mu.Unlock()
			ended(&jobs[i], err)
		})
	}
	wg.Wait()
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
