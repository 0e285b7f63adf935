package rules

import (
	"fmt"
	"strconv"
)

// CommandTypes are the workflow-task commands this server executes, in the order advertised.
var CommandTypes = []string{
	"schedule_activity", "start_timer", "record_side_effect", "record_local_activity", "record_version_marker",
	"open_condition_wait", "open_signal_wait", "complete_workflow", "fail_workflow", "continue_as_new",
}

// commandSpec is one command's own rules: which scoped members it owns, and its checks.
type commandSpec struct {
	owns     []string
	terminal bool
	check    func(c *WorkflowCommand, e *commandErrors)
}

var commandSpecs = map[string]commandSpec{
	"schedule_activity": {check: checkScheduleActivity, owns: []string{
		"retry_policy", "start_to_close_timeout", "schedule_to_close_timeout", "heartbeat_timeout",
		"schedule_to_start_timeout", "worker_session", "payload_codec", "parallel_group_id"}},
	"record_local_activity": {check: checkLocalActivity, owns: []string{
		"retry_policy", "start_to_close_timeout", "schedule_to_close_timeout", "heartbeat_timeout",
		"non_retryable", "timeout_kind", "payload_codec"}},
	"start_timer":           {check: checkStartTimer, owns: []string{"delay_seconds", "parallel_group_id"}},
	"record_side_effect":    {check: checkSideEffect, owns: []string{"payload_codec"}},
	"record_version_marker": {check: checkVersionMarker, owns: []string{"payload_codec"}},
	"open_condition_wait":   {check: checkConditionWait, owns: []string{"timeout_seconds", "parallel_group_id"}},
	"open_signal_wait":      {check: checkSignalWait, owns: []string{"timeout_seconds", "parallel_group_id"}},
	"complete_workflow":     {check: checkCompleteWorkflow, owns: []string{"payload_codec"}, terminal: true},
	"fail_workflow":         {check: checkFailWorkflow, owns: []string{"non_retryable", "exception"}, terminal: true},
	"continue_as_new":       {check: checkContinueAsNew, owns: []string{"payload_codec"}, terminal: true},
}

// commandErrors collects a batch's validation messages by field path.
type commandErrors struct {
	minor  int64 // protocol minor of the request
	prefix string
	errors map[string][]string
	first  string
}

func (e *commandErrors) add(field, message string) {
	if e.errors == nil {
		e.errors = map[string][]string{}
		e.first = message
	}
	e.errors[e.prefix+field] = append(e.errors[e.prefix+field], message)
}

// CheckCommands is the static check of a batch (commands-and-history.md 3.1–3.5): known types, owned
// members, each command's own rules, at most one terminal command and that last. minor is the request's
// protocol minor. What depends on the claim or its owner is CheckGates' and CompleteWorkflowTask's.
func CheckCommands(commands []WorkflowCommand, minor int64, limit Limits) *Refusal {
	if n := int64(len(commands)); exceeds(n, limit.CommandBatchSize) {
		return LimitExceeded("command_batch_size", n, limit.CommandBatchSize)
	}
	e := &commandErrors{minor: minor}
	terminals := 0
	for i := range commands {
		c := &commands[i]
		e.prefix = "commands." + strconv.Itoa(i) + "."
		spec, known := commandSpecs[c.Type]
		if !known {
			e.add("type", fmt.Sprintf("The command type %q is not supported.", truncate(c.Type, 64)))
			continue
		}
		checkOwners(c, spec.owns, e)
		spec.check(c, e)
		if spec.terminal {
			terminals++
		}
	}
	if e.errors != nil {
		return &Refusal{Reason: "validation_failed", Message: e.first, Errors: e.errors}
	}
	if terminals > 1 {
		return Refuse("invalid_commands", "A completion holds at most one terminal command.")
	}
	if terminals == 1 && !commandSpecs[commands[len(commands)-1].Type].terminal {
		return Refuse("invalid_commands", "The terminal command must be the last.")
	}
	return nil
}

// checkOwners refuses scoped members on commands that do not own them (3.1).
func checkOwners(c *WorkflowCommand, owns []string, e *commandErrors) {
	present := [...]struct {
		name string
		set  bool
	}{
		{"retry_policy", c.RetryPolicy != nil}, {"start_to_close_timeout", c.StartToCloseTimeout != nil},
		{"schedule_to_close_timeout", c.ScheduleToCloseTimeout != nil},
		{"schedule_to_start_timeout", c.ScheduleToStartTimeout != nil},
		{"heartbeat_timeout", c.HeartbeatTimeout != nil}, {"worker_session", c.WorkerSession != nil},
		{"execution_timeout_seconds", c.ExecutionTimeoutSeconds != nil},
		{"run_timeout_seconds", c.RunTimeoutSeconds != nil}, {"parent_close_policy", c.ParentClosePolicy != nil},
		{"cancellation_policy", c.CancellationPolicy != nil}, {"non_retryable", c.NonRetryable != nil},
		{"exception", c.Exception != nil}, {"timeout_kind", c.TimeoutKind != nil},
		{"delay_seconds", c.DelaySeconds != nil}, {"timeout_seconds", c.TimeoutSeconds != nil},
		{"payload_codec", c.PayloadCodec != nil}, {"entries", c.Entries != nil},
		{"parallel_group_id", c.ParallelGroupID != nil || c.ParallelGroupPath != nil || c.ParallelOther != nil ||
			c.ParallelGroupKind != nil || c.ParallelGroupBaseSequence != nil || c.ParallelGroupSize != nil ||
			c.ParallelGroupIndex != nil},
	}
	for _, p := range present {
		if p.set && !contains(owns, p.name) {
			e.add(p.name, "The "+p.name+" field is not allowed on "+c.Type+".")
		}
	}
}

func contains(list []string, s string) bool {
	for _, v := range list {
		if v == s {
			return true
		}
	}
	return false
}

// checkSizes holds each payload to the payload limit, heartbeat details among them.
func checkSizes(commands []WorkflowCommand, limit Limits) *Refusal {
	for i := range commands {
		c := &commands[i]
		n := max(PayloadSize(c.Result), PayloadSize(c.Arguments), PayloadSize(c.Exception), c.detailsSize())
		if exceeds(n, limit.PayloadBytes) {
			return LimitExceeded("payload_size", n, limit.PayloadBytes).
				With("command_index", int64(i)).With("command_type", c.Type)
		}
	}
	return nil
}

// detailsSize is the size of the largest heartbeat details of a local activity.
func (c *WorkflowCommand) detailsSize() (n int64) {
	for i := range c.Attempts {
		for j := range c.Attempts[i].Heartbeats {
			n = max(n, int64(len(c.Attempts[i].Heartbeats[j].Details)))
		}
	}
	return n
}
