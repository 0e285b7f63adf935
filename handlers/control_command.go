package handlers

import (
	"crypto/sha256"
	"errors"
	"maps"

	"dwserver/gen/control"
	"dwserver/runtime"
	"dwserver/runtime/rules"
)

// emptyList is the JSON of a list without elements.
var emptyList = []byte("[]")

// target is the workflow, and in the run-targeted forms the run, that a path names.
func (x *exchange) target() runtime.Target {
	return runtime.Target{Namespace: x.namespace, WorkflowID: x.path["workflow_id"], RunID: x.path["run_id"]}
}

// bindCommand reads a command's body.
func (x *exchange) bindCommand(body any) error { return x.unlessMissing(x.bind(body)) }

// unlessMissing answers a refused request with the missing workflow where that is missing too: the
// object of the path comes before the body (control-plane.md 1.3). A good request needs no look-up of
// its own.
func (x *exchange) unlessMissing(err error) error {
	target := x.target()
	target.RunID = "" // commands refuse another run than the current one themselves
	return unless(err, func() error {
		_, missing := x.s.engine.ListRuns(x.context(), target)
		return missing
	})
}

// unless replaces a refusal by what look finds wrong.
func unless(err error, look func() error) error {
	var refused *runtime.Refusal
	if !errors.As(err, &refused) {
		return err
	}
	if missing := look(); missing != nil {
		return missing
	}
	return err
}

// digest is the SHA-256 of what a command asks for: equal for repeats of the same request.
func digest(content []byte) []byte {
	sum := sha256.Sum256(content)
	return sum[:]
}

// commandReply has the members of every answer about a recorded command, accepted or rejected
// (control-plane.md 4). Run-targeted forms are recorded, and answered, as instance commands.
func commandReply(command *rules.Command, run *rules.Run) control.CommandReply {
	reason := command.Reason
	if command.RejectionReason != "" {
		reason = command.RejectionReason
	}
	return control.CommandReply{
		WorkflowID: command.WorkflowID, RunID: orNil(run.RunID), ResolvedRunID: orNil(run.RunID),
		CommandID: command.CommandID, CommandSequence: positiveOrNull(command.Sequence),
		TargetScope: control.CommandReplyTargetScopeInstance, WorkflowType: orNil(run.WorkflowType),
		CommandStatus: control.CommandReplyCommandStatus(command.Status), CommandSource: commandSource,
		Outcome: control.CommandReplyOutcome(command.Outcome), Reason: orNil(reason),
		RejectionReason: orNil(command.RejectionReason), ValidationErrors: emptyList,
	}
}

// rejectedOutcomes are the outcomes of rejected commands (commands-and-history.md 6.1); a reason that is
// not here is no rejection of a command but an ordinary refusal.
var rejectedOutcomes = map[string]string{
	"duplicate_not_allowed":             "rejected_duplicate",
	"workflow_id_reserved_in_namespace": "rejected_workflow_id_reserved_in_namespace",
	"task_queue_draining":               "rejected_task_queue_draining",
	"compatibility_blocked":             "rejected_compatibility_blocked",
	"request_id_conflict":               "rejected_request_id_conflict",
	"run_not_active":                    "rejected_not_active",
	"instance_not_started":              "rejected_not_started",
	"selected_run_not_current":          "rejected_not_current",
	"historical_run_command_rejected":   "rejected_not_current",
	"configured_workflow_type_invalid":  "rejected_configured_workflow_type",
	"runtime_reserved_signal":           "rejected_invalid_arguments",
	"history_sequence_exhausted":        "rejected_history_exhausted",
	"unknown_signal":                    "rejected_unknown_signal",
	"invalid_signal_arguments":          "rejected_invalid_arguments",
}

// rejected adds to a refused command the members that tell what became of it (control-plane.md 4). One
// that was recorded as rejected is shown like an accepted one. The engine's own members win.
func (x *exchange) rejected(err error) error {
	var refused *runtime.Refusal
	if !errors.As(err, &refused) {
		return err
	}
	outcome := rejectedOutcomes[refused.Reason]
	if refused.Reason == "structural_limit_exceeded" && refused.Command != nil {
		outcome = "rejected_structural_limit"
	}
	if outcome == "" {
		return err
	}
	shown := map[string]any{
		"outcome": outcome, "command_status": "rejected", "command_source": commandSource,
		"rejection_reason": refused.Reason,
	}
	if refused.Reason == "duplicate_not_allowed" {
		shown["rejection_reason"] = "instance_already_started"
	}
	if x.op.command == "start" {
		showRun(shown, refused.Run)
	} else {
		x.showCommand(shown, refused)
	}
	maps.Copy(shown, refused.Fields)
	answered := *refused
	answered.Fields = shown
	return &answered
}

// showRun adds the run that is in a start's way.
func showRun(shown map[string]any, run *rules.Run) {
	if run == nil {
		return
	}
	shown["workflow_id"], shown["run_id"] = run.WorkflowID, run.RunID
	shown["workflow_type"], shown["namespace"], shown["status"] = run.WorkflowType, run.Namespace, run.Status
}

// showCommand adds the command and the run it was for. A run-targeted command on another run than the
// current one was resolved to none: its answer keeps the run that was asked for.
func (x *exchange) showCommand(shown map[string]any, refused *runtime.Refusal) {
	shown["target_scope"], shown["requested_run_id"] = "instance", nil
	if refused.Errors == nil {
		shown["validation_errors"] = []string{}
	}
	if run := refused.Run; run != nil {
		shown["run_id"], shown["resolved_run_id"], shown["workflow_type"] = run.RunID, run.RunID, run.WorkflowType
		shown["run_status"], shown["is_terminal"] = run.Status, run.IsClosed()
	}
	if refused.Reason == "historical_run_command_rejected" {
		asked := x.path["run_id"]
		shown["target_scope"], shown["requested_run_id"], shown["run_id"] = "run", asked, asked
	}
	if command := refused.Command; command != nil {
		shown["command_id"], shown["command_sequence"] = command.CommandID, command.Sequence
		if command.Outcome != "" {
			shown["outcome"] = command.Outcome
		}
	}
}
