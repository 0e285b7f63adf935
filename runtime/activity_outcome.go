package runtime

import (
	"bytes"
	"context"

	"dwserver/runtime/rules"
	"dwserver/runtime/store"
)

// CompleteActivity records an activity's success (6.4), and with it, in the same transaction, the
// workflow's next step and the worker's next polls where the request carries them (carried-polls.md).
// A repeat with equal content is answered without a second effect. Refusals: task_not_found,
// attempt_not_found, task_mismatch, lease_owner_mismatch, stale_attempt and the run's stop reasons.
func (e *Engine) CompleteActivity(ctx context.Context, req CompleteActivityRequest) (ActivityOutcomeResult, error) {
	return admitted(func() (ActivityOutcomeResult, error) { return e.completeContinuing(ctx, &req) })
}

// completeContinuing is CompleteActivity with its continuation admitted.
func (e *Engine) completeContinuing(ctx context.Context, req *CompleteActivityRequest) (ActivityOutcomeResult, error) {
	admit := e.admitOutcome(&req.ActivityFence)
	next, err := admit.admitContinuation(ctx, req)
	if err != nil {
		return ActivityOutcomeResult{}, err
	}
	return e.endActivity(ctx, admit, &outcome{
		fence: &req.ActivityFence, word: rules.ActivityCompleted, digest: req.BodyDigest, carriers: &req.Carriers, next: next,
		record: func(t *rules.Transition, l *store.Locked, barrier rules.Barrier) string {
			limit := e.opt.Limits.PayloadBytes
			if limit > 0 && req.ResultSize > limit {
				over := rules.LimitExceeded("payload_size", req.ResultSize, limit)
				return t.FailActivityOverLimit(&l.Activity, &l.Attempt, &l.Task, over, req.BodyDigest)
			}
			return t.CompleteActivity(&l.Activity, &l.Attempt, &l.Task, req.Result, req.BodyDigest, barrier)
		},
	})
}

// FailActivity records a failed attempt: the next attempt is scheduled, or the activity has failed
// (6.5). Repeats, carried polls and refusals as CompleteActivity.
func (e *Engine) FailActivity(ctx context.Context, req FailActivityRequest) (ActivityOutcomeResult, error) {
	o := &outcome{
		fence: &req.ActivityFence, word: rules.ActivityFailed, digest: req.BodyDigest, carriers: &req.Carriers,
		record: func(t *rules.Transition, l *store.Locked, _ rules.Barrier) string {
			return t.FailActivity(&l.Activity, &l.Attempt, &l.Task, &req.Failure, req.BodyDigest)
		},
	}
	return admitted(func() (ActivityOutcomeResult, error) {
		return e.endActivity(ctx, e.admitOutcome(&req.ActivityFence), o)
	})
}

// outcome is a reported end of an activity attempt.
type outcome struct {
	fence    *ActivityFence
	word     string // completed or failed
	digest   []byte
	carriers *Carriers
	next     *continuation // nil without one
	// record decides the outcome and answers the task that will see it.
	record func(*rules.Transition, *store.Locked, rules.Barrier) string
}

func (e *Engine) admitOutcome(f *ActivityFence) *admission {
	return &admission{Engine: e, namespace: f.Namespace, owner: f.LeaseOwner, report: f.TaskID}
}

// endActivity is what both outcomes share: the fence, the receipt, the transition, the carriers.
func (e *Engine) endActivity(ctx context.Context, admit *admission, o *outcome) (ActivityOutcomeResult, error) {
	carried, err := admit.admitCarried(ctx, o.carriers)
	if err != nil {
		return ActivityOutcomeResult{}, err
	}
	defer carried.end()
	var result ActivityOutcomeResult
	var kept *Refusal
	err = carried.transact(ctx, e, func(ctx context.Context, tx *stage) error {
		result, kept = ActivityOutcomeResult{Outcome: o.word}, nil
		if o.next != nil {
			tx.Expect(store.Expected{Namespace: o.next.namespace, WorkerID: o.next.owner})
		}
		carried.expect(tx) // the same worker's, if any
		var eff *rules.Effects
		var err error
		if eff, kept, err = e.recordOutcome(ctx, tx, o, &result); err != nil {
			return err
		}
		if err = tx.hold(ctx, eff); err != nil || carried == nil || !result.Recorded {
			return err
		}
		return carried.grant(ctx, tx)
	})
	if err == nil && kept != nil {
		err = kept
	}
	if err == nil && result.Recorded {
		carried.heard(ctx)
	}
	if result.Recorded {
		result.CarriedAnswers = carried.answers()
		if c := result.Continuation; c != nil && c.Decline == nil {
			c.LastHistorySequence = result.lastSequence(c.runID, c.LastHistorySequence)
		}
	}
	return result, err
}

