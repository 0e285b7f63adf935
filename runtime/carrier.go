package runtime

import (
	"context"
	"errors"
	"slices"

	"dwserver/runtime/rules"
	"dwserver/runtime/store"
)

// CarriedPoll is a poll that rides on a completion (carried-polls.md 1). Invalid says that the object
// broke the poll's rules; the completion stands all the same.
type CarriedPoll struct {
	PollRequest
	Invalid bool
}

// Carriers are the polls a completion carries; nil members were not sent.
type Carriers struct {
	ActivityPoll *CarriedPoll
	WorkflowPoll *CarriedPoll
}

// CarriedAnswer is what became of a carried poll: a lease, or a decline. A nil answer means that the
// poll was not attempted.
type CarriedAnswer struct {
	Lease   *PollResult
	Decline *Decline
}

// CarriedAnswers answer a completion's carriers.
type CarriedAnswers struct {
	ActivityPoll *CarriedAnswer
	WorkflowPoll *CarriedAnswer
}

// concurrentSlots is the capability of a worker that runs both kinds of tasks side by side.
const concurrentSlots = "concurrent_slots"

// carried is one carried poll between its admission and its answer.
type carried struct {
	poll       *poll // nil when it was declined before the transaction
	admitted   *admission
	concurrent bool // its worker runs both kinds side by side
	decline    *Decline
	answer     *CarriedAnswer
}

// carriage is all that a completion carries.
type carriage struct {
	activity *carried
	workflow *carried
}

// none reports that the request carries nothing and takes the ordinary path.
func (c *Carriers) none() bool { return c.ActivityPoll == nil && c.WorkflowPoll == nil }

// admitCarried judges a request's carriers before its transaction (carried-polls.md 2.2). A fault
// here fails the request before anything is written.
func (a *admission) admitCarried(ctx context.Context, c *Carriers) (*carriage, error) {
	if c.none() {
		return nil, nil
	}
	mismatch := c.ActivityPoll != nil && c.WorkflowPoll != nil && !c.ActivityPoll.Invalid && !c.WorkflowPoll.Invalid &&
		c.ActivityPoll.WorkerID != c.WorkflowPoll.WorkerID
	out := &carriage{}
	var err error
	if out.activity, err = a.admitOne(ctx, &activityPoll, c.ActivityPoll, mismatch); err == nil {
		out.workflow, err = a.admitOne(ctx, &workflowPoll, c.WorkflowPoll, mismatch)
	}
	if a.kept && (err != nil || out.activity.declined() || out.workflow.declined()) {
		err = a.outdated()
	}
	if err != nil {
		out.end()
		return nil, err
	}
	return out, nil
}

func (c *carried) declined() bool { return c != nil && c.decline != nil }

func (a *admission) admitOne(ctx context.Context, kind *pollKind, in *CarriedPoll, mismatch bool) (*carried, error) {
	switch {
	case in == nil:
		return nil, nil
	case in.Invalid || in.PollRequestID == "":
		return &carried{decline: declineInvalidPoll()}, nil
	case mismatch || in.WorkerID != a.owner:
		return &carried{decline: declineWorkerMismatch()}, nil
	}
	worker, err := a.registration(ctx)
	if isNotFound(err) {
		return &carried{decline: declineWorkerNotRegistered()}, nil
	}
	if err != nil {
		return nil, err
	}
	p, err := a.newPoll(kind, &in.PollRequest, worker)
	if err != nil {
		return nil, err
	}
	capabilities, err := a.lists.of(worker.Capabilities)
	if err != nil {
		return nil, err
	}
	switch {
	case worker.TaskQueue != in.TaskQueue, len(p.types) == 0,
		in.BuildID != "" && worker.BuildID != "" && in.BuildID != worker.BuildID,
		slices.Contains(in.TaskKinds, "update_validation"):
		return &carried{decline: declineRoutingMismatch()}, nil
	case worker.Status == rules.WorkerDraining:
		return &carried{decline: declineWorkerDraining()}, nil
	case a.flights.enter(p.flight(), a.report) != nil: // a poll of this id is held, or rides on another report, right now
		return &carried{decline: declinePollRequestConflict()}, nil
	}
	return &carried{poll: p, admitted: a, concurrent: slices.Contains(capabilities, concurrentSlots)}, nil
}

