package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sort"
	"strings"
	"time"

	"dwserver/runtime/rules"
	"dwserver/runtime/store"
	"dwserver/runtime/wake"
)

// capabilityHold is how long a poll of a worker without types of the kind is held, so that SDKs
// which poll every kind neither spin nor wait long (worker-plane.md 7.8).
const capabilityHold = time.Second

// receiptRetention is how long a poll receipt outlives its lease, in micros (7.6).
const receiptRetention = 120_000_000

// pollKind is what differs between the polls of the two task kinds.
type pollKind struct {
	kind   string
	noType string // status of a worker that registered no type of this kind
	types  func(*rules.Worker) []string
	limit  func(*rules.Worker) int64 // how many tasks of this kind the worker runs at once
}

// other is the other task kind.
func (k *pollKind) other() string {
	if k.kind == rules.KindWorkflow {
		return rules.KindActivity
	}
	return rules.KindWorkflow
}

var (
	workflowPoll = pollKind{
		kind: rules.KindWorkflow, noType: PollNoWorkflowTypes,
		types: func(w *rules.Worker) []string { return stringsOf(w.WorkflowTypes) },
		limit: func(w *rules.Worker) int64 { return w.MaxWorkflowTasks },
	}
	activityPoll = pollKind{
		kind: rules.KindActivity, noType: PollNoActivityTypes,
		types: func(w *rules.Worker) []string { return stringsOf(w.ActivityTypes) },
		limit: func(w *rules.Worker) int64 { return w.MaxActivityTasks },
	}
)

// PollWorkflowTask leases the next workflow task of a worker's queue and types, waiting for one up
// to the request's timeout (5.1). Refusals: worker_not_registered, task_queue_mismatch,
// build_id_mismatch, worker_draining, update_validation_capability_not_advertised, poll request conflicts.
func (e *Engine) PollWorkflowTask(ctx context.Context, req PollRequest) (PollResult, error) {
	return e.poll(ctx, &workflowPoll, &req)
}

// PollActivityTask leases the next activity task (6.1); as PollWorkflowTask.
func (e *Engine) PollActivityTask(ctx context.Context, req PollRequest) (PollResult, error) {
	return e.poll(ctx, &activityPoll, &req)
}

func (e *Engine) poll(ctx context.Context, kind *pollKind, req *PollRequest) (PollResult, error) {
	worker, err := e.admit(ctx, kind, req)
	if err != nil {
		return PollResult{}, err
	}
	p := &poll{Engine: e, kind: kind, req: req, worker: worker, types: kind.types(&worker)}
	timeout := req.Timeout
	if timeout < 0 {
		timeout = e.opt.PollTimeout
	}
	if len(p.types) == 0 {
		return p.withoutTypes(ctx, min(timeout, capabilityHold))
	}
	deadline, stop := e.clock.After(timeout)
	defer stop()
	if req.PollRequestID == "" {
		return p.wait(ctx, deadline, timeout > 0)
	}
	return p.once(ctx, deadline, timeout > 0)
}

// poll is one held poll.
type poll struct {
	*Engine
	kind   *pollKind
	req    *PollRequest
	worker rules.Worker // snapshot of the registration it was admitted with
	types  []string
}

// admit is 5.1's admission, in its order.
func (e *Engine) admit(ctx context.Context, kind *pollKind, req *PollRequest) (rules.Worker, error) {
	worker, err := e.store.ReadWorker(ctx, req.Namespace, req.WorkerID)
	if isNotFound(err) {
		return worker, refuse("worker_not_registered", "The worker is not registered.").With("worker_id", req.WorkerID)
	}
	if err != nil {
		return worker, err
	}
	switch {
	case worker.TaskQueue != req.TaskQueue:
		return worker, refuse("task_queue_mismatch", "The worker is registered for another task queue.").
			With("registered_task_queue", worker.TaskQueue).With("requested_task_queue", req.TaskQueue)
	case req.BuildID != "" && worker.BuildID != "" && req.BuildID != worker.BuildID:
		return worker, refuse("build_id_mismatch", "The worker is registered with another build id.").
			With("registered_build_id", worker.BuildID).With("requested_build_id", req.BuildID)
	case worker.Status == rules.WorkerDraining:
		return worker, drainingRefusal(&worker)
	case slices.Contains(req.TaskKinds, "update_validation"):
		return worker, refuse("update_validation_capability_not_advertised",
			"Update validation tasks are not available.").With("poll_status", "unsupported").With("task", nil)
	}
	err = e.touch(ctx, &worker)
	if seen := e.seen(&worker); seen != nil {
		worker.LastSeenAt = seen.At
	}
	return worker, err
}

func drainingRefusal(worker *rules.Worker) *Refusal {
	build := any(nil)
	if worker.BuildID != "" {
		build = worker.BuildID
	}
	return refuse("worker_draining", "The worker is draining.").With("task", nil).With("poll_status", "draining").
		With("worker_id", worker.WorkerID).With("task_queue", worker.TaskQueue).With("registered_build_id", build).
		With("worker_status", rules.WorkerDraining).With("drain_intent", rules.WorkerDraining)
}