// recordOutcome decides an outcome under the lock: what it writes, or a refusal that itself changes
// something. A refusal that changes nothing is the error.
func (e *Engine) recordOutcome(ctx context.Context, tx store.Tx, o *outcome, result *ActivityOutcomeResult) (*rules.Effects, *Refusal, error) {
	l, err := lockActivityTask(ctx, tx, o.fence)
	if err != nil {
		return nil, nil, err
	}
	if len(l.Attempt.Receipt) > 0 {
		if l.Attempt.Outcome == o.word && bytes.Equal(l.Attempt.Receipt, o.digest) {
			return nil, nil, nil
		}
		return nil, nil, ignoredOutcome(o.fence, l, "stale_attempt", false)
	}
	in := fenceOf(o.fence, l, e.now())
	if reason, expired := in.Verdict(); reason != "" {
		if !expired {
			return nil, nil, ignoredOutcome(o.fence, l, reason, in.CancelRequested(reason))
		}
		eff, err := e.lapse(ctx, tx, l)
		return eff, ignoredOutcome(o.fence, settled(l, eff), reason, false), err
	}
	if e.begin(ctx, tx, l).DeadlinePassed() {
		eff, err := e.timeOutRun(ctx, tx, l)
		return eff, ignoredOutcome(o.fence, settled(l, eff), "run_closed", false), err
	}
	if o.next != nil {
		eff, done, err := e.continueRun(ctx, tx, o, l, result)
		if done || err != nil {
			return eff, nil, err
		}
	}
	t := e.begin(ctx, tx, l)
	result.NextTaskID = o.record(t, l, e.barrier(ctx, tx, l.Run.RunID, t))
	result.Recorded = true
	eff, err := effects(t)
	return eff, nil, err
}

// settled brings the locked rows of an activity task up to what effects made of them.
func settled(l *store.Locked, eff *rules.Effects) *store.Locked {
	if eff == nil {
		return l
	}
	for i := range eff.Tasks {
		if eff.Tasks[i].TaskID == l.Task.TaskID {
			l.Task = eff.Tasks[i]
		}
	}
	for i := range eff.Acts {
		if eff.Acts[i].ExecutionID == l.Activity.ExecutionID {
			l.Activity = eff.Acts[i]
		}
	}
	for i := range eff.Tries {
		if eff.Tries[i].AttemptID == l.Attempt.AttemptID {
			l.Attempt.Status, l.Attempt.ClosedAt = eff.Tries[i].Status, eff.Tries[i].ClosedAt
		}
	}
	return l
}

// lapse closes an attempt whose lease or deadline passed before its report came.
func (e *Engine) lapse(ctx context.Context, tx store.Tx, l *store.Locked) (*rules.Effects, error) {
	if l.Task.LeaseExpiresAt <= e.now() {
		return e.takeBack(ctx, tx, l)
	}
	t := e.begin(ctx, tx, l)
	t.TimeOutActivity(&l.Activity, &l.Attempt, &l.Task)
	return effects(t)
}

// lockActivityTask locks the run of a fenced activity task of the caller's namespace and checks that
// task, attempt and owner belong together.
func lockActivityTask(ctx context.Context, tx store.Tx, f *ActivityFence) (*store.Locked, error) {
	l, err := tx.LockTask(ctx, rules.KindActivity, f.TaskID, f.AttemptID)
	if isNotFound(err) || err == nil && (l.Task.Namespace != f.Namespace || l.Task.Kind != rules.KindActivity) {
		return nil, activityRefusal(f, "task_not_found", "There is no such activity task.")
	}
	if err != nil {
		return nil, err
	}
	in := fenceOf(f, l, 0)
	if r := in.Identity(f.TaskID, f.AttemptID); r != nil {
		return nil, r
	}
	return l, nil
}

func fenceOf(f *ActivityFence, l *store.Locked, now int64) *rules.ActivityFenceInput {
	return &rules.ActivityFenceInput{
		Run: &l.Run, Task: &l.Task, Activity: &l.Activity, Attempt: &l.Attempt, LeaseOwner: f.LeaseOwner, Now: now,
	}
}

func activityRefusal(f *ActivityFence, reason, message string) *Refusal {
	return refuse(reason, message).With("task_id", f.TaskID).With("activity_attempt_id", f.AttemptID)
}

// ignoredOutcome is the refusal of a report that comes too late (6.4).
func ignoredOutcome(f *ActivityFence, l *store.Locked, reason string, cancelRequested bool) *Refusal {
	task := l.Task.Status
	if l.Run.Status == rules.RunCancelled || l.Run.Status == rules.RunTerminated {
		task = rules.TaskCancelled
	}
	return activityRefusal(f, reason, "The outcome is not recorded: "+reason+".").
		With("outcome", "ignored").With("recorded", false).With("cancel_requested", cancelRequested).
		With("can_continue", false).With("run_status", l.Run.Status).
		With("run_closed_reason", textOrNil(l.Run.ClosedReason)).With("run_closed_at", timeOrNil(l.Run.ClosedAt)).
		With("activity_status", l.Activity.Status).With("attempt_status", l.Attempt.Status).
		With("task_status", task).With("lease_owner", textOrNil(l.Task.LeaseOwner)).
		With("lease_expires_at", timeOrNil(l.Task.LeaseExpiresAt))
}

func textOrNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func timeOrNil(micros int64) any {
	if micros == 0 || micros == rules.Never {
		return nil
	}
	return rules.FormatTime(micros)
}
