package runtime

import (
	"context"

	"dwserver/runtime/rules"
)

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
		if got, err = c.newLease(ctx, tx, &worker); err != nil {
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
		switch {
		case !p.isLive(&task, &receipt, worker):
			continue
		case kind != p.kind.kind || receipt.Binding != p.binding():
			return nil, declinePollRequestConflict()
		case task.MinProtocol > p.req.ProtocolMinor:
			return nil, declineCapabilityMismatch()
		}
		return loadClaimed(ctx, txSource{tx}, task)
	}
	return nil, nil
}

// newLease applies the slot rule and claims in the ordinary order.
func (c *carried) newLease(ctx context.Context, tx *stage, worker *rules.Worker) (*claimed, error) {
	p := c.poll
	free, err := c.hasSlot(ctx, tx, worker)
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
func (c *carried) hasSlot(ctx context.Context, tx *stage, worker *rules.Worker) (bool, error) {
	kind, limit := c.poll.kind.other(), int64(1)
	if c.concurrent {
		kind, limit = c.poll.kind.kind, c.poll.kind.limit(worker)
	}
	held, err := tx.CountLeases(ctx, worker.Namespace, worker.WorkerID, kind, c.poll.now())
	return held < limit, err
}
