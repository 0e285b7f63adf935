package runtime

import (
	"context"

	"dwserver/runtime/rules"
	"dwserver/runtime/store"
)

// HeartbeatActivity renews an attempt's lease, moves its heartbeat deadline and records the report
// (6.3). An attempt that may not go on is an answer, not an error. Refusals: task_not_found,
// attempt_not_found, task_mismatch, lease_owner_mismatch, structural_limit_exceeded.
func (e *Engine) HeartbeatActivity(ctx context.Context, req HeartbeatActivityRequest) (ActivityState, error) {
	if n, limit := int64(len(req.Progress)), e.opt.Limits.PayloadBytes; limit > 0 && n > limit {
		return ActivityState{}, rules.LimitExceeded("payload_size", n, limit).
			With("task_id", req.TaskID).With("activity_attempt_id", req.AttemptID)
	}
	var state ActivityState
	err := e.transition(ctx, func(ctx context.Context, tx store.Tx) (*rules.Effects, error) {
		l, err := lockActivityTask(ctx, tx, &req.ActivityFence)
		if err != nil {
			return nil, err
		}
		in := fenceOf(&req.ActivityFence, l, e.now())
		reason, expired := in.Verdict()
		if reason == "" && e.begin(ctx, tx, l).DeadlinePassed() {
			eff, err := e.timeOutRun(ctx, tx, l)
			state = stateOf(settled(l, eff), "run_closed", false)
			return eff, err
		}
		state = stateOf(l, reason, in.CancelRequested(reason))
		switch {
		case expired:
			eff, err := e.lapse(ctx, tx, l)
			state = stateOf(settled(l, eff), reason, false)
			return eff, err
		case reason != "":
			return nil, nil
		}
		t := e.begin(ctx, tx, l)
		t.HeartbeatActivity(&l.Activity, &l.Attempt, &l.Task,
			t.Now+e.opt.ActivityTaskTimeout.Microseconds(), req.Progress)
		state = stateOf(l, "", false)
		state.HeartbeatRecorded = true
		return effects(t)
	})
	if err == nil && state.HeartbeatRecorded {
		err = e.touchOwner(ctx, &state.Task)
	}
	return state, err
}

// touchOwner stores that the owner of a task was heard from, if that is due.
func (e *Engine) touchOwner(ctx context.Context, task *rules.Task) error {
	owner, err := e.store.ReadWorker(ctx, task.Namespace, task.LeaseOwner)
	if err != nil {
		return ignoreMissing(err)
	}
	return e.touch(ctx, &owner)
}

func stateOf(l *store.Locked, reason string, cancelRequested bool) ActivityState {
	return ActivityState{
		CanContinue: reason == "", CancelRequested: cancelRequested, Reason: reason,
		Run: l.Run, Task: l.Task, Activity: l.Activity, Attempt: l.Attempt,
	}
}

// ActivityStatus tells whether an attempt may go on (6.6). It neither renews nor writes. Refusals as
// HeartbeatActivity.
func (e *Engine) ActivityStatus(ctx context.Context, f ActivityFence) (ActivityState, error) {
	l := &store.Locked{}
	var err error
	if l.Task, err = e.store.ReadTask(ctx, f.TaskID); err == nil && l.Task.Namespace == f.Namespace &&
		l.Task.Kind == rules.KindActivity {
		err = e.readActivity(ctx, &f, l)
	} else if err == nil || isNotFound(err) {
		return ActivityState{}, activityRefusal(&f, "task_not_found", "There is no such activity task.")
	}
	if err != nil {
		return ActivityState{}, err
	}
	in := fenceOf(&f, l, e.now())
	if r := in.Identity(f.TaskID, f.AttemptID); r != nil {
		return ActivityState{}, r
	}
	reason, expired := in.Verdict()
	if expired {
		reason = expiryReason(l, e.now())
	}
	return stateOf(l, reason, in.CancelRequested(reason)), nil
}

// readActivity reads the rows of an activity task without a lock.
func (e *Engine) readActivity(ctx context.Context, f *ActivityFence, l *store.Locked) error {
	var err error
	if l.Run, err = e.store.ReadRun(ctx, l.Task.RunID); err != nil {
		return err
	}
	if l.Activity, err = e.store.ReadActivity(ctx, l.Task.ActivityExecutionID); err != nil {
		return err
	}
	l.Attempt, err = e.store.ReadAttempt(ctx, f.AttemptID)
	return ignoreMissing(err)
}

// expiryReason says which end of an attempt nobody has enforced yet (6.6).
func expiryReason(l *store.Locked, now int64) string {
	switch kind := l.Activity.DueTimeout(now); kind {
	case "":
		return "lease_expired"
	default:
		return kind + "_timeout"
	}
}
