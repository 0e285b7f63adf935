package runtime

import (
	"context"
	"errors"
	"slices"

	"dwserver/runtime/rules"
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
	poll    *poll
	decline *Decline
	answer  *CarriedAnswer
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
func (e *Engine) admitCarried(ctx context.Context, c *Carriers, leaseOwner string) (*carriage, error) {
	if c.none() {
		return nil, nil
	}
	mismatch := c.ActivityPoll != nil && c.WorkflowPoll != nil && !c.ActivityPoll.Invalid && !c.WorkflowPoll.Invalid &&
		c.ActivityPoll.WorkerID != c.WorkflowPoll.WorkerID
	out := &carriage{}
	var err error
	if out.activity, err = e.admitOne(ctx, &activityPoll, c.ActivityPoll, leaseOwner, mismatch); err != nil {
		return nil, err
	}
	out.workflow, err = e.admitOne(ctx, &workflowPoll, c.WorkflowPoll, leaseOwner, mismatch)
	return out, err
}

func (e *Engine) admitOne(ctx context.Context, kind *pollKind, in *CarriedPoll, leaseOwner string, mismatch bool) (*carried, error) {
	switch {
	case in == nil:
		return nil, nil
	case in.Invalid || in.PollRequestID == "":
		return &carried{decline: declineInvalidPoll()}, nil
	case mismatch || in.WorkerID != leaseOwner:
		return &carried{decline: declineWorkerMismatch()}, nil
	}
	worker, err := e.store.ReadWorker(ctx, in.Namespace, in.WorkerID)
	if isNotFound(err) {
		return &carried{decline: declineWorkerNotRegistered()}, nil
	}
	if err != nil {
		return nil, err
	}
	p := &poll{Engine: e, kind: kind, req: &in.PollRequest, worker: worker, types: kind.types(&worker)}
	switch {
	case worker.TaskQueue != in.TaskQueue, len(p.types) == 0,
		in.BuildID != "" && worker.BuildID != "" && in.BuildID != worker.BuildID,
		slices.Contains(in.TaskKinds, "update_validation"):
		return &carried{decline: declineRoutingMismatch()}, nil
	case worker.Status == rules.WorkerDraining:
		return &carried{decline: declineWorkerDraining()}, nil
	}
	return &carried{poll: p}, nil
}

// grant attempts the carried polls inside the request's transaction, after its own writes: activity
// first, then workflow (carried-polls.md 2.4).
func (c *carriage) grant(ctx context.Context, tx *stage) error {
	leased := false
	for _, one := range []*carried{c.activity, c.workflow} {
		if one == nil {
			continue
		}
		if leased && !one.concurrent() {
			continue // a single-capacity worker got its task: not attempted
		}
		if err := one.attempt(ctx, tx); err != nil {
			return err
		}
		leased = leased || one.answer.Lease != nil
	}
	return nil
}

func (c *carried) concurrent() bool {
	return c.poll != nil && slices.Contains(stringsOf(c.poll.worker.Capabilities), concurrentSlots)
}

// attempt claims inside a savepoint, so that a decline found half-way leaves nothing of the claim.
func (c *carried) attempt(ctx context.Context, tx *stage) error {
	c.answer = nil
	if c.decline != nil {
		c.answer = &CarriedAnswer{Decline: c.decline}
		return nil
	}
	err := tx.Savepoint(ctx, func() error { return c.claim(ctx, tx) })
	var declined *Decline
	if errors.As(err, &declined) {
		c.answer = &CarriedAnswer{Decline: declined}
		return nil //nolint:nilerr // a decline is an answer, not a fault
	}
	return err
}

// claim is the ordinary poll's claim under the request's transaction, with the answer read there too:
// whatever of it does not decode fails the whole request.
func (c *carried) claim(ctx context.Context, tx *stage) error {
	p := c.poll
	worker, err := tx.ShareWorker(ctx, p.req.Namespace, p.req.WorkerID)
	if isNotFound(err) || err == nil && (worker.Generation != p.worker.Generation || worker.Status != p.worker.Status) {
		return declineRegistrationFenced()
	}
	if err != nil {
		return err
	}
	got, err := p.boundLease(ctx, tx, &worker)
	if err != nil {
		return err
	}
	if got == nil {
		if got, err = p.newLease(ctx, tx, &worker); err != nil {
			return err
		}
	}
	result, err := p.answerFrom(ctx, txSource{tx}, got)
	if err != nil {
		return err
	}
	c.answer = &CarriedAnswer{Lease: &result}
	return nil
}

// boundLease is the live lease that the poll request id already has, nil when it has none. An id
// that is bound to a live lease of another request is a conflict.
func (p *poll) boundLease(ctx context.Context, tx *stage, worker *rules.Worker) (*claimed, error) {
	for _, kind := range []string{p.kind.kind, p.kind.other()} {
		receipt, err := tx.GetPollReceipt(ctx, p.req.Namespace, p.req.WorkerID, kind, p.req.PollRequestID)
		if isNotFound(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		task, err := tx.GetTask(ctx, receipt.TaskID)
		if err != nil {
			return nil, err
		}
		if !p.isLive(&task, &receipt, worker) {
			continue
		}
		if kind != p.kind.kind || receipt.Binding != p.binding() {
			return nil, declinePollRequestConflict()
		}
		return loadClaimed(ctx, txSource{tx}, task)
	}
	return nil, nil
}

// newLease applies the slot rule and claims in the ordinary order.
func (p *poll) newLease(ctx context.Context, tx *stage, worker *rules.Worker) (*claimed, error) {
	free, err := p.hasSlot(ctx, tx, worker)
	if err != nil {
		return nil, err
	}
	if !free {
		return nil, declineSlotOccupied()
	}
	l, err := tx.Claim(ctx, p.claimFilter(worker))
	if isNotFound(err) {
		return nil, p.nothing(ctx, tx, worker)
	}
	if err != nil {
		return nil, err
	}
	if t := p.begin(ctx, tx, l); t.DeadlinePassed() ||
		p.kind.kind == rules.KindActivity && l.Activity.DueTimeout(t.Now) != "" {
		return nil, declineEmpty() // it is over, not claimable; the due loop settles it
	}
	got := p.lease(ctx, tx, l, worker)
	eff, err := got.effects()
	if err != nil {
		return nil, err
	}
	return got, tx.write(ctx, eff)
}

// nothing says why there was nothing to claim.
func (p *poll) nothing(ctx context.Context, tx *stage, worker *rules.Worker) error {
	if p.kind.kind == rules.KindWorkflow && p.req.ProtocolMinor < rules.HighestHistoryFloor {
		filter := p.claimFilter(worker)
		filter.ProtocolMinor = rules.HighestHistoryFloor
		_, err := tx.Claim(ctx, filter)
		if err == nil {
			return declineCapabilityMismatch()
		}
		if !isNotFound(err) {
			return err
		}
	}
	return declineEmpty()
}

// hasSlot is the slot rule (carried-polls.md 2). The task being completed no longer counts.
func (p *poll) hasSlot(ctx context.Context, tx *stage, worker *rules.Worker) (bool, error) {
	kind, limit := p.kind.other(), int64(1)
	if slices.Contains(stringsOf(worker.Capabilities), concurrentSlots) {
		kind, limit = p.kind.kind, p.kind.limit(worker)
	}
	held, err := tx.CountLeases(ctx, worker.Namespace, worker.WorkerID, kind, p.now())
	return held < limit, err
}

// holdWorker keeps the registration of the carriers' worker from changing, before the run is locked:
// registering locks the worker first and its tasks second, and so must this.
func (c *carriage) holdWorker(ctx context.Context, tx *stage) error {
	if c == nil {
		return nil
	}
	for _, one := range []*carried{c.activity, c.workflow} {
		if one != nil && one.poll != nil {
			return tx.holdWorker(ctx, one.poll.req.Namespace, one.poll.req.WorkerID)
		}
	}
	return nil
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
