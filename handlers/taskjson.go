package handlers

import (
	"dwserver/handlers/jsondoc"
	"dwserver/runtime"
	"dwserver/runtime/rules"
)

// This file writes the answers that carry stored payloads. They are assembled around the stored text,
// which was checked when it came in: marshalling it again would parse and copy every byte once more.

// workflowPollAnswer is the body of a workflow poll, without the envelope.
func workflowPollAnswer(r *runtime.PollResult) []byte {
	var out objectWriter
	out.text("poll_status", r.Status)
	if r.Workflow == nil {
		out.raw("task", nil)
		out.stopReason(r.Status)
		return out.bytes()
	}
	out.begin("task", answerSize(r.Workflow.Page.Events)+len(r.Workflow.Arguments))
	workflowTask(&out, r.Workflow)
	out.end()
	return out.bytes()
}

// stopReason repeats the poll statuses that SDKs also look for in reason.
func (w *objectWriter) stopReason(status string) {
	if status == runtime.PollStaleRegistration {
		w.text("reason", status)
	}
}

func workflowTask(out *objectWriter, answer *runtime.WorkflowTaskAnswer) {
	task, run := &answer.Task, &answer.Run
	out.text("task_kind", "workflow")
	out.text("task_id", task.TaskID)
	out.text("workflow_id", run.WorkflowID)
	out.text("run_id", run.RunID)
	out.text("workflow_type", run.WorkflowType)
	out.integer("workflow_task_attempt", task.AttemptCount)
	out.text("lease_owner", task.LeaseOwner)
	out.instant("lease_expires_at", task.LeaseExpiresAt)
	out.text("payload_codec", "avro")
	out.raw("arguments", answer.Arguments)
	out.text("run_status", run.Status)
	out.text("task_queue", task.TaskQueue)
	out.raw("connection", nil)
	out.optionalText("compatibility", run.Compatibility)
	resumeMembers(out, task.Payload)
	if len(answer.SignalArguments) > 0 {
		out.raw("signal_arguments", answer.SignalArguments)
	}
	out.readyAge(task)
	out.text("sticky_replay_mode", "cold_replay")
	out.integer("last_history_sequence", task.ClaimedSequence)
	historyMembers(out, &answer.Page)
}

// resumeKeys are the members that say why a workflow task exists (worker-plane.md 5.1). The engine
// stores them with the task; the first four are always told, as null when they do not apply.
var (
	resumeAlways = []string{"workflow_update_id", "workflow_signal_id", "signal_name", "workflow_command_id"}
	resumeKeys   = map[string]bool{
		"workflow_wait_kind": true, "open_wait_id": true, "resume_source_kind": true, "resume_source_id": true,
		"workflow_update_id": true, "workflow_signal_id": true, "signal_name": true, "signal_wait_id": true,
		"workflow_command_id": true, "activity_execution_id": true,
		"activity_attempt_id": true, "activity_type": true, "child_call_id": true, "child_workflow_run_id": true,
		"workflow_sequence": true, "workflow_event_type": true, "timer_id": true, "condition_wait_id": true,
		"condition_key": true, "condition_definition_fingerprint": true,
	}
)

func resumeMembers(out *objectWriter, payload []byte) {
	told := map[string]bool{}
	if len(payload) > len("{}") {
		// A document of our own; one that does not parse says nothing, and replay does not need it.
		if doc, err := jsondoc.Parse(payload, 1); err == nil {
			doc.Root().Each(func(_ int, name string, member jsondoc.Value) bool {
				if resumeKeys[name] {
					out.raw(name, member.Raw())
					told[name] = true
				}
				return true
			})
			doc.Release()
		}
	}
	for _, name := range resumeAlways {
		if !told[name] {
			out.raw(name, nil)
		}
	}
}

// readyAge tells since when, and for how long, a task was ready before its claim.
func (w *objectWriter) readyAge(task *rules.Task) {
	w.instant("ready_origin_at", task.ReadyAt)
	w.integer("ready_age_ms", max(0, task.LeasedAt-task.ReadyAt)/1000)
}

