package runtime

import (
	"bytes"
	"context"
	"fmt"

	"dwserver/runtime/rules"
	"dwserver/runtime/store"
)

// CompleteWorkflowTask records a completion: all of its commands or none (5.4,
// commands-and-history.md 1). A repeat with equal content is answered without a second effect.
// Refusals: task_not_found, the fence's reasons, conflicting_completion, validation_failed,
// invalid_commands, structural_limit_exceeded, run_timed_out, the version gates' reasons.
func (e *Engine) CompleteWorkflowTask(ctx context.Context, req CompleteWorkflowTaskRequest) (CompleteWorkflowTaskResult, error) {
	if r := rules.CheckCommands(req.Commands, req.ProtocolMinor, *e.opt.Limits); r != nil {
		return CompleteWorkflowTaskResult{}, rejected(&req.WorkflowFence, r)
	}
	return admitted(func() (CompleteWorkflowTaskResult, error) { return e.completeCarrying(ctx, &req) })
}

// completeCarrying is CompleteWorkflowTask with its carried polls admitted.
func (e *Engine) completeCarrying(ctx context.Context, req *CompleteWorkflowTaskRequest) (CompleteWorkflowTaskResult, error) {
	admit := admission{Engine: e, namespace: req.Namespace, owner: req.LeaseOwner, report: req.TaskID}
	carried, err := admit.admitCarried(ctx, &req.Carriers)
	if err != nil {
		return CompleteWorkflowTaskResult{}, err
	}
	defer carried.end()
	var result CompleteWorkflowTaskResult
	var kept *Refusal // refused, with effects of its own
	err = carried.transact(ctx, e, func(ctx context.Context, tx *stage) error {
		result, kept = CompleteWorkflowTaskResult{}, nil
		carried.expect(tx)
		var eff *rules.Effects
		var err error
		if eff, kept, err = e.completeWorkflowTask(ctx, tx, req, &result); err != nil {
			return err
		}
		if err = tx.hold(ctx, eff); err != nil || carried == nil || !result.Recorded {
			return err
		}
		return carried.grant(ctx, tx)
	})
	if err == nil && kept != nil {
		err = kept
	}
	if err == nil && result.Recorded {
		carried.heard(ctx)
	}
	if result.Recorded {
		result.CarriedAnswers = carried.answers()
		result.LastHistorySequence = result.lastSequence(result.RunID, result.LastHistorySequence)
	}
	return result, err
}

// completeWorkflowTask decides a completion under the lock: what it writes, or a refusal that itself
// changes something. A refusal that changes nothing is the error.
func (e *Engine) completeWorkflowTask(ctx context.Context, tx store.Tx, req *CompleteWorkflowTaskRequest,
	result *CompleteWorkflowTaskResult) (*rules.Effects, *Refusal, error) {
	l, err := e.lockWorkflowTask(ctx, tx, &req.WorkflowFence)
	if err != nil {
		return nil, nil, err
	}
	if done, err := repeatedCompletion(req, l, result); done || err != nil {
		return nil, nil, err
	}
	eff, refusal, err := e.reportedTask(ctx, tx, &req.WorkflowFence, l)
	if refusal != nil || err != nil {
		return eff, refusal, err
	}
	r, err := rules.CheckGates(req.Commands, req.Extras, req.ProtocolMinor, &l.Owner)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", store.ErrBroken, err)
	}
	if r != nil {
		return nil, nil, rejected(&req.WorkflowFence, r)
	}
	in, err := e.completionInput(ctx, tx, req.Commands, req.BodyDigest, l)
	if err != nil {
		return nil, nil, err
	}
	t := e.begin(ctx, tx, l)
	out, r := t.CompleteWorkflowTask(in)
	if r != nil {
		return nil, nil, rejected(&req.WorkflowFence, r)
	}
	*result = CompleteWorkflowTaskResult{
		RunID: l.Run.RunID, RunStatus: l.Run.Status, CreatedTaskIDs: out.CreatedTaskIDs,
		Recorded: true, LastHistorySequence: l.Run.LastHistorySequence,
	}
	eff, err = effects(t)
	return eff, nil, err
}

// lockWorkflowTask locks the run of a fenced workflow task of the caller's namespace.
func (e *Engine) lockWorkflowTask(ctx context.Context, tx store.Tx, f *WorkflowFence) (*store.Locked, error) {
	l, err := tx.LockTask(ctx, rules.KindWorkflow, f.TaskID, "")
	if isNotFound(err) || err == nil && (l.Task.Namespace != f.Namespace || l.Task.Kind != rules.KindWorkflow) {
		return nil, rejected(f, refuse("task_not_found", "There is no such workflow task."))
	}
	return l, err
}

