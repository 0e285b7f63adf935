package handlers

import (
	"encoding/json"
	"fmt"

	"dwserver/gen/control"
	"dwserver/handlers/avro"
	"dwserver/runtime"
	"dwserver/runtime/rules"
)

// description shows a run as describe answers do (control-plane.md 3).
func description(d *runtime.Description) (*control.WorkflowDescription, error) {
	run := &d.Run
	pin := fleetOf(run)
	waiting := waitOf(d)
	current := d.Instance.CurrentRunID == run.RunID
	out := &control.WorkflowDescription{
		WorkflowID: run.WorkflowID, RunID: run.RunID, Namespace: run.Namespace, WorkflowType: run.WorkflowType,
		BusinessKey: orNil(run.BusinessKey), Status: control.RunStatus(run.Status), StatusBucket: bucket(run.Status),
		IsTerminal: run.IsClosed(), ClosedReason: orNil(run.ClosedReason), TaskQueue: run.TaskQueue,
		RunNumber: int(run.RunNumber), RunCount: int(d.Instance.RunCount), IsCurrentRun: current,
		Compatibility: pin.pin, CompatibilityStatus: pin.status, CompatibilitySupportedInFleet: pin.supported,
		CompatibilityFleetReason: pin.reason, PayloadCodec: avro.Codec,
		ExecutionTimeoutSeconds: positiveOrNull(run.ExecutionTimeout), RunTimeoutSeconds: positiveOrNull(run.RunTimeout),
		ExecutionDeadlineAt: instantOrNull(run.ExecutionDeadlineAt), RunDeadlineAt: instantOrNull(run.RunDeadlineAt),
		StartedAt: rules.FormatTime(run.StartedAt), ClosedAt: instantOrNull(run.ClosedAt),
		LastProgressAt: instantOrNull(run.LastProgressAt), WaitKind: orNil(waiting.kind), WaitReason: orNil(waiting.reason),
		Memo: objectOrEmpty(d.Input.Memo), SearchAttributes: objectOrEmpty(d.Input.SearchAttributes),
		Actions:       actionsOn(run, current),
		CommandsScope: "selected_run", Commands: commandRows(d.Commands),
		UpdatesScope: "selected_run", Updates: []*control.FreeObject{},
	}
	var err error
	if out.Input, out.InputEnvelope, err = shownPayload(d.Input.Arguments); err != nil {
		return nil, err
	}
	return out, showClose(d, out)
}

// actionsOn says which commands a run takes. Queries, updates, repair and archive are not served.
func actionsOn(run *rules.Run, current bool) control.WorkflowActions {
	open := current && !run.IsClosed()
	return control.WorkflowActions{CanSignal: open, CanCancel: open, CanTerminate: open}
}

// showClose adds what the event that closed the run tells: its output, or why it failed.
func showClose(d *runtime.Description, out *control.WorkflowDescription) error {
	if d.CloseEvent == nil {
		return nil
	}
	if d.Run.Status == rules.RunFailed {
		return showFailure(d, out)
	}
	var closing struct {
		Output json.RawMessage `json:"output"`
	}
	if err := json.Unmarshal(d.CloseEvent.Payload, &closing); err != nil {
		return fmt.Errorf("closing event of run %s: %w", d.Run.RunID, err)
	}
	var err error
	out.Output, out.OutputEnvelope, err = shownPayload(closing.Output)
	return err
}

// shownPayload is a stored payload as its preview and its envelope; both are null for none. The blob is
// shown as it was stored.
func shownPayload(stored []byte) (shown, envelope json.RawMessage, err error) {
	envelope = rules.Envelope(stored)
	if envelope == nil {
		return nil, nil, nil
	}
	var payload struct {
		Blob string `json:"blob"`
	}
	if err := json.Unmarshal(envelope, &payload); err != nil {
		return nil, nil, fmt.Errorf("stored payload: %w", err)
	}
	return avro.PreviewBlob(payload.Blob), envelope, nil
}

// commandRows shows the commands a run has received, in order.
func commandRows(commands []rules.Command) []*control.FreeObject {
	rows := make([]*control.FreeObject, 0, len(commands))
	for i := range commands {
		c := &commands[i]
		row := control.FreeObject(rules.NewObject(384).Str("command_id", c.CommandID).Int("command_sequence", c.Sequence).
			Str("command_type", c.Type).Str("target_name", c.TargetName).Str("target_scope", "instance").
			Str("command_source", commandSource).Str("command_status", c.Status).Str("outcome", c.Outcome).
			Str("rejection_reason", c.RejectionReason).Str("reason", c.Reason).Str("request_id", c.RequestID).
			Time("accepted_at", c.AcceptedAt).Time("applied_at", c.AppliedAt).Bytes())
		rows = append(rows, &row)
	}
	return rows
}