// historyAnswer is the body of a history page, without the envelope.
func historyAnswer(taskID string, attempt int64, page *runtime.HistoryPage) []byte {
	var out objectWriter
	out.grow(answerSize(page.Events))
	out.text("task_id", taskID)
	out.integer("workflow_task_attempt", attempt)
	historyMembers(&out, page)
	return out.bytes()
}

func historyMembers(out *objectWriter, page *runtime.HistoryPage) {
	out.integer("total_history_events", page.TotalEvents)
	out.optionalText("next_history_page_token", pageToken(page.NextAfter))
	out.integer("history_size_bytes", page.SizeBytes)
	out.integer("history_fan_out", page.FanOut)
	out.boolean("continue_as_new_recommended", page.Budget.Recommended)
	out.text("history_budget_pressure", page.Budget.Pressure)
	out.beginList("history_budget_pressure_dimensions")
	for _, dimension := range page.Budget.Dimensions {
		out.element()
		out.out = rules.AppendString(out.out, dimension)
	}
	out.endList()
	out.beginList("history_events")
	for i := range page.Events {
		out.element()
		out.event(&page.Events[i])
	}
	out.endList()
}

// event appends one history event as workers get it (commands-and-history.md 5).
func (w *objectWriter) event(e *rules.Event) {
	w.open()
	w.text("id", e.EventID)
	w.integer("sequence", e.Sequence)
	w.text("event_type", e.EventType)
	if len(e.Payload) == 0 {
		w.raw("payload", emptyBody)
	} else {
		w.raw("payload", e.Payload)
	}
	w.optionalText("workflow_task_id", e.WorkflowTaskID)
	w.optionalText("workflow_command_id", e.WorkflowCommandID)
	w.instant("recorded_at", e.RecordedAt)
	w.end()
}

// eventOverhead is about what an event takes beside its payload.
const eventOverhead = 256

func answerSize(events []rules.Event) int {
	size := 1024
	for i := range events {
		size += len(events[i].Payload) + eventOverhead
	}
	return size
}

// activityPollAnswer is the body of an activity poll, without the envelope.
func activityPollAnswer(r *runtime.PollResult) []byte {
	var out objectWriter
	out.text("poll_status", r.Status)
	if r.Activity == nil {
		out.raw("task", nil)
		out.stopReason(r.Status)
	} else {
		out.begin("task", 1024+len(r.Activity.Arguments))
		activityTask(&out, r.Activity)
		out.end()
	}
	out.instant("server_time", r.ServerTime)
	return out.bytes()
}

func activityTask(out *objectWriter, answer *runtime.ActivityTaskAnswer) {
	task, activity := &answer.Task, &answer.Activity
	out.text("task_id", task.TaskID)
	out.text("workflow_id", answer.Run.WorkflowID)
	out.text("run_id", answer.Run.RunID)
	out.text("activity_execution_id", activity.ExecutionID)
	out.text("activity_attempt_id", answer.Attempt.AttemptID)
	out.text("idempotency_key", activity.ExecutionID)
	out.integer("attempt_number", answer.Attempt.AttemptNumber)
	out.integer("attempt", answer.Attempt.AttemptNumber)
	out.text("activity_type", activity.ActivityType)
	out.text("payload_codec", "avro")
	out.raw("arguments", answer.Arguments)
	if len(activity.RetryPolicy) > 0 {
		out.raw("retry_policy", activity.RetryPolicy)
	}
	out.text("task_queue", task.TaskQueue)
	out.text("lease_owner", task.LeaseOwner)
	out.instant("lease_expires_at", task.LeaseExpiresAt)
	out.deadlines(activity)
	out.integer("run_history_sequence", answer.Run.LastHistorySequence)
	out.readyAge(task)
}

// deadlines adds the deadlines that exist; Rust takes no null for one that does not.
func (w *objectWriter) deadlines(a *rules.Activity) {
	names := [...]string{"schedule_to_start", "start_to_close", "schedule_to_close", "heartbeat"}
	times := [...]int64{a.ScheduleDeadlineAt, a.CloseDeadlineAt, a.ScheduleToCloseAt, a.HeartbeatDeadlineAt}
	var some objectWriter
	for i, name := range names {
		if times[i] != 0 && times[i] != rules.Never {
			some.instant(name, times[i])
		}
	}
	if !some.empty() {
		w.raw("deadlines", some.bytes())
	}
}