// repeatedCompletion answers a completion of a task that has a receipt (8.1). One of another owner or attempt is
// no repeat (worker-plane.md 5.4): its worker lost the task, and is told what the fence says of that.
func repeatedCompletion(req *CompleteWorkflowTaskRequest, l *store.Locked, result *CompleteWorkflowTaskResult) (bool, error) {
	if len(l.Task.Receipt) == 0 || l.Task.LeaseOwner != req.LeaseOwner || l.Task.AttemptCount != req.Attempt {
		return false, nil
	}
	if !bytes.Equal(l.Task.Receipt, req.BodyDigest) {
		return false, rejected(&req.WorkflowFence,
			refuse("conflicting_completion", "The workflow task was completed with other content.").
				With("task_status", l.Task.Status).With("run_id", l.Run.RunID).With("run_status", l.Run.Status))
	}
	*result = CompleteWorkflowTaskResult{
		RunID: l.Run.RunID, RunStatus: l.Run.Status, LastHistorySequence: l.Run.LastHistorySequence,
	}
	return true, nil
}

// reportedTask judges the fence of a completion or a failure under the lock. A refusal that also changes
// state (a lease or a deadline that has passed unnoticed) comes with its effects.
func (e *Engine) reportedTask(ctx context.Context, tx store.Tx, f *WorkflowFence, l *store.Locked) (*rules.Effects, *Refusal, error) {
	return e.fencedTask(ctx, tx, f, l, true)
}

// heldTask is reportedTask for a worker that only says that it still has the task.
func (e *Engine) heldTask(ctx context.Context, tx store.Tx, f *WorkflowFence, l *store.Locked) (*rules.Effects, *Refusal, error) {
	return e.fencedTask(ctx, tx, f, l, false)
}

func (e *Engine) fencedTask(ctx context.Context, tx store.Tx, f *WorkflowFence, l *store.Locked, report bool) (
	*rules.Effects, *Refusal, error) {
	in := rules.FenceInput{
		Run: &l.Run, Task: &l.Task, Owner: &l.Owner, LeaseOwner: f.LeaseOwner, Attempt: f.Attempt,
		Now: e.now(), StaleAfter: e.opt.WorkerStaleAfter.Microseconds(), Report: report,
	}
	r, expired := in.Workflow()
	switch {
	case r != nil && expired:
		eff, err := e.takeBack(ctx, tx, l)
		return eff, rejected(f, r), err
	case r != nil:
		return nil, nil, rejected(f, r)
	case e.begin(ctx, tx, l).DeadlinePassed():
		eff, err := e.timeOutRun(ctx, tx, l)
		if err != nil {
			return nil, nil, err
		}
		l.Task.Status = rules.TaskCancelled // as the effects write it
		r, _ := in.Workflow()
		return eff, rejected(f, r), nil
	}
	return nil, nil, nil
}

// completionInput loads what the commands of a batch need, and no more.
func (e *Engine) completionInput(ctx context.Context, tx store.Tx, commands []rules.WorkflowCommand, digest []byte,
	l *store.Locked) (*rules.CompletionInput, error) {
	in := &rules.CompletionInput{Task: &l.Task, Commands: commands, Digest: digest}
	var err error
	if rules.IsTerminal(commands) {
		if in.Open, err = loadOpen(ctx, tx, l); err != nil {
			return nil, err
		}
		in.Waits = *in.Open.Waits
		in.Open.Waits = &in.Waits
	} else if in.Waits, err = loadWaits(ctx, tx, &l.Run); err != nil {
		return nil, err
	}
	if from, to, ok := rules.ResentRange(commands); ok && from <= l.Run.LastStepSequence {
		if in.Steps, err = tx.ListSteps(ctx, l.Run.RunID, from, min(to, l.Run.LastStepSequence+1)); err != nil {
			return nil, err
		}
	}
	if n := len(commands); n > 0 && commands[n-1].Type == "continue_as_new" {
		if in.Input, err = tx.GetRunInput(ctx, l.Run.RunID); err != nil {
			return nil, err
		}
		if in.Instance, err = tx.GetInstance(ctx, l.Run.WorkflowID); err != nil {
			return nil, err
		}
	}
	return in, nil
}

// rejected gives a refusal the members every refused workflow-task request carries.
func rejected(f *WorkflowFence, r *Refusal) *Refusal {
	return r.With("task_id", f.TaskID).With("workflow_task_attempt", f.Attempt)
}