// withoutTypes holds the poll of a worker that registered no type of the kind for a moment.
func (p *poll) withoutTypes(ctx context.Context, hold time.Duration) (PollResult, error) {
	w := p.hub.Wait(p.key(), p.worker.WorkerID, nil)
	defer p.hub.Leave(w, false)
	deadline, stop := p.clock.After(hold)
	defer stop()
	select {
	case <-deadline:
	case <-ctx.Done():
	case r := <-w.C:
		if r == wake.Superseded {
			return p.empty(PollStaleRegistration), nil
		}
	}
	return p.empty(p.kind.noType), nil
}

func (p *poll) key() wake.Key {
	return wake.Key{Namespace: p.req.Namespace, TaskQueue: p.req.TaskQueue, Kind: p.kind.kind}
}

func (p *poll) empty(status string) PollResult {
	return PollResult{Status: status, ServerTime: p.now()}
}

// binding is what a poll_request_id is bound to besides worker and kind (7.6).
func (p *poll) binding() string {
	kinds := append([]string{}, p.req.TaskKinds...)
	if len(kinds) == 0 && p.kind.kind == rules.KindWorkflow {
		kinds = []string{rules.KindWorkflow}
	}
	sort.Strings(kinds)
	doc, _ := json.Marshal([]string{p.req.TaskQueue, p.req.BuildID, strings.Join(kinds, ",")}) // strings always marshal
	return string(doc)
}

// errAgain says that a claim did other due work of the run and should be tried again.
var errAgain = errors.New("claim again")

// wait claims, and while there is nothing waits for a wake, the deadline or the drain. It holds no
// connection and no transaction meanwhile.
func (p *poll) wait(ctx context.Context, deadline <-chan time.Time, hold bool) (PollResult, error) {
	w := p.hub.Wait(p.key(), p.worker.WorkerID, p.types)
	used := false
	defer func() { p.hub.Leave(w, used) }()
	for {
		claimed, err := p.claim(ctx)
		switch {
		case errors.Is(err, errAgain):
			continue
		case errors.Is(err, errStale):
			return p.empty(PollStaleRegistration), nil
		case err != nil:
			return PollResult{}, err
		case claimed != nil:
			used = true
			return p.answer(ctx, claimed)
		case !hold:
			return p.empty(PollEmpty), nil
		}
		fallback, stop := p.clock.After(time.Duration(p.store.WakeInterval()) * time.Microsecond)
		select {
		case r := <-w.C:
			stop()
			switch r {
			case wake.Drained:
				return p.empty(PollEmpty), nil
			case wake.Superseded:
				return p.empty(PollStaleRegistration), nil
			}
			p.hub.Again(w)
		case <-fallback:
			stop()
		case <-deadline:
			stop()
			return p.empty(PollEmpty), nil
		case <-ctx.Done():
			stop()
			return PollResult{}, ctx.Err()
		}
	}
}

// errStale says that the registration changed since the poll was admitted.
var errStale = errors.New("stale worker registration")

// claim leases the next task, nil when there is none. Taking, leasing and the poll's receipt are
// one transaction.
func (p *poll) claim(ctx context.Context) (*claimed, error) {
	var got *claimed
	again := false
	err := p.transition(ctx, func(ctx context.Context, tx store.Tx) (*rules.Effects, error) {
		got, again = nil, false
		worker, err := p.holdRegistration(ctx, tx)
		if isNotFound(err) || err == nil && (worker.Generation != p.worker.Generation || worker.Status != p.worker.Status) {
			return nil, errStale
		}
		if err != nil {
			return nil, err
		}
		l, err := tx.Claim(ctx, p.claimFilter(&worker))
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
	if err == nil && again {
		return nil, errAgain
	}
	return got, err
}

// holdRegistration keeps the worker's registration as it is while the claim runs; it is locked for
// writing when the claim will also store that the worker was seen.
func (p *poll) holdRegistration(ctx context.Context, tx store.Tx) (rules.Worker, error) {
	if p.seen(&p.worker) != nil {
		return tx.LockWorker(ctx, p.req.Namespace, p.req.WorkerID)
	}
	return tx.ShareWorker(ctx, p.req.Namespace, p.req.WorkerID)
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
	c.run, c.task, c.activity = l.Run, l.Task, l.Activity
	if p.req.PollRequestID != "" {
		t.Eff.PollReceipts = []rules.PollReceipt{{
			Namespace: p.req.Namespace, WorkerID: worker.WorkerID, Kind: p.kind.kind,
			PollRequestID: p.req.PollRequestID, Binding: p.binding(), TaskID: l.Task.TaskID,
			Attempt: l.Task.AttemptCount, PruneAt: lease.Expires + receiptRetention,
		}}
	}
	if p.seen(&p.worker) != nil { // then the registration is locked for writing
		t.Eff.Seen = p.seen(worker)
	}
	return c
}
