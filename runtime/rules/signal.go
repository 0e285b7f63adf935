package rules

import (
	"bytes"
	"encoding/json"
)

// resumePayload says that a workflow task exists to apply a signal (6.5).
func (s *Signal) resumePayload() []byte {
	return NewObject(384).Str("workflow_wait_kind", "signal").Str("open_wait_id", "signal-application:"+s.SignalID).
		Str("resume_source_kind", "workflow_signal").Str("resume_source_id", s.SignalID).
		Str("workflow_signal_id", s.SignalID).Str("signal_name", s.Name).Str("signal_wait_id", s.WaitID).
		Str("workflow_command_id", s.CommandID).Int(signalEvent, s.ReceivedSequence).Bytes()
}

// signalEvent names, in a resume payload, the event that holds the signal's arguments.
const signalEvent = "signal_event_sequence"

// ResumeSignalEvent is the sequence of the SignalReceived event that a workflow task resumes on, 0 for none.
func ResumeSignalEvent(payload []byte) (int64, error) {
	if !bytes.Contains(payload, []byte(signalEvent)) {
		return 0, nil
	}
	var p struct {
		Sequence int64 `json:"signal_event_sequence"`
	}
	err := json.Unmarshal(payload, &p)
	return p.Sequence, err
}

// AcceptSignal records a signal as received and wakes the run when it is eligible and no workflow
// task is open; otherwise it is looked at again when the open task ends (6.5).
func (t *Transition) AcceptSignal(c *Command, arguments []byte, waits *Waits) {
	s := Signal{
		SignalID: t.NewID(), RunID: t.Run.RunID, WorkflowID: t.Run.WorkflowID, CommandID: c.CommandID,
		CommandSequence: c.Sequence, Name: c.TargetName, Arguments: arguments, Status: SignalReceived,
		CreatedAt: t.Now,
	}
	if w := waits.openByName(s.Name); w != nil {
		s.WaitID = w.WaitID
	} else {
		s.WaitID = "signal-command:" + c.CommandID
	}
	t.ByCommand(c)
	s.ReceivedSequence = t.Record("SignalReceived", 0, s.received(t.Run))
	t.Unattributed()
	t.Run.PendingSignals++
	t.Eff.NewSignals = append(t.Eff.NewSignals, s)
	waits.Signals = append(waits.Signals, s)
	t.wakeForSignal(waits)
}

// received is the payload of SignalReceived.
func (s *Signal) received(run *Run) *Object {
	return NewObject(768+len(s.Arguments)).Str("workflow_command_id", s.CommandID).Str("signal_id", s.SignalID).
		Str("workflow_instance_id", run.WorkflowID).Str("workflow_run_id", run.RunID).Str("signal_name", s.Name).
		Str("signal_wait_id", s.WaitID).Raw("arguments", s.Arguments).Str("payload_codec", "avro")
}

// wakeForSignal opens a task for the earliest eligible signal when no workflow task is open.
func (t *Transition) wakeForSignal(waits *Waits) {
	if t.Run.IsClosed() || t.Run.WorkflowTaskID != "" {
		return
	}
	if s := waits.eligible(); s != nil {
		t.addWorkflowTask(t.Run, s.resumePayload(), t.Now)
	}
}

// applySignal is what completing a signal-resume task writes ahead of the commands (6.5).
func (t *Transition) applySignal(id string, waits *Waits) {
	s := waits.signal(id)
	if s == nil {
		return
	}
	w := waits.signalWait(s)
	if w == nil && waits.newestCondition() == nil { // nothing waits for it any more: it stays for who will
		return
	}
	if w == nil {
		w = waits.newestMet()
	}
	s.Status, s.ClosedAt = SignalApplied, t.Now
	if w != nil {
		s.WorkflowSequence = w.Sequence
	}
	t.Run.PendingSignals--
	t.Eff.Signals = append(t.Eff.Signals, *s)
	t.Eff.Commands = append(t.Eff.Commands, Command{CommandID: s.CommandID, AppliedAt: t.Now})
	position := t.Run.MessagePosition
	t.Run.MessagePosition++
	t.Record("MessageCursorAdvanced", 0, NewObject(256).Str("stream_key", "instance:"+t.Run.WorkflowID).
		Int("previous_position", position).Int("new_position", position+1))
	if w != nil {
		t.satisfy(w, s, waits)
	}
}

// satisfy closes the wait that a signal resumes.
func (t *Transition) satisfy(w *Wait, s *Signal, waits *Waits) {
	w.Status, w.ClosedAt = WaitSatisfied, t.Now
	t.Run.OpenWaits--
	t.Eff.Waits = append(t.Eff.Waits, *w)
	timer := waits.timer(w)
	if w.Kind == WaitSignal {
		if timer != nil {
			t.cancelTimer(timer, w.keys())
		}
		member, value := t.signalValue(s.Arguments)
		t.Record("SignalApplied", w.Sequence, NewObject(512+len(s.Arguments)).Str("workflow_command_id", s.CommandID).
			Str("signal_id", s.SignalID).Str("signal_name", s.Name).Str("signal_wait_id", w.WaitID).
			Int("sequence", w.Sequence).Raw(member, value).Members(w.Parallel))
		return
	}
	t.Record("ConditionWaitSatisfied", w.Sequence, w.event().Str("timer_id", w.TimerID).
		Str("workflow_signal_id", s.SignalID).Str("signal_name", s.Name).Str("signal_wait_id", s.WaitID).
		Members(w.Parallel))
	if timer != nil {
		t.cancelTimer(timer, w.keys())
	}
}

// rejectSignals settles what was never applied, in the order of arrival (6.5).
func (t *Transition) rejectSignals(signals []Signal, reason string) {
	for i := range signals {
		s := &signals[i]
		if s.Status != SignalReceived {
			continue
		}
		s.Status, s.ClosedAt = SignalRejected, t.Now
		t.Run.PendingSignals--
		t.Record("SignalRejected", 0, NewObject(384).Str("workflow_command_id", s.CommandID).
			Str("signal_id", s.SignalID).Str("signal_name", s.Name).Str("signal_wait_id", s.WaitID).
			Str("rejection_reason", reason))
		t.Eff.Signals = append(t.Eff.Signals, *s)
	}
}

// resumesOnSignal is the signal that a task's payload says it resumes on, "" for none. A payload that
// does not decode fails the transition.
func (t *Transition) resumesOnSignal(payload []byte) string {
	t.intact(payload)
	if len(payload) < 3 {
		return ""
	}
	var p struct {
		Source string `json:"resume_source_kind"`
		Signal string `json:"workflow_signal_id"`
	}
	if err := json.Unmarshal(payload, &p); err != nil {
		t.Fail(err)
	}
	if p.Source != "workflow_signal" {
		return ""
	}
	return p.Signal
}

// signalValue is what SignalApplied carries: as "value" the one argument, or the list of several. SDKs that
// wait for argument lists take any other value for a list of one; where that would not give back what the
// signal brought, the event carries the list itself as "arguments".
func (t *Transition) signalValue(arguments []byte) (member string, value []byte) {
	if t.SignalValue == nil {
		return "value", arguments
	}
	if value = t.SignalValue(arguments); value == nil {
		return "arguments", arguments
	}
	return "value", value
}
