package runtime

import (
	"context"
	"errors"

	"dwserver/runtime/rules"
	"dwserver/runtime/store"
)

// Outcomes of a start (control-plane.md 3).
const (
	StartedNew     = "started_new"
	ReturnedActive = "returned_existing_active"
)

// startTries is how often a start that lost a race for its id looks at the winner.
const startTries = 3

// StartWorkflow starts the first run of a workflow id, or finds its open run where the request says
// use-existing. Refusals: duplicate_not_allowed, workflow_id_reserved_in_namespace,
// structural_limit_exceeded, request_id_conflict.
func (e *Engine) StartWorkflow(ctx context.Context, req StartRequest) (StartResult, error) {
	if r := e.checkStart(&req); r != nil {
		return StartResult{}, r
	}
	key := startKey(&req)
	if req.WorkflowID == "" {
		req.WorkflowID = e.ids.New()
	}
	for try := 1; ; try++ {
		result, err := e.startOnce(ctx, &req, key)
		if try < startTries && errors.Is(err, store.ErrConflict) {
			continue // another start took the id meanwhile; now it is there to be judged
		}
		return result, err
	}
}

func (e *Engine) checkStart(req *StartRequest) *Refusal {
	limit := e.opt.Limits
	if n := rules.PayloadSize(req.Arguments); limit.PayloadBytes > 0 && n > limit.PayloadBytes {
		return rules.LimitExceeded("payload_size", n, limit.PayloadBytes)
	}
	if n := int64(len(req.Memo)); limit.MemoBytes > 0 && n > limit.MemoBytes {
		return rules.LimitExceeded("memo_size", n, limit.MemoBytes)
	}
	if n := int64(len(req.SearchAttributes)); limit.SearchAttributeBytes > 0 && n > limit.SearchAttributeBytes {
		return rules.LimitExceeded("search_attribute_size", n, limit.SearchAttributeBytes)
	}
	return nil
}

// startKey is the scope of a start's request_id. Without a workflow id it is the namespace, in a form
// that no workflow id has.
func startKey(req *StartRequest) rules.CommandRequest {
	scope := req.WorkflowID
	if scope == "" {
		scope = "/" + req.Namespace
	}
	return rules.CommandRequest{
		WorkflowID: scope, CommandType: "start", TargetName: req.WorkflowType,
		RequestID: req.RequestID, BodyDigest: req.BodyDigest,
	}
}

func (e *Engine) startOnce(ctx context.Context, req *StartRequest, key rules.CommandRequest) (StartResult, error) {
	var result StartResult
	err := e.transition(ctx, func(ctx context.Context, tx store.Tx) (*rules.Effects, error) {
		tx.Expect(store.Expected{Namespace: req.Namespace, Starts: req.WorkflowType})
		if repeated, err := repeatedStart(ctx, tx, req.Namespace, key, &result); repeated || err != nil {
			return nil, err
		}
		found, taken, err := e.existing(ctx, tx, req)
		if err != nil {
			return nil, err
		}
		if found != nil || taken != nil {
			// The id may have been taken since the look above, by this very request.
			if repeated, err := repeatedStart(ctx, tx, req.Namespace, key, &result); repeated || err != nil {
				return nil, err
			}
			if taken != nil {
				return nil, taken
			}
			result = *found
			return nil, nil
		}
		definition, err := tx.GetDefinition(ctx, req.Namespace, req.WorkflowType)
		if err != nil && !isNotFound(err) {
			return nil, err
		}
		spec := e.startSpec(req, &definition)
		t := rules.Start(e.now(), e.ids.New, spec, *e.opt.Limits, e.startFairness(ctx, tx, spec))
		result = StartResult{Run: spec.Run, Outcome: StartedNew}
		if key.RequestID != "" {
			key.CommandID = t.Eff.NewCommands[0].CommandID
			t.Eff.NewRequests = append(t.Eff.NewRequests, key)
		}
		return effects(t)
	})
	return result, err
}

// repeatedStart answers a request_id that started a run before (settled.md, Repeats).
func repeatedStart(ctx context.Context, tx store.Tx, namespace string, key rules.CommandRequest, result *StartResult) (bool, error) {
	if key.RequestID == "" {
		return false, nil
	}
	c, err := seenRequest(ctx, tx, &key)
	if c.CommandID != "" && c.Namespace != namespace {
		return false, nil // another namespace's workflow: its id is reserved, and that is all there is to tell
	}
	if err != nil || c.CommandID == "" {
		return false, err
	}
	result.Outcome = StartedNew
	result.Run, err = tx.GetRun(ctx, c.RunID)
	return true, err
}

// existing judges a start against the workflow id's holder: the open run that answers it, or why the id
// is not to be had; neither when it is free.
func (e *Engine) existing(ctx context.Context, tx store.Tx, req *StartRequest) (found *StartResult, taken *Refusal, err error) {
	instance, err := tx.LockInstance(ctx, req.WorkflowID)
	if err != nil {
		return nil, nil, ignoreMissing(err)
	}
	if instance.Namespace != req.Namespace {
		return nil, refuse("workflow_id_reserved_in_namespace", "The workflow id is taken in another namespace.").
			With("outcome", "rejected_workflow_id_reserved_in_namespace").With("workflow_id", req.WorkflowID).
			With("command_status", "rejected"), nil
	}
	run, err := tx.GetRun(ctx, instance.CurrentRunID)
	if err != nil {
		return nil, nil, err
	}
	if req.UseExisting && !run.IsClosed() && run.WorkflowType == req.WorkflowType {
		return &StartResult{Run: run, Outcome: ReturnedActive}, nil, nil
	}
	return nil, refuse("duplicate_not_allowed", "The workflow id is already taken.").
		With("rejection_reason", "instance_already_started").With("outcome", "rejected_duplicate").
		With("command_status", "rejected").With("workflow_id", req.WorkflowID).With("run_id", run.RunID).
		With("workflow_type", run.WorkflowType).With("status", run.Status), nil
}

func (e *Engine) startSpec(req *StartRequest, definition *rules.Definition) *rules.StartSpec {
	now := e.now()
	run := rules.Run{
		RunID: e.ids.New(), WorkflowID: req.WorkflowID, Namespace: req.Namespace, RunNumber: 1,
		WorkflowType: req.WorkflowType, TaskQueue: req.TaskQueue, Status: rules.RunPending,
		Priority: req.Priority, FairnessKey: req.FairnessKey, FairnessWeight: req.FairnessWeight,
		Compatibility: req.Compatibility, BusinessKey: req.BusinessKey,
		ExecutionTimeout: req.ExecutionTimeout, RunTimeout: req.RunTimeout,
		StartedAt: now, LastProgressAt: now,
	}
	run.SetDeadlines(now, 0)
	return &rules.StartSpec{
		Run: run, Definition: *definition,
		Input: rules.RunInput{
			RunID: run.RunID, Arguments: req.Arguments, Memo: req.Memo, SearchAttributes: req.SearchAttributes,
			DefinitionPrint: definition.Fingerprint,
		},
	}
}

// startFairness reads where the new run's fairness key's backlog ends.
func (e *Engine) startFairness(ctx context.Context, tx store.Tx, spec *rules.StartSpec) func(*rules.Transition) func(queue, kind string) int64 {
	return func(t *rules.Transition) func(queue, kind string) int64 {
		return e.lastFairOrder(ctx, tx, &spec.Run, t)
	}
}
