package runtime

import (
	"context"
	"encoding/json"
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
	noType string                     // status of a worker that registered no type of this kind
	types  func(*rules.Worker) []byte // registered types of this kind, JSON list of strings
	limit  func(*rules.Worker) int64  // how many tasks of this kind the worker runs at once
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
		types: func(w *rules.Worker) []byte { return w.WorkflowTypes },
		limit: func(w *rules.Worker) int64 { return w.MaxWorkflowTasks },
	}
	activityPoll = pollKind{
		kind: rules.KindActivity, noType: PollNoActivityTypes,
		types: func(w *rules.Worker) []byte { return w.ActivityTypes },
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
	// From before the look at its receipt on, so that none is written unseen.
	alone := req.PollRequestID != "" && e.flights.enter(flightOf(kind, req), "") == nil
	if alone {
		defer e.flights.leave(flightOf(kind, req))
	}
	p, err := e.admit(ctx, kind, req)
	if err != nil {
		return PollResult{}, err
	}
	timeout := p.holdTime()
	if len(p.types) == 0 {
		return p.withoutTypes(ctx, timeout)
	}
	deadline, stop := e.clock.After(timeout)
	defer stop()
	if req.PollRequestID == "" {
		return p.wait(ctx, deadline, timeout > 0)
	}
	return p.once(ctx, deadline, timeout > 0, alone)
}

// holdTime is how long the poll may be held: as long as it asks for, or for a moment where nothing can come of it.
func (p *poll) holdTime() time.Duration {
	timeout := p.req.Timeout
	if timeout < 0 {
		timeout = p.opt.PollTimeout
	}
	if p.late = p.hub.Draining(); p.late || len(p.types) == 0 {
		timeout = min(timeout, capabilityHold)
	}
	return timeout
}

// poll is one held poll.
type poll struct {
	*Engine
	kind   *pollKind
	req    *PollRequest
	worker rules.Worker // snapshot of the registration it was admitted with
	types  []string
	ended  *rules.PollReceipt // what the poll request id was bound to before; nil for nothing
	era    uint64             // supersessions before the registration was read
	// crowded says that the last look found tasks, all in others' hands: no wake will come for one given up.
	crowded bool
	late    bool // came after the drain began: held for a moment, so that its worker does not spin
}

// newPoll is a poll of a registered worker.
func (e *Engine) newPoll(kind *pollKind, req *PollRequest, worker *rules.Worker) (*poll, error) {
	types, err := e.lists.of(kind.types(worker))
	return &poll{Engine: e, kind: kind, req: req, worker: *worker, types: types}, err
}

// heard stores that the worker was heard from, if that is due. A replay does not: it opens no write
// transaction (carried-polls.md 5).
func (p *poll) heard(ctx context.Context) error {
	err := p.touch(ctx, &p.worker)
	if seen := p.seen(&p.worker); seen != nil {
		p.worker.LastSeenAt = seen.At
	}
	return err
}

// readPoll reads a poll's registration, with the receipt of one that named itself.
func (e *Engine) readPoll(ctx context.Context, kind *pollKind, req *PollRequest) (rules.Worker, *rules.PollReceipt, error) {
	if req.PollRequestID == "" {
		worker, err := e.store.ReadWorker(ctx, req.Namespace, req.WorkerID)
		return worker, nil, err
	}
	return e.store.ReadPoll(ctx, store.PollKey{
		Namespace: req.Namespace, WorkerID: req.WorkerID, Kind: kind.kind, PollRequestID: req.PollRequestID,
	})
}

// admit is 5.1's admission, in its order.
func (e *Engine) admit(ctx context.Context, kind *pollKind, req *PollRequest) (*poll, error) {
	era := e.hub.Superseded()
	worker, receipt, err := e.readPoll(ctx, kind, req)
	if isNotFound(err) {
		return nil, refuse("worker_not_registered", "The worker is not registered.").With("worker_id", req.WorkerID)
	}
	if err != nil {
		return nil, err
	}
	p, err := e.newPoll(kind, req, &worker)
	if err != nil {
		return nil, err
	}
	p.era, p.ended = era, receipt
	switch {
	case worker.TaskQueue != req.TaskQueue:
		return nil, refuse("task_queue_mismatch", "The worker is registered for another task queue.").
			With("registered_task_queue", worker.TaskQueue).With("requested_task_queue", req.TaskQueue)
	case req.BuildID != "" && worker.BuildID != "" && req.BuildID != worker.BuildID:
		return nil, refuse("build_id_mismatch", "The worker is registered with another build id.").
			With("registered_build_id", worker.BuildID).With("requested_build_id", req.BuildID)
	case worker.Status == rules.WorkerDraining:
		return nil, drainingRefusal(&worker)
	case len(p.types) > 0 && slices.Contains(req.TaskKinds, "update_validation"):
		return nil, refuse("update_validation_capability_not_advertised",
			"Update validation tasks are not available.").With("poll_status", "unsupported").With("task", nil)
	}
	return p, nil
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

// held is the poll as one that waits.
func (p *poll) held() wake.Poll {
	return wake.Poll{
		Key:      wake.Key{Namespace: p.req.Namespace, TaskQueue: p.req.TaskQueue, Kind: p.kind.kind},
		WorkerID: p.worker.WorkerID, Types: p.types, BuildID: p.worker.BuildID, ProtocolMinor: p.req.ProtocolMinor,
	}
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
