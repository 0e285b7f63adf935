package rules

// attemptEnd is how an attempt ended badly: reported, timed out, or lost with its lease.
type attemptEnd struct {
	status        string // of the attempt row: failed or expired
	retryReason   string // failure or timeout
	timeoutKind   string // of a deadline, "" otherwise
	category      string // failure category when final
	exceptionType string
	class         string
	message       string
	code          *int64
	exception     []byte // JSON object
	never         bool   // must not be retried
	structural    *Refusal
}

// typeName is the failure's type as replay needs it; a report without one has at least a class.
func (e *attemptEnd) typeName() string {
	if e.exceptionType == "" {
		return e.class
	}
	return e.exceptionType
}

// closeAttempt ends the current attempt and its task.
func (t *Transition) closeAttempt(act *Activity, attempt *Attempt, task *Task, status, taskStatus string) {
	t.intact(act.RetryPolicy, act.Parallel, task.Payload)
	attempt.Status, attempt.ClosedAt, attempt.LastHeartbeatAt = status, t.Now, act.LastHeartbeatAt
	task.Status, task.ClosedAt, task.LeaseExpiresAt = taskStatus, t.Now, Never
	act.CloseDeadlineAt, act.HeartbeatDeadlineAt = Never, Never
}

// closeActivity ends the execution.
func (t *Transition) closeActivity(act *Activity, status string) {
	act.Status, act.ClosedAt = status, t.Now
	act.refreshDeadline()
	t.Run.OpenActivities--
}

func (t *Transition) writeActivity(act *Activity, attempt *Attempt, task *Task) {
	t.Eff.Acts = append(t.Eff.Acts, *act)
	if attempt != nil && attempt.AttemptID != "" {
		t.Eff.Tries = append(t.Eff.Tries, *attempt)
	}
	t.Eff.Tasks = append(t.Eff.Tasks, *task)
}

// CompleteActivity records success (6.3) and wakes the run by rule 3.3. It returns the id of the
// task that will see the result, "" when none does yet. result is envelope JSON, empty for none.
func (t *Transition) CompleteActivity(act *Activity, attempt *Attempt, task *Task, result, digest []byte, barrier Barrier) string {
	t.closeAttempt(act, attempt, task, AttemptCompleted, TaskCompleted)
	t.closeActivity(act, ActivityCompleted)
	payload := act.attemptEvent(1024+len(result), attempt).Raw("result", result)
	if len(result) > 0 {
		payload.Str("payload_codec", "avro")
	}
	act.ClosedEventSequence = t.Record("ActivityCompleted", act.Sequence, payload.
		Raw("activity", act.view(nil)).Raw("activity_attempt", attempt.view(nil)).Members(act.Parallel))
	next := ""
	if t.wakes(act.Parallel, barrier) {
		next = t.Resume(act.resumePayload("ActivityCompleted"))
	}
	attempt.Outcome, attempt.Receipt, attempt.NextTaskID = ActivityCompleted, digest, next
	t.writeActivity(act, attempt, task)
	return next
}

// FailActivity records a reported failure: a retry by policy, or the final failure (6.3).
func (t *Transition) FailActivity(act *Activity, attempt *Attempt, task *Task, report *ActivityFailureReport, digest []byte) string {
	end := attemptEnd{
		status: AttemptFailed, retryReason: "failure", category: "activity", message: report.Message,
		exceptionType: report.Type, class: report.Class, code: report.Code,
		never: report.NonRetryable, exception: report.exception(),
	}
	switch {
	case report.Cancelled || report.Kind == "cancellation":
		end.category, end.never = "cancelled", true
	case report.Kind == "timeout":
		end.category, end.timeoutKind, end.retryReason = "timeout", report.TimeoutType, "timeout"
	}
	next := t.endAttempt(act, attempt, task, &end)
	attempt.Outcome, attempt.Receipt, attempt.NextTaskID = ActivityFailed, digest, next
	t.writeActivity(act, attempt, task)
	return next
}

// FailActivityOverLimit records a result over the payload limit as a failure of category structural_limit.
func (t *Transition) FailActivityOverLimit(act *Activity, attempt *Attempt, task *Task, limit *Refusal, digest []byte) string {
	end := attemptEnd{
		status: AttemptFailed, category: "structural_limit", message: limit.Message, never: true,
		exceptionType: "StructuralLimitExceeded", structural: limit,
	}
	next := t.endAttempt(act, attempt, task, &end)
	attempt.Outcome, attempt.Receipt, attempt.NextTaskID = ActivityCompleted, digest, next
	t.writeActivity(act, attempt, task)
	return next
}

// LoseAttempt closes an attempt whose lease ended without a report; retry limit and backoff
// decide what follows (settled.md).
func (t *Transition) LoseAttempt(act *Activity, attempt *Attempt, task *Task) {
	end := attemptEnd{
		status: AttemptExpired, retryReason: "timeout", category: "timeout", exceptionType: "ActivityLeaseExpired",
		message: "Activity " + act.ActivityType + " lost its lease.",
	}
	t.endAttempt(act, attempt, task, &end)
	t.writeActivity(act, attempt, task)
}

