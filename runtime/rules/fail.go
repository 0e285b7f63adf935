package rules

import (
	"maps"
	"slices"
	"strings"
)

// WorkflowFailureReport is a worker's report that it could not run a workflow task.
type WorkflowFailureReport struct {
	Message string
	Type    string
	Reason  string
}

// waitingType marks the report of a replay that produced nothing new (8.3).
const waitingType = "workflowtaskwaitingforhistory"

// IsWaiting reports whether the worker says it waits for history: no failure at all.
func (r *WorkflowFailureReport) IsWaiting() bool {
	if strings.ToLower(r.Type) == waitingType {
		return true
	}
	return strings.Contains(strings.ToLower(r.Type+" "+r.Message), "workflow task waiting for scheduled history")
}

// replayFamilies are the families of failure.reason that block replay (8.3, worker-plane.md 5.5).
var replayFamilies = struct{ prefixes, suffixed, exact []string }{
	prefixes: []string{"condition_wait_", "timer_", "version_", "memo_", "search_attribute_", "parallel_group_",
		"durable_command_sequence_", "recorded_", "side_effect_", "signal_wait_", "duplicate_"},
	exact: []string{"child_workflow_identity_mismatch", "continue_as_new_sequence_missing",
		"unsupported_payload_codec", "workflow_nondeterministic"},
}

// replayTexts are what a report's text says when replay is blocked.
var replayTexts = []string{
	"nondetermin", "non-determin", "determinism", "replay error", "replay failed", "history shape",
	"history mismatch", "invalidargument", "servererror", "unexpected history", "validationexception",
	"cannot decode workflow start input", "cannot replay workflow history", "unsupported payload codec",
	"unsupported_payload_codec", "workflow task completion failed after commands were produced",
	"no workflow registered",
}

// IsReplayBlocked reports whether the failure would come again with every retry.
func (r *WorkflowFailureReport) IsReplayBlocked() bool {
	if strings.HasPrefix(r.Reason, "activity_") && strings.HasSuffix(r.Reason, "_mismatch") ||
		contains(replayFamilies.exact, r.Reason) {
		return true
	}
	for _, p := range replayFamilies.prefixes {
		if strings.HasPrefix(r.Reason, p) {
			return true
		}
	}
	text := strings.ToLower(truncate(r.Type, 512) + " " + truncate(r.Message, 4096))
	for _, s := range replayTexts {
		if strings.Contains(text, s) {
			return true
		}
	}
	return false
}

// AcknowledgeWaiting ends a workflow task whose replay produced nothing new (8.3): a signal the task
// resumes on is applied, the run waits, and what the claim did not see wakes it.
func (t *Transition) AcknowledgeWaiting(task *Task, waits *Waits) (nextTaskID string) {
	t.ByTask(task)
	t.Run.WorkflowTaskID = ""
	if id := t.resumesOnSignal(task.Payload); id != "" {
		t.applySignal(id, waits)
	}
	t.Unattributed()
	task.Payload = NewObject(len(task.Payload)+64).Members(task.Payload).
		Bool("waiting_for_history_acknowledged", true).Bytes()
	task.Status, task.ClosedAt, task.LeaseExpiresAt = TaskCompleted, t.Now, Never
	t.Eff.Tasks = append(t.Eff.Tasks, *task)
	t.Run.Status = RunWaiting
	return t.wakeAfter(waits)
}

// workflowRetryMax bounds the backoff between retries of a failing workflow task, in seconds.
const workflowRetryMax = 60

// FailWorkflowTask ends a workflow task as failed (8.3): no event, no run failure. A new ready task
// carries the attempt count and the reason to resume, with a growing backoff, unless replay is
// blocked; then only what the claim did not see wakes the run again.
func (t *Transition) FailWorkflowTask(task *Task, report *WorkflowFailureReport, waits *Waits) (nextTaskID string) {
	message := truncate(report.Message, 4096)
	task.Status, task.ClosedAt, task.LeaseExpiresAt, task.LastError = TaskFailed, t.Now, Never, message
	t.Run.WorkflowTaskID = ""
	payload := task.Payload
	if report.IsReplayBlocked() {
		task.Payload = NewObject(len(payload)+128).Members(payload).Bool("replay_blocked", true).
			Str("replay_blocked_reason", "worker_reported_replay_failure").Bytes()
		t.Eff.Tasks = append(t.Eff.Tasks, *task)
		return t.wakeBlocked(task, waits)
	}
	t.Eff.Tasks = append(t.Eff.Tasks, *task)
	t.Run.PendingWake = nil // the retry's claim delivers everything
	backoff := int64(1) << min(max(task.AttemptCount-1, 0), 6)
	next := t.addWorkflowTask(t.Run, NewObject(len(payload)+len(message)+128).Members(retryless(payload)).
		Str("workflow_task_retry_of", task.TaskID).Str("workflow_task_retry_after_error", message).Bytes(),
		t.Now+min(backoff, workflowRetryMax)*second)
	next.AttemptCount = task.AttemptCount
	return next.TaskID
}

// wakeBlocked is wakeAfter for a run whose replay is blocked: what its claim delivered would only block it
// again.
func (t *Transition) wakeBlocked(task *Task, waits *Waits) string {
	for i := range waits.Signals {
		if waits.Signals[i].ReceivedSequence > task.ClaimedSequence {
			return t.wakeAfter(waits)
		}
	}
	if len(t.Run.PendingWake) > 0 {
		return t.wakeAfter(waits)
	}
	t.rearm(waits)
	return ""
}

// retryless is a resume payload without the marks of an earlier retry.
func retryless(payload []byte) []byte {
	m := members(payload)
	if _, marked := m["workflow_task_retry_of"]; !marked {
		return payload
	}
	o := NewObject(len(payload))
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if !strings.HasPrefix(name, "workflow_task_retry_") {
			o.Raw(name, m[name])
		}
	}
	return o.Bytes()
}

// RecoverWorkflowTask returns a workflow task whose lease ended to ready; its next claim delivers
// everything recorded since.
func (t *Transition) RecoverWorkflowTask(task *Task) {
	task.Status, task.LeaseExpiresAt = TaskReady, Never
	task.AvailableAt, task.ReadyAt = t.Now, t.Now
	task.LeaseOwner, task.LeaseGeneration = "", 0
	t.Eff.Tasks = append(t.Eff.Tasks, *task)
	t.Run.PendingWake = nil
}
