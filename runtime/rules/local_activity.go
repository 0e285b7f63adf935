package rules

// This file applies record_local_activity (commands-and-history.md 4): the whole execution of an
// activity that the worker ran in its own process, reported at once. There is no task and no queue.

const millisecond int64 = 1000

// localTimes are the instants of an attempt, reckoned backwards from the write: the worker sends
// durations only (4.2).
type localTimes struct{ started, closed int64 }

// Durations that add up to more than the time since 1970 are cut there.
func localInstants(attempts []LocalAttempt, now int64) []localTimes {
	times := make([]localTimes, len(attempts))
	closed := now
	for i := len(attempts) - 1; i >= 0; i-- {
		a := &attempts[i]
		times[i] = localTimes{started: max(closed-derefInt(a.DurationMS)*millisecond, 1), closed: closed}
		if i > 0 {
			closed = max(times[i].started-derefInt(attempts[i-1].BackoffSeconds)*second, 1)
		}
	}
	return times
}

// recordLocalActivity writes all events and rows of a local activity under one authored sequence.
func (a *application) recordLocalActivity(c *WorkflowCommand) {
	attempts := c.Attempts
	times := localInstants(attempts, a.Now)
	act := Activity{
		ExecutionID: a.NewID(), RunID: a.Run.RunID, Namespace: a.Run.Namespace, Sequence: a.next(),
		ActivityType: trimmed(c.ActivityType), TaskQueue: a.Run.TaskQueue, Status: ActivityPending,
		RetryPolicy: c.retrySnapshot(), TaskID: a.in.Task.TaskID, IsLocal: 1, CreatedAt: a.Now,
		ScheduleDeadlineAt: Never, ScheduleToCloseAt: Never, CloseDeadlineAt: Never,
		HeartbeatDeadlineAt: Never, NextDeadlineAt: Never,
	}
	arguments := Envelope(c.Arguments)
	act.ScheduledEvent = a.Record("ActivityScheduled", act.Sequence,
		a.localEvent(&act, 1024+len(arguments)).Raw("activity", act.view(arguments)))
	for i := range attempts {
		a.localAttempt(c, &act, &attempts[i], times[i], i == len(attempts)-1)
	}
	a.Eff.NewActs = append(a.Eff.NewActs, act)
}

// localEvent starts the payload that every event of a local activity shares.
func (a *application) localEvent(act *Activity, size int) *Object {
	return act.event(size).Str("execution_mode", "local").Bool("local_activity", true).
		Str("workflow_task_id", a.in.Task.TaskID)
}

// localAttempt writes one attempt: started, its heartbeats, and how it ended.
func (a *application) localAttempt(c *WorkflowCommand, act *Activity, in *LocalAttempt, at localTimes, last bool) {
	attempt := Attempt{
		AttemptID: a.NewID(), ExecutionID: act.ExecutionID, RunID: act.RunID, TaskID: act.TaskID,
		AttemptNumber: in.Number, Status: AttemptRunning, LeaseOwner: a.in.Task.LeaseOwner,
		StartedAt: at.started, WorkerAttemptID: deref(in.AttemptID),
	}
	act.Status, act.AttemptID, act.AttemptCount = ActivityRunning, attempt.AttemptID, in.Number
	if act.StartedAt == 0 {
		act.StartedAt = at.started
	}
	event := func(size int) *Object {
		o := a.localEvent(act, size+1024).Str("activity_attempt_id", attempt.AttemptID)
		if attempt.WorkerAttemptID == "" {
			o.Raw("worker_attempt_id", []byte("null"))
		}
		return o.Str("worker_attempt_id", attempt.WorkerAttemptID).Int("attempt_number", in.Number)
	}
	a.Record("ActivityStarted", act.Sequence,
		event(0).Raw("activity", act.view(nil)).Raw("activity_attempt", attempt.view(nil)))
	for i := range in.Heartbeats {
		beat := &in.Heartbeats[i]
		when := at.started + *beat.ElapsedMS*millisecond
		attempt.LastHeartbeatAt, act.LastHeartbeatAt = when, when
		a.Record("ActivityHeartbeatRecorded", act.Sequence, event(len(beat.Details)).Time("heartbeat_at", when).
			Raw("progress", beat.Details).Raw("activity", act.view(nil)).Raw("activity_attempt", attempt.view(nil)))
	}
	attempt.ClosedAt = at.closed
	attempt.Status = localStatus(in.Outcome)
	if last {
		act.Status, act.ClosedAt = attempt.Status, a.Now
		act.ClosedEventSequence = a.localEnd(c, act, &attempt, in, event)
	} else {
		act.Status = ActivityPending
		a.localRetry(act, &attempt, in, event)
	}
	a.Eff.NewTries = append(a.Eff.NewTries, attempt)
}

// localStatus is the status of the attempt and execution rows: a timed-out one failed.
func localStatus(outcome string) string {
	if outcome == "timed_out" {
		return AttemptFailed
	}
	return outcome
}

func (a *application) localRetry(act *Activity, attempt *Attempt, in *LocalAttempt, event func(int) *Object) {
	a.Record("ActivityRetryScheduled", act.Sequence, event(len(deref(in.Message))).Str("message", deref(in.Message)).
		Str("exception_type", deref(in.ExceptionType)).Str("retry_reason", deref(in.RetryReason)).
		Int("retry_backoff_seconds", derefInt(in.BackoffSeconds)).Str("timeout_kind", deref(in.TimeoutKind)).
		Raw("activity", act.view(nil)).Raw("activity_attempt", attempt.view(nil)))
}

// localEnd writes the closing event of the command's outcome.
func (a *application) localEnd(c *WorkflowCommand, act *Activity, attempt *Attempt, in *LocalAttempt, event func(int) *Object) int64 {
	views := func(o *Object) *Object {
		return o.Raw("activity", act.view(nil)).Raw("activity_attempt", attempt.view(nil))
	}
	message, kind := deref(c.Message), deref(c.ExceptionType)
	switch in.Outcome {
	case "completed":
		result := Envelope(c.Result)
		return a.Record("ActivityCompleted", act.Sequence,
			views(event(len(result)).Raw("result", result).Str("payload_codec", "avro")))
	case "timed_out":
		return a.Record("ActivityTimedOut", act.Sequence, views(event(len(message)).Str("failure_id", a.NewID()).
			Str("failure_category", "timeout").Str("timeout_kind", deref(c.TimeoutKind)).Text("message", message).
			Str("exception_class", timeoutClass)))
	case "cancelled":
		return a.Record("ActivityCancelled", act.Sequence,
			views(event(len(message)).Time("cancelled_at", a.Now).Text("message", message)))
	}
	exception := NewObject(128+len(message)).Str("class", kind).Str("type", kind).Text("message", message).Bytes()
	return a.Record("ActivityFailed", act.Sequence, views(event(2*len(message)).Str("failure_id", a.NewID()).
		Str("failure_category", "activity").Bool("non_retryable", isTrue(c.NonRetryable)).
		Text("exception_type", kind).Str("exception_class", kind).Text("message", message).Raw("exception", exception)))
}
