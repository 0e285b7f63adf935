package runtime

import (
	"context"

	"dwserver/runtime/rules"
	"dwserver/runtime/store"
)

// claim is the ordinary poll's claim under the request's transaction, with the answer read there too:
// whatever of it does not decode fails the whole request.
func (c *carried) claim(ctx context.Context, tx *stage) error {
	p := c.poll
	worker, err := tx.ShareWorker(ctx, p.req.Namespace, p.req.WorkerID)
	switch {
	case c.admitted.overtaken(&worker, err):
		return c.admitted.outdated()
	case isNotFound(err) || err == nil && p.fenced(&worker):
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
		return c.newLease(ctx, tx, &worker)
	}
	return c.grantLease(ctx, tx, got)
}

// grantLease answers a lease, reading inside the transaction.
func (c *carried) grantLease(ctx context.Context, tx *stage, got *claimed) error {
	result, err := c.poll.answerFrom(ctx, txSource{tx}, got)
	if err != nil {
		return err
	}
	c.answer = &CarriedAnswer{Lease: &result}
	return nil
}

// boundLease is the live lease that the poll request id already has, nil when it has none. An id
// that is bound to a live lease of another request is a conflict.
func (p *poll) boundLease(ctx context.Context, tx *stage, worker *rules.Worker) (*claimed, error) {
	p.ended = nil
	for _, kind := range []string{p.kind.kind, p.kind.other()} {
		receipt, err := tx.GetPollReceipt(ctx, p.req.Namespace, p.req.WorkerID, kind, p.req.PollRequestID)
		if isNotFound(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if kind == p.kind.kind {
			p.ended = &receipt
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

// newLease applies the slot rule and claims in the ordinary order. A task that the report itself has
// just made is claimed without a look at the database, unless an earlier one is there.
func (c *carried) newLease(ctx context.Context, tx *stage, worker *rules.Worker) error {
	p := c.poll
	free, err := c.hasSlot(ctx, tx, worker)
	if err != nil {
		return err
	}
	if !free {
		return declineSlotOccupied()
	}
	filter := c.filter(worker)
	head, err := tx.Head(ctx, filter)
	if err != nil && !isNotFound(err) {
		return err
	}
	own := tx.ready(&filter)
	switch {
	case own == nil && err != nil:
		return p.nothing(ctx, tx, worker)
	case own != nil && (err != nil || own.Before(head.Priority, head.OrderAt, head.TaskID)):
		if l := tx.lockedOf(own); l != nil {
			return c.take(ctx, tx, l, worker, tx.fold)
		}
	}
	if err != nil || tx.holds(head.RunID) {
		return c.takeHeld(ctx, tx, filter, worker)
	}
	return c.takeStored(ctx, tx, filter, worker)
}

// filter says which tasks the poll may take, and that its answer is read in the transaction.
func (c *carried) filter(worker *rules.Worker) store.Claim {
	filter := c.poll.claimFilter(worker)
	filter.History = historyLimit(c.poll.req.HistoryPageSize)
	return filter
}

// takeStored claims as the ordinary poll does, from a run that the report does not change.
func (c *carried) takeStored(ctx context.Context, tx *stage, filter store.Claim, worker *rules.Worker) error {
	l, err := tx.Claim(ctx, filter)
	switch {
	case isNotFound(err):
		return c.poll.nothing(ctx, tx, worker)
	case err != nil:
		return err
	case tx.holds(l.Run.RunID): // it was not the first task that was free
		return c.takeHeld(ctx, tx, filter, worker)
	}
	return c.take(ctx, tx, l, worker, tx.join)
}

// take leases a locked task and keeps the claim with the held effects. Nothing is written before the claim
// stands, so that a decline has nothing to undo.
func (c *carried) take(ctx context.Context, tx *stage, l *store.Locked, worker *rules.Worker, keep func(*claimed, *rules.Effects)) error {
	got, eff, err := c.leaseLocked(ctx, tx, l, worker)
	if err != nil {
		return err
	}
	if err := c.grantLease(ctx, tx, got); err != nil {
		return err
	}
	keep(got, eff)
	return nil
}

// takeHeld claims from a run that the report changes, as the claim has to find it: the report is written
// first, and the claim runs inside a savepoint, so that a decline found half-way leaves nothing of it.
func (c *carried) takeHeld(ctx context.Context, tx *stage, filter store.Claim, worker *rules.Worker) error {
	return tx.Savepoint(ctx, func() error {
		l, err := tx.Claim(ctx, filter)
		if isNotFound(err) {
			return c.poll.nothing(ctx, tx, worker)
		}
		if err != nil {
			return err
		}
		got, eff, err := c.leaseLocked(ctx, tx, l, worker)
		if err != nil {
			return err
		}
		if err := tx.write(ctx, eff); err != nil {
			return err
		}
		return c.grantLease(ctx, tx, got)
	})
}

// leaseLocked decides the lease of a locked task.
func (c *carried) leaseLocked(ctx context.Context, tx *stage, l *store.Locked, worker *rules.Worker) (*claimed, *rules.Effects, error) {
	if c.over(ctx, tx, l) {
		return nil, nil, declineEmpty()
	}
	got := c.poll.lease(ctx, tx, l, worker)
	eff, err := got.effects()
	return got, eff, err
}

// over reports a task whose run or activity is past a deadline: it is not claimable, and the due loop
// settles it.
func (c *carried) over(ctx context.Context, tx *stage, l *store.Locked) bool {
	t := c.poll.begin(ctx, tx, l)
	return t.DeadlinePassed() || c.poll.kind.kind == rules.KindActivity && l.Activity.DueTimeout(t.Now) != ""
}

// nothing says why there was nothing to claim.
func (p *poll) nothing(ctx context.Context, tx *stage, worker *rules.Worker) error {
	if p.kind.kind == rules.KindWorkflow && p.req.ProtocolMinor < rules.HighestHistoryFloor {
		filter := p.claimFilter(worker)
		filter.ProtocolMinor = rules.HighestHistoryFloor
		_, err := tx.Head(ctx, filter)
		if err == nil || isNotFound(err) && tx.ready(&filter) != nil {
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
	if err := tx.settled(ctx); err != nil {
		return false, err
	}
	kind, limit := c.poll.kind.other(), int64(1)
	if c.concurrent {
		kind, limit = c.poll.kind.kind, c.poll.kind.limit(worker)
	}
	held, err := tx.CountLeases(ctx, worker.Namespace, worker.WorkerID, kind, c.poll.now())
	return held+tx.leases(worker, kind) < limit, err
}
