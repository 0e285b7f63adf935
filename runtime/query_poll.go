package runtime

import (
	"context"
	"time"

	"dwserver/runtime/rules"
	"dwserver/runtime/store"
	"dwserver/runtime/wake"
)

// PollQueryTask waits up to the request's timeout for a query to answer (5.9). The server asks none yet: the
// answer is empty, or workflow_task_pending as soon as a workflow task is there for this worker that nobody
// waits for. A newer poll of the worker ends an older one. Refusals: as PollWorkflowTask, without the build.
func (e *Engine) PollQueryTask(ctx context.Context, req PollRequest) (PollResult, error) {
	p, err := e.admit(ctx, &workflowPoll, &req)
	if err != nil {
		return PollResult{}, err
	}
	hold := p.holdTime()
	if len(p.types) == 0 {
		return p.withoutTypes(ctx, hold)
	}
	if err := p.heard(ctx); err != nil {
		return PollResult{}, err
	}
	deadline, stop := e.clock.After(hold)
	defer stop()
	return p.waitForQuery(ctx, deadline)
}

// waitForQuery holds a query poll. It stands behind every poll for workflow tasks: only a task that none of
// them takes ends it.
func (p *poll) waitForQuery(ctx context.Context, deadline <-chan time.Time) (PollResult, error) {
	held := p.held()
	held.Kind = wake.KindQuery
	p.hub.Replace(held)
	w := p.hub.Wait(held)
	defer p.hub.Leave(w, "", nil)
	for {
		pending, err := p.workflowTaskPending(ctx)
		switch {
		case err != nil:
			return PollResult{}, err
		case pending:
			return p.empty(PollWorkflowTaskPending), nil
		}
		switch reason, err := p.next(ctx, w, deadline); {
		case err != nil:
			return PollResult{}, err
		case reason == wake.Worked:
			return p.empty(PollWorkflowTaskPending), nil
		case reason == wake.Superseded:
			return p.empty(PollStaleRegistration), nil
		case reason == wake.Drained:
			return p.empty(PollEmpty), nil
		}
	}
}

// workflowTaskPending reports whether a workflow task is ready for the worker, and the worker has none in
// hand: one that is busy would come back at once, again and again.
func (p *poll) workflowTaskPending(ctx context.Context) (bool, error) {
	if _, err := p.store.ReadHead(ctx, p.claimFilter(&p.worker)); err != nil {
		return false, ignoreMissing(err)
	}
	var held int64
	err := p.transition(ctx, func(ctx context.Context, tx store.Tx) (_ *rules.Effects, err error) {
		held, err = tx.CountLeases(ctx, p.req.Namespace, p.req.WorkerID, rules.KindWorkflow, p.now())
		return nil, err
	})
	return held == 0, err
}