// end lets polls of the carried ids go on: what was granted is committed, or will never be.
func (c *carriage) end() {
	if c == nil {
		return
	}
	for _, one := range []*carried{c.activity, c.workflow} {
		if one != nil && one.poll != nil {
			one.poll.flights.leave(one.poll.flight())
		}
	}
}

// grant attempts the carried polls inside the request's transaction, after its own writes: activity
// first, then workflow (carried-polls.md 2.4).
func (c *carriage) grant(ctx context.Context, tx *stage) error {
	leased := false
	for _, one := range []*carried{c.activity, c.workflow} {
		if one == nil {
			continue
		}
		one.answer = nil // of an earlier try of this transaction: its claim was rolled back
		if leased && !one.concurrent {
			continue // a single-capacity worker got its task: not attempted
		}
		if err := one.attempt(ctx, tx); err != nil {
			return err
		}
		leased = leased || one.answer.Lease != nil
	}
	return nil
}

// attempt claims, or says why not.
func (c *carried) attempt(ctx context.Context, tx *stage) error {
	if c.decline != nil {
		c.answer = &CarriedAnswer{Decline: c.decline}
		return nil //nolint:nilerr // a decline is an answer, not a fault
	}
	err := c.claim(ctx, tx)
	var declined *Decline
	if errors.As(err, &declined) {
		c.answer = &CarriedAnswer{Decline: declined}
		return nil
	}
	return err
}

// expect tells the transaction what the carried polls are going to ask of it. Their worker's registration is
// kept from changing before the run is locked: registering locks the worker first and its tasks second, and so must this.
func (c *carriage) expect(tx *stage) {
	if c == nil {
		return
	}
	var e store.Expected
	for _, one := range []*carried{c.activity, c.workflow} {
		if one == nil || one.poll == nil {
			continue
		}
		p := one.poll
		e.Namespace, e.WorkerID = p.req.Namespace, p.req.WorkerID
		if !slices.Contains(e.PollRequestIDs, p.req.PollRequestID) {
			e.PollRequestIDs = append(e.PollRequestIDs, p.req.PollRequestID)
		}
		e.Claims = append(e.Claims, one.filter(&p.worker))
	}
	if e.WorkerID != "" {
		tx.Expect(e)
	}
}

// heard stores that the worker of the carried polls was heard from: a carried poll counts as any other,
// once the report it rides on stands. It must not make a stale owner fresh before that. The report is answered as it
// was recorded whatever comes of this: the worker's next request is as good.
func (c *carriage) heard(ctx context.Context) {
	if c == nil {
		return
	}
	for _, one := range []*carried{c.activity, c.workflow} {
		if one == nil || one.poll == nil {
			continue
		}
		if err := one.heard(ctx); err != nil {
			one.poll.log.Warn("the time a worker was seen was not stored", "worker", one.poll.req.WorkerID, "error", err)
		}
		return
	}
}

// heard also lets the copy of the registration know, so that the next report does not store it again.
func (c *carried) heard(ctx context.Context) error {
	before := c.poll.worker.LastSeenAt
	err := c.poll.heard(ctx)
	if err == nil && c.poll.worker.LastSeenAt != before {
		c.poll.copies.put(&c.poll.worker)
	}
	return err
}

// answers are what the request's answer says of its carriers.
func (c *carriage) answers() CarriedAnswers {
	var out CarriedAnswers
	if c == nil {
		return out
	}
	if c.activity != nil {
		out.ActivityPoll = c.activity.answer
	}
	if c.workflow != nil {
		out.WorkflowPoll = c.workflow.answer
	}
	return out
}

// lastSequence is the last event of a run after the whole transaction: a carried claim of the same
// run has added its ActivityStarted.
func (a *CarriedAnswers) lastSequence(runID string, last int64) int64 {
	if a.ActivityPoll != nil && a.ActivityPoll.Lease != nil && a.ActivityPoll.Lease.Activity.Run.RunID == runID {
		return max(last, a.ActivityPoll.Lease.Activity.Run.LastHistorySequence)
	}
	return last
}