// endAttempt closes a failed attempt and either schedules the next one or ends the activity.
func (t *Transition) endAttempt(act *Activity, attempt *Attempt, task *Task, end *attemptEnd) string {
	policy := t.policy(act)
	taskStatus := TaskCompleted
	if end.status == AttemptExpired {
		taskStatus = TaskFailed
	}
	t.closeAttempt(act, attempt, task, end.status, taskStatus)
	never := end.never || policy.nonRetryable(end.exceptionType, end.class)
	if !never && policy.allows(act.AttemptCount) {
		return t.retryActivity(act, attempt, task, end, &policy)
	}
	t.closeActivity(act, ActivityFailed)
	payload := act.attemptEvent(1024+len(end.message), attempt).Str("failure_id", t.NewID()).
		Str("failure_category", end.category).Bool("non_retryable", never).
		Text("exception_type", end.typeName()).Str("exception_class", end.class).
		Str("timeout_kind", end.timeoutKind)
	payload.Text("message", end.message).IntPtr("code", end.code).Raw("exception", end.exception)
	if s := end.structural; s != nil {
		payload.Str("structural_limit_kind", s.Fields["limit_kind"].(string)).
			Int("structural_limit_value", s.Fields["current_value"].(int64)).
			Int("structural_limit_configured", s.Fields["configured_limit"].(int64))
	}
	act.ClosedEventSequence = t.Record("ActivityFailed", act.Sequence, payload.
		Raw("activity", act.view(nil)).Raw("activity_attempt", attempt.view(nil)).Members(act.Parallel))
	return t.Resume(act.resumePayload("ActivityFailed"))
}

// retryActivity schedules the next attempt after its backoff: the execution is pending again, with
// a new task that carries the attempt count on.
func (t *Transition) retryActivity(act *Activity, attempt *Attempt, old *Task, end *attemptEnd, policy *retrySnapshot) string {
	backoff := policy.backoff(act.AttemptCount)
	availableAt := t.Now + backoff*second
	task := t.newTask(t.Run, KindActivity, act.TaskQueue, act.ActivityType, availableAt)
	task.AttemptCount = old.AttemptCount
	task.ActivityExecutionID = act.ExecutionID
	task.Payload = NewObject(256).Str("activity_execution_id", act.ExecutionID).
		Str("retry_of_task_id", old.TaskID).Str("retry_after_attempt_id", attempt.AttemptID).
		Int("retry_after_attempt", attempt.AttemptNumber).Int("retry_backoff_seconds", backoff).
		IntPtr("max_attempts", policy.MaxAttempts).Raw("retry_policy", act.RetryPolicy).Bytes()
	act.Status, act.TaskID = ActivityPending, task.TaskID
	act.ScheduleDeadlineAt = after(availableAt, policy.ScheduleToStart)
	act.refreshDeadline()
	payload := act.attemptEvent(1024+len(end.message), attempt).Str("retry_task_id", task.TaskID).
		Str("retry_of_task_id", old.TaskID).Time("retry_available_at", availableAt).
		Int("retry_backoff_seconds", backoff).Str("retry_after_attempt_id", attempt.AttemptID).
		Int("retry_after_attempt", attempt.AttemptNumber).Str("retry_reason", end.retryReason).
		IntPtr("max_attempts", policy.MaxAttempts).Raw("retry_policy", act.RetryPolicy).
		Str("timeout_kind", end.timeoutKind).Str("exception_type", end.exceptionType).
		Str("exception_class", end.class).Str("message", end.message).IntPtr("code", end.code).
		Raw("exception", end.exception)
	t.Record("ActivityRetryScheduled", act.Sequence, payload.Raw("activity", act.view(nil)).Members(act.Parallel))
	t.Eff.NewTasks = append(t.Eff.NewTasks, task)
	return task.TaskID
}

// resumePayload says why the workflow task exists (6.3).
func (a *Activity) resumePayload(eventType string) []byte {
	return NewObject(384).Str("workflow_wait_kind", "activity").Str("open_wait_id", "activity:"+a.ExecutionID).
		Str("resume_source_kind", "activity_execution").Str("resume_source_id", a.ExecutionID).
		Str("activity_execution_id", a.ExecutionID).Str("activity_attempt_id", a.AttemptID).
		Str("activity_type", a.ActivityType).Int("workflow_sequence", a.Sequence).
		Str("workflow_event_type", eventType).Bytes()
}

// exception is the failure as an object for history.
func (r *ActivityFailureReport) exception() []byte {
	return NewObject(128+len(r.Message)+len(r.StackTrace)+len(r.Details)).Str("class", r.Class).
		Str("type", r.Type).Str("message", r.Message).IntPtr("code", r.Code).Str("trace", r.StackTrace).
		Raw("details", r.Details).Bytes()
}
