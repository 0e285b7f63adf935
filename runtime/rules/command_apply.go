package rules

// application applies one completion's commands.
type application struct {
	*Transition
	in  *CompletionInput
	out *Completion
}

// next is the authored position of the next step.
func (a *application) next() int64 { return a.Run.LastStepSequence + 1 }

func (a *application) created(taskID string) {
	a.out.CreatedTaskIDs = append(a.out.CreatedTaskIDs, taskID)
}

func (a *application) apply(c *WorkflowCommand) {
	switch c.Type {
	case "schedule_activity":
		a.scheduleActivity(c)
	case "start_timer":
		timer := a.startTimer(Timer{
			Sequence: a.next(), DelaySeconds: *c.DelaySeconds, Parallel: c.parallel(),
		}, nil)
		a.created(timer.TaskID)
	case "record_side_effect":
		result := Envelope(c.Result)
		a.Record("SideEffectRecorded", a.next(), NewObject(512+len(result)).Int("sequence", a.next()).
			Raw("result", result).Str("payload_codec", "avro"))
	case "record_local_activity":
		a.recordLocalActivity(c)
	case "record_version_marker":
		a.Record("VersionMarkerRecorded", a.next(), NewObject(512).Int("sequence", a.next()).
			Str("change_id", *c.ChangeID).Int("version", *c.Version).
			Int("min_supported", *c.MinSupported).Int("max_supported", *c.MaxSupported))
	case "open_condition_wait":
		a.openConditionWait(c)
	case "open_signal_wait":
		a.openSignalWait(c)
	case "complete_workflow":
		a.completeWorkflow(c)
	case "fail_workflow":
		a.failWorkflow(c)
	case "continue_as_new":
		a.continueAsNew(c)
	}
}

// scheduleActivity makes the execution, its first task and ActivityScheduled (3.5).
func (a *application) scheduleActivity(c *WorkflowCommand) {
	queue := trimmed(c.Queue)
	if queue == "" {
		queue = a.Run.TaskQueue
	}
	name, arguments := trimmed(c.ActivityType), Envelope(c.Arguments)
	act := Activity{
		ExecutionID: a.NewID(), RunID: a.Run.RunID, Namespace: a.Run.Namespace, Sequence: a.next(),
		ActivityType: name, TaskQueue: queue, Status: ActivityPending, RetryPolicy: c.retrySnapshot(),
		Parallel: c.parallel(), CreatedAt: a.Now,
		ScheduleDeadlineAt: after(a.Now, derefInt(c.ScheduleToStartTimeout)),
		ScheduleToCloseAt:  after(a.Now, derefInt(c.ScheduleToCloseTimeout)),
		CloseDeadlineAt:    Never, HeartbeatDeadlineAt: Never,
	}
	act.refreshDeadline()
	task := a.newTask(a.Run, KindActivity, queue, name, a.Now)
	task.ActivityExecutionID = act.ExecutionID
	task.Payload = NewObject(64).Str("activity_execution_id", act.ExecutionID).Bytes()
	act.TaskID = task.TaskID
	act.ScheduledEvent = a.Record("ActivityScheduled", act.Sequence, act.event(1024+len(arguments)).
		Str("workflow_task_id", a.in.Task.TaskID).Raw("activity", act.view(arguments)).Members(act.Parallel))
	a.Run.OpenActivities++
	a.Eff.NewActs = append(a.Eff.NewActs, act)
	a.Eff.NewTasks = append(a.Eff.NewTasks, task)
	a.created(task.TaskID)
}

