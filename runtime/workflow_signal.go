package runtime

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"

	"dwserver/runtime/rules"
	"dwserver/runtime/store"
)

// reservedSignal carries message streams and is not for callers.
const reservedSignal = "__durable_workflow_message_stream"

// SignalWorkflow accepts a signal for the current run (control-plane.md 4, commands-and-history.md
// 6.5). Refusals: instance_not_found, historical_run_command_rejected, run_not_active,
// unknown_signal, invalid_signal_arguments, runtime_reserved_signal, structural_limit_exceeded,
// request_id_conflict.
func (e *Engine) SignalWorkflow(ctx context.Context, req SignalRequest) (CommandResult, error) {
	spec := &commandSpec{
		target: &req.Target, kind: "signal", name: req.Name, requestID: req.RequestID, digest: req.BodyDigest,
	}
	return e.command(ctx, spec, func(ctx context.Context, tx store.Tx, l *store.Locked, c *rules.Command) (*rules.Effects, *Refusal, error) {
		r, err := e.checkSignal(ctx, tx, &req, &l.Run)
		if r != nil || err != nil {
			return nil, r, err
		}
		c.Outcome = "signal_received"
		if req.DryRun {
			c.Outcome, c.Status = "signal_preview", "preview"
			return nil, nil, nil
		}
		t := e.begin(ctx, tx, l)
		if t.DeadlinePassed() { // the deadline closes the run; the signal finds it closed
			return nil, notActive(&l.Run), nil
		}
		waits, err := loadSignalWaits(ctx, tx, &l.Run, req.Name)
		if err != nil {
			return nil, nil, err
		}
		t.AcceptSignal(c, req.Arguments, &waits)
		eff, err := effects(t)
		return eff, nil, err
	})
}

// loadSignalWaits loads what decides where a signal goes: nothing when no wait is open. Signals that were
// received before matter where one of them may have the signal's wait, or comes first for a run that is to
// be woken; there can be thousands of them.
func loadSignalWaits(ctx context.Context, tx store.Tx, run *rules.Run, name string) (rules.Waits, error) {
	var waits rules.Waits
	var err error
	if run.OpenWaits == 0 {
		return waits, nil
	}
	if waits.Open, err = tx.ListOpenWaits(ctx, run.RunID); err != nil || run.PendingSignals == 0 {
		return waits, err
	}
	for i := range waits.Open {
		w := &waits.Open[i]
		if w.Kind == rules.WaitSignal && w.Name == name || w.Kind == rules.WaitCondition && run.WorkflowTaskID == "" {
			waits.Signals, err = tx.ListReceivedSignals(ctx, run.RunID)
			break
		}
	}
	return waits, err
}

func (e *Engine) checkSignal(ctx context.Context, tx store.Tx, req *SignalRequest, run *rules.Run) (*Refusal, error) {
	limit := e.opt.Limits
	n := rules.PayloadSize(req.Arguments)
	switch {
	case run.IsClosed():
		return notActive(run), nil
	case req.Name == reservedSignal:
		return refuse("runtime_reserved_signal", "The signal name is reserved.").With("outcome", "rejected_invalid_arguments"), nil
	case limit.PayloadBytes > 0 && n > limit.PayloadBytes:
		return rules.LimitExceeded("payload_size", n, limit.PayloadBytes), nil
	case limit.PendingSignals > 0 && run.PendingSignals+1 > limit.PendingSignals:
		return rules.LimitExceeded("pending_signal_count", run.PendingSignals+1, limit.PendingSignals), nil
	}
	definition, err := tx.GetDefinition(ctx, run.Namespace, run.WorkflowType)
	if isNotFound(err) {
		return nil, nil // no worker has declared the type: anything goes
	}
	if err != nil {
		return nil, err
	}
	return judgeSignal(&definition, req)
}

// signalContract is what a workflow type declares about its signals.
type signalContract struct {
	Signals   []string `json:"signals"`
	Contracts []struct {
		Name       string `json:"name"`
		Parameters []struct {
			Name     string `json:"name"`
			Required bool   `json:"required"`
			Variadic bool   `json:"variadic"`
		} `json:"parameters"`
	} `json:"signal_contracts"`
}

// judgeSignal checks a signal's name and number of arguments against the declared contract.
func judgeSignal(definition *rules.Definition, req *SignalRequest) (*Refusal, error) {
	var declared signalContract
	if len(definition.Contract) == 0 {
		return nil, nil
	}
	if err := json.Unmarshal(definition.Contract, &declared); err != nil {
		return nil, err
	}
	if declared.Signals == nil {
		return nil, nil
	}
	if !slices.Contains(declared.Signals, req.Name) {
		return refuse("unknown_signal", "The workflow declares no such signal.").
			With("outcome", "rejected_unknown_signal").With("declared_signals", declared.Signals).
			With("signal_admission", "declared_contract").With("command_contract_source", "worker_registration"), nil
	}
	for _, c := range declared.Contracts {
		if c.Name != req.Name || req.ArgumentCount < 0 {
			continue
		}
		missing, variadic := map[string][]string{}, false
		for i, p := range c.Parameters {
			variadic = variadic || p.Variadic
			if p.Required && !p.Variadic && i >= req.ArgumentCount {
				missing[p.Name] = []string{"The " + p.Name + " argument is required."}
			}
		}
		if !variadic && req.ArgumentCount > len(c.Parameters) {
			missing["input"] = []string{"At most " + strconv.Itoa(len(c.Parameters)) + " arguments are accepted."}
		}
		if len(missing) > 0 {
			r := refuse("invalid_signal_arguments", "The signal's arguments do not fit its declaration.").
				With("outcome", "rejected_invalid_arguments")
			r.Errors = missing
			return r, nil
		}
	}
	return nil, nil
}
