package runtime

import (
	"context"

	"dwserver/runtime/rules"
	"dwserver/runtime/store"
)

// FailWorkflowTask records that a worker could not run a workflow task, or waits for history
// (5.5, commands-and-history.md 8.3). The run itself does not fail. Refusals: the fence's reasons.
func (e *Engine) FailWorkflowTask(ctx context.Context, req FailWorkflowTaskRequest) (FailWorkflowTaskResult, error) {
	report := rules.WorkflowFailureReport{Message: req.Message, Type: req.Type, Reason: req.Reason}
	var result FailWorkflowTaskResult
	var kept *Refusal
	err := e.transition(ctx, func(ctx context.Context, tx store.Tx) (*rules.Effects, error) {
		kept = nil
		l, err := e.lockWorkflowTask(ctx, tx, &req.WorkflowFence)
		if err != nil {
			return nil, err
		}
		eff, refusal, err := e.reportedTask(ctx, tx, &req.WorkflowFence, l)
		if refusal != nil || err != nil {
			kept = refusal
			return eff, err
		}
		waits, err := loadWaits(ctx, tx, &l.Run)
		if err != nil {
			return nil, err
		}
		t := e.begin(ctx, tx, l)
		if report.IsWaiting() {
			result = FailWorkflowTaskResult{Outcome: "waiting_for_history", NextTaskID: t.AcknowledgeWaiting(&l.Task, &waits)}
		} else {
			result = FailWorkflowTaskResult{Outcome: "failed", NextTaskID: t.FailWorkflowTask(&l.Task, &report, &waits)}
		}
		return effects(t)
	})
	if err == nil && kept != nil {
		err = kept
	}
	return result, err
}
