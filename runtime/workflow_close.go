package runtime

import (
	"context"

	"dwserver/runtime/rules"
	"dwserver/runtime/store"
)

// CancelWorkflow closes the current run as cancelled, at once (control-plane.md 4,
// commands-and-history.md 6.9). Refusals: instance_not_found,
// historical_run_command_rejected, run_not_active, request_id_conflict.
func (e *Engine) CancelWorkflow(ctx context.Context, req CloseRequest) (CommandResult, error) {
	return e.closeByCommand(ctx, "cancel", rules.RunCancelled, &req)
}

// TerminateWorkflow closes the current run as terminated; as CancelWorkflow.
func (e *Engine) TerminateWorkflow(ctx context.Context, req CloseRequest) (CommandResult, error) {
	return e.closeByCommand(ctx, "terminate", rules.RunTerminated, &req)
}

func (e *Engine) closeByCommand(ctx context.Context, kind, outcome string, req *CloseRequest) (CommandResult, error) {
	spec := &commandSpec{
		target: &req.Target, kind: kind, reason: req.Reason, requestID: req.RequestID, digest: req.BodyDigest,
	}
	return e.command(ctx, spec, func(ctx context.Context, tx store.Tx, l *store.Locked, c *rules.Command) (*rules.Effects, *Refusal, error) {
		if l.Run.IsClosed() {
			return nil, notActive(&l.Run), nil
		}
		open, err := loadOpen(ctx, tx, l)
		if err != nil {
			return nil, nil, err
		}
		c.Outcome, c.AppliedAt = outcome, c.AcceptedAt
		t := e.begin(ctx, tx, l)
		t.CloseByCommand(c, open)
		eff, err := effects(t)
		return eff, nil, err
	})
}
