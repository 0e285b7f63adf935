package runtime

import (
	"context"
	"errors"

	"dwserver/runtime/rules"
	"dwserver/runtime/store"
)

// errStale says that the registration changed since the poll was admitted.
var errStale = errors.New("stale worker registration")

// claim leases the next task, nil when there is none; found is what committed state showed, nil when it was not
// asked. Taking, leasing and the poll's receipt are one transaction.
func (p *poll) claim(ctx context.Context, found *store.Head) (*claimed, error) {
	var got *claimed
	again := false
	err := p.transition(ctx, func(ctx context.Context, tx store.Tx) (*rules.Effects, error) {
		got, again, p.crowded = nil, false, false
		tx.Expect(store.Expected{
			Namespace: p.req.Namespace, WorkerID: p.req.WorkerID, Claims: []store.Claim{p.answered(&p.worker, found)},
		})
		worker, err := tx.ShareWorker(ctx, p.req.Namespace, p.req.WorkerID)
		if isNotFound(err) || err == nil && p.fenced(&worker) {
			return nil, errStale
		}
		if err != nil {
			return nil, err
		}
		l, err := tx.Claim(ctx, p.answered(&worker, found))
		p.crowded = errors.Is(err, store.ErrCrowded)
		if err != nil {
			return nil, ignoreMissing(err)
		}
		if eff, err := p.overdue(ctx, tx, l); eff != nil || err != nil {
			again = true
			return eff, err
		}
		got = p.lease(ctx, tx, l, &worker)
		return got.effects()
	})
	if err == nil && again || errors.Is(err, store.ErrTaken) {
		return nil, errAgain
	}
	return got, err
}

// answered is the filter of a claim whose answer is read with it where that is cheaper.
func (p *poll) answered(worker *rules.Worker, found *store.Head) store.Claim {
	filter := p.claimFilter(worker)
	filter.History, filter.Found = historyLimit(p.req.HistoryPageSize), found
	return filter
}

// fenced reports a registration that is not the one the poll was admitted with.
func (p *poll) fenced(worker *rules.Worker) bool {
	return worker.Generation != p.worker.Generation || worker.Status != p.worker.Status
}

// claimFilter says which tasks the poll may take.
func (p *poll) claimFilter(worker *rules.Worker) store.Claim {
	return store.Claim{
		Namespace: p.req.Namespace, TaskQueue: p.req.TaskQueue, Kind: p.kind.kind, TypeNames: p.types,
		BuildID: worker.BuildID, ProtocolMinor: p.req.ProtocolMinor, Now: p.now(),
	}
}

// overdue settles a deadline that has passed before its task would be delivered; nil when none has.
func (p *poll) overdue(ctx context.Context, tx store.Tx, l *store.Locked) (*rules.Effects, error) {
	t := p.begin(ctx, tx, l)
	if t.DeadlinePassed() {
		return p.timeOutRun(ctx, tx, l)
	}
	if p.kind.kind == rules.KindActivity && t.TimeOutActivity(&l.Activity, &rules.Attempt{}, &l.Task) {
		return effects(t)
	}
	return nil, nil
}

// claimed is a task just leased, or one leased before under the same poll request.
type claimed struct {
	transition *rules.Transition
	run        rules.Run
	task       rules.Task
	activity   rules.Activity
	attempt    rules.Attempt
	documents  *store.Documents // read with the claim, nil when they were not
}

func (c *claimed) effects() (*rules.Effects, error) { return effects(c.transition) }

// lease decides the lease of a locked task and, when the poll named itself, its receipt.
func (p *poll) lease(ctx context.Context, tx store.Tx, l *store.Locked, worker *rules.Worker) *claimed {
	t := p.begin(ctx, tx, l)
	length := p.opt.WorkflowTaskTimeout
	if p.kind.kind == rules.KindActivity {
		length = p.opt.ActivityTaskTimeout
	}
	lease := rules.Lease{Owner: worker.WorkerID, Generation: worker.Generation, Expires: t.Now + length.Microseconds()}
	c := &claimed{transition: t}
	if p.kind.kind == rules.KindActivity {
		c.attempt = *t.ClaimActivity(&l.Task, &l.Activity, lease)
	} else {
		t.ClaimWorkflow(&l.Task, lease)
	}
	c.run, c.task, c.activity, c.documents = l.Run, l.Task, l.Activity, l.Documents
	if p.req.PollRequestID != "" {
		if p.ended != nil {
			t.Eff.DropReceipts = []rules.PollReceipt{*p.ended}
		}
		t.Eff.PollReceipts = []rules.PollReceipt{{
			Namespace: p.req.Namespace, WorkerID: worker.WorkerID, Kind: p.kind.kind,
			PollRequestID: p.req.PollRequestID, Binding: p.binding(), TaskID: l.Task.TaskID,
			Attempt: l.Task.AttemptCount, PruneAt: lease.Expires + receiptRetention,
		}}
	}
	t.Eff.Seen = p.seen(worker)
	return c
}
