package runtime

import (
	"context"

	"dwserver/runtime/rules"
	"dwserver/runtime/store"
)

// HeartbeatWorkflowTask renews a workflow task's lease (5.3). Refusals: the fence's reasons.
func (e *Engine) HeartbeatWorkflowTask(ctx context.Context, f WorkflowFence) (WorkflowHeartbeatResult, error) {
	var result WorkflowHeartbeatResult
	var kept *Refusal
	var owner rules.Worker
	err := e.transition(ctx, func(ctx context.Context, tx store.Tx) (*rules.Effects, error) {
		kept = nil
		l, err := e.lockWorkflowTask(ctx, tx, &f)
		if err != nil {
			return nil, err
		}
		eff, refusal, err := e.heldTask(ctx, tx, &f, l)
		if refusal != nil || err != nil {
			kept = refusal
			return eff, err
		}
		l.Task.LeaseExpiresAt = e.now() + e.opt.WorkflowTaskTimeout.Microseconds()
		result = WorkflowHeartbeatResult{
			LeaseExpiresAt: l.Task.LeaseExpiresAt, RunStatus: l.Run.Status, TaskStatus: l.Task.Status,
		}
		owner = l.Owner
		return &rules.Effects{Tasks: []rules.Task{l.Task}}, nil
	})
	if err == nil && kept != nil {
		err = kept
	}
	if err == nil {
		err = e.touch(ctx, &owner)
	}
	return result, err
}

// WorkflowTaskHistory returns the page of history after a sequence that the caller's claim covers
// (5.2). It reads committed state only. Refusals: the fence's reasons.
func (e *Engine) WorkflowTaskHistory(ctx context.Context, req WorkflowHistoryRequest) (HistoryPage, error) {
	task, err := e.store.ReadTask(ctx, req.TaskID)
	if isNotFound(err) || err == nil && (task.Namespace != req.Namespace || task.Kind != rules.KindWorkflow) {
		return HistoryPage{}, rejected(&req.WorkflowFence, refuse("task_not_found", "There is no such workflow task."))
	}
	if err != nil {
		return HistoryPage{}, err
	}
	run, err := e.store.ReadRun(ctx, task.RunID)
	if err != nil {
		return HistoryPage{}, err
	}
	owner, err := e.store.ReadWorker(ctx, task.Namespace, task.LeaseOwner)
	if err != nil && !isNotFound(err) {
		return HistoryPage{}, err
	}
	in := rules.FenceInput{
		Run: &run, Task: &task, Owner: &owner, LeaseOwner: req.LeaseOwner, Attempt: req.Attempt,
		Now: e.now(), StaleAfter: e.opt.WorkerStaleAfter.Microseconds(),
	}
	if r, _ := in.Workflow(); r != nil {
		return HistoryPage{}, rejected(&req.WorkflowFence, r)
	}
	return historyPage(ctx, e.store, &run, &task, req.After, req.PageSize)
}
