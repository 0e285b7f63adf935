package runtime

import (
	"bytes"
	"context"

	"dwserver/runtime/rules"
	"dwserver/runtime/store"
)

// commandSpec is a control-plane command on a workflow before it is judged.
type commandSpec struct {
	target    *Target
	kind      string // signal, cancel or terminate
	name      string // signal name, "" otherwise
	reason    string
	requestID string
	digest    []byte
}

// command runs a control-plane command under the run's lock (control-plane.md 4): the target, the
// request_id's repeats, then judge, which refuses or returns the effects of the accepted command.
// A rejected command is recorded too.
func (e *Engine) command(ctx context.Context, spec *commandSpec,
	judge func(ctx context.Context, tx store.Tx, l *store.Locked, c *rules.Command) (*rules.Effects, *Refusal, error)) (CommandResult, error) {
	var result CommandResult
	var kept *Refusal
	err := e.transition(ctx, func(ctx context.Context, tx store.Tx) (*rules.Effects, error) {
		result, kept = CommandResult{}, nil
		l, err := e.lockTarget(ctx, tx, spec.target)
		if err != nil {
			return nil, err
		}
		if repeated, err := repeatedCommand(ctx, tx, spec, l, &result); repeated || err != nil {
			return nil, err
		}
		c := e.newCommand(spec, l)
		eff, refusal, err := judge(ctx, tx, l, c)
		if err != nil {
			return nil, err
		}
		if refusal != nil {
			kept = refusal
			return rejectCommand(l, c, refusal), nil
		}
		if eff == nil {
			result = CommandResult{Command: *c, Run: l.Run, Preview: true}
			return nil, nil
		}
		eff.NewCommands = append(eff.NewCommands, *c)
		spec.bind(c, eff)
		result = CommandResult{Command: *c, Run: l.Run}
		return eff, nil
	})
	if err == nil && kept != nil {
		err = kept
	}
	return result, err
}

// lockTarget locks the current run of the target's workflow. Workflows of other namespaces do not exist.
func (e *Engine) lockTarget(ctx context.Context, tx store.Tx, target *Target) (*store.Locked, error) {
	l, err := tx.LockCurrentRun(ctx, target.WorkflowID)
	if isNotFound(err) || err == nil && l.Instance.Namespace != target.Namespace {
		return nil, instanceNotFound(target)
	}
	if err != nil {
		return nil, err
	}
	if target.RunID == "" || target.RunID == l.Run.RunID {
		return l, nil
	}
	return nil, refuse("historical_run_command_rejected", "The run is not the workflow's current run.").
		With("workflow_id", target.WorkflowID).With("run_id", target.RunID).With("target_scope", "run").
		With("requested_run_id", target.RunID).With("resolved_run_id", l.Run.RunID)
}

func instanceNotFound(target *Target) *Refusal {
	return refuse("instance_not_found", "There is no such workflow.").With("workflow_id", target.WorkflowID)
}

// repeatedCommand answers a request_id that was seen before (settled.md, Repeats).
func repeatedCommand(ctx context.Context, tx store.Tx, spec *commandSpec, l *store.Locked, result *CommandResult) (bool, error) {
	if spec.requestID == "" {
		return false, nil
	}
	c, err := seenRequest(ctx, tx, &rules.CommandRequest{
		WorkflowID: l.Run.WorkflowID, CommandType: spec.kind, TargetName: spec.name,
		RequestID: spec.requestID, BodyDigest: spec.digest,
	})
	if err != nil || c.CommandID == "" {
		return false, err
	}
	run, err := tx.GetRun(ctx, c.RunID)
	if err != nil {
		return false, err
	}
	*result = CommandResult{Command: c, Run: run, Repeated: true}
	return true, nil
}

// seenRequest finds the command that a request_id made, zero when it made none. Refusal:
// request_id_conflict when it was used with other content.
func seenRequest(ctx context.Context, tx store.Tx, key *rules.CommandRequest) (rules.Command, error) {
	seen, err := tx.GetCommandRequest(ctx, *key)
	if err != nil {
		return rules.Command{}, ignoreMissing(err)
	}
	c, err := tx.GetCommand(ctx, seen.CommandID)
	if err != nil {
		return c, err
	}
	if !bytes.Equal(seen.BodyDigest, key.BodyDigest) {
		return c, refuse("request_id_conflict", "The request id was used with other content.").
			With("workflow_id", c.WorkflowID).With("run_id", c.RunID).With("request_id", key.RequestID)
	}
	return c, nil
}

func (e *Engine) newCommand(spec *commandSpec, l *store.Locked) *rules.Command {
	l.Run.LastCommandSequence++
	return &rules.Command{
		CommandID: e.ids.New(), WorkflowID: l.Run.WorkflowID, RunID: l.Run.RunID, Namespace: l.Run.Namespace,
		Sequence: l.Run.LastCommandSequence, Type: spec.kind, TargetName: spec.name, RequestID: spec.requestID,
		Status: "accepted", Reason: spec.reason, AcceptedAt: e.now(),
	}
}

// bind ties the request_id to the command it made.
func (s *commandSpec) bind(c *rules.Command, eff *rules.Effects) {
	if s.requestID != "" {
		eff.NewRequests = append(eff.NewRequests, rules.CommandRequest{
			WorkflowID: c.WorkflowID, CommandType: s.kind, TargetName: s.name, RequestID: s.requestID,
			CommandID: c.CommandID, BodyDigest: s.digest,
		})
	}
}

// rejectCommand records a rejected command; it changes nothing else of the run.
func rejectCommand(l *store.Locked, c *rules.Command, r *Refusal) *rules.Effects {
	c.Status, c.RejectionReason = "rejected", r.Reason
	if outcome, ok := r.Fields["outcome"].(string); ok {
		c.Outcome = outcome
	}
	run := l.Run
	r.Command, r.Run = c, &run
	return &rules.Effects{
		Run: &run, RunBase: run.LastHistorySequence, NewCommands: []rules.Command{*c},
	}
}

// notActive refuses a command on a closed run.
func notActive(run *rules.Run) *Refusal {
	return refuse("run_not_active", "The run is not active.").With("outcome", "rejected_not_active").
		With("run_status", run.Status).With("is_terminal", true)
}