// retrySnapshot freezes a command's policy and timeouts (6.3); nil when it has neither.
func (c *WorkflowCommand) retrySnapshot() []byte {
	p := c.RetryPolicy
	if p == nil && c.StartToCloseTimeout == nil && c.ScheduleToStartTimeout == nil &&
		c.ScheduleToCloseTimeout == nil && c.HeartbeatTimeout == nil {
		return nil
	}
	o := NewObject(256).Int("snapshot_version", 1)
	switch {
	case p != nil && p.Unlimited:
		o.Raw("max_attempts", []byte("null"))
	case p != nil && p.MaxAttempts != nil:
		o.Int("max_attempts", *p.MaxAttempts)
	default:
		o.Int("max_attempts", defaultMaxAttempts)
	}
	if p != nil {
		o.Raw("backoff_seconds", intList(p.BackoffSeconds))
		o.Raw("non_retryable_error_types", stringList(distinct(p.NonRetryableErrorTypes)))
	}
	return o.IntPtr("start_to_close_timeout", c.StartToCloseTimeout).
		IntPtr("schedule_to_start_timeout", c.ScheduleToStartTimeout).
		IntPtr("schedule_to_close_timeout", c.ScheduleToCloseTimeout).
		IntPtr("heartbeat_timeout", c.HeartbeatTimeout).Bytes()
}

// openConditionWait opens a condition wait (3.5). One that is still open writes nothing: the worker
// stands where it stood. One with an occurrence id that a signal closed opens again with the time that was
// left (settled.md).
func (a *application) openConditionWait(c *WorkflowCommand) {
	w := Wait{
		WaitID: a.NewID(), Kind: WaitCondition, Sequence: a.next(), Name: deref(c.ConditionKey),
		Fingerprint: deref(c.ConditionDefinitionFingerprint), OccurrenceID: deref(c.ConditionWaitOccurrenceID),
		TimeoutSeconds: -1, Parallel: c.parallel(),
	}
	if c.TimeoutSeconds != nil {
		w.TimeoutSeconds = *c.TimeoutSeconds
	}
	if a.in.Waits.reopened(&w) != nil {
		return
	}
	var fireAt int64
	if w.OccurrenceID != "" {
		a.Run.MinProtocol = max(a.Run.MinProtocol, HighestHistoryFloor)
		if old := a.in.Waits.occurrence(w.OccurrenceID); old != nil {
			if old.Status == WaitOpen {
				return
			}
			if timer := a.in.Waits.timerOf(old); timer != nil {
				fireAt = timer.FireAt
			}
		}
	}
	timers := len(a.Eff.NewTimers)
	a.in.Waits.Open = append(a.in.Waits.Open, *a.openWait(w, "ConditionWaitOpened", TimerConditionTimeout, fireAt))
	a.createdTimer(timers)
}

// openSignalWait opens a signal wait, taking over the earliest received signal of the name that no
// wait is bound to (3.5).
func (a *application) openSignalWait(c *WorkflowCommand) {
	w := Wait{
		WaitID: a.NewID(), Kind: WaitSignal, Sequence: a.next(), Name: trimmed(c.SignalName),
		TimeoutSeconds: -1, Parallel: c.parallel(),
	}
	if c.TimeoutSeconds != nil {
		w.TimeoutSeconds = *c.TimeoutSeconds
	}
	timeout := TimerSignalTimeout
	if pending := a.in.Waits.unbound(w.Name); pending != nil {
		w.WaitID = pending.WaitID
		timeout = "" // the signal is here: the wait needs no timer
	}
	timers := len(a.Eff.NewTimers)
	opened := *a.openWait(w, "SignalWaitOpened", timeout, 0)
	if w.TimeoutSeconds == 0 && timeout != "" {
		a.timeOutAtOnce(&opened)
	}
	a.in.Waits.Open = append(a.in.Waits.Open, opened)
	a.createdTimer(timers)
}

// timeOutAtOnce is a signal wait with timeout 0 and no signal: its timer is scheduled and fired in
// the same breath, and the run resumes (3.5).
func (a *application) timeOutAtOnce(w *Wait) {
	timer := a.startTimer(Timer{
		Sequence: w.Sequence, Kind: TimerSignalTimeout, WaitID: w.WaitID, Parallel: w.Parallel,
	}, w.keys())
	w.TimerID = timer.TimerID
	a.OpenTask.Status = TaskLeased // the task being completed: its end resumes the run
	a.Run.WorkflowTaskID = a.in.Task.TaskID
	a.fire(timer, w, nil)
	a.Run.WorkflowTaskID, a.OpenTask = "", Task{}
}

// createdTimer names the timer task a wait's timeout made.
func (a *application) createdTimer(before int) {
	for _, timer := range a.Eff.NewTimers[before:] {
		a.created(timer.TaskID)
	}
}
