package rules

// Open is everything of a run that its close has to settle.
type Open struct {
	Activities []Activity // by id
	Tasks      []Task     // ready or leased
	Waits      *Waits
}

// settle ends what is still open, before the closing event (settled.md, Waking): activities by id,
// then timers, then signals; also what this very transition opened. keepSignals leaves the
// signals to the next run. own is the task that is being completed, which ends by itself.
func (t *Transition) settle(open *Open, reason, commandID, own string, keepSignals bool) {
	activities := append(open.Activities, t.Eff.NewActs...)
	for i := range activities {
		if a := &activities[i]; a.Status == ActivityPending || a.Status == ActivityRunning {
			t.cancelActivity(a, reason, commandID)
		}
	}
	timers := append(open.Waits.Timers, t.Eff.NewTimers...)
	for i := range timers {
		if timers[i].Status == TimerPending {
			t.cancelTimer(&timers[i], open.Waits.keysOf(&timers[i]))
		}
	}
	for i := range open.Waits.Open {
		w := &open.Waits.Open[i]
		if w.Status == WaitOpen {
			w.Status, w.ClosedAt = WaitCancelled, t.Now
			t.Run.OpenWaits--
			t.Eff.Waits = append(t.Eff.Waits, *w)
		}
	}
	if !keepSignals {
		t.rejectSignals(open.Waits.Signals, reason)
	}
	t.cancelTasks(append(open.Tasks, t.Eff.NewTasks...), own)
}

func (t *Transition) cancelTasks(tasks []Task, own string) {
	for i := range tasks {
		task := &tasks[i]
		if task.TaskID == own {
			continue
		}
		task.Status, task.ClosedAt, task.LeaseExpiresAt = TaskCancelled, t.Now, Never
		t.Eff.Tasks = append(t.Eff.Tasks, *task)
	}
}

func (t *Transition) cancelActivity(act *Activity, reason, commandID string) {
	t.intact(act.RetryPolicy, act.Parallel)
	running := act.Status == ActivityRunning
	act.CloseDeadlineAt, act.HeartbeatDeadlineAt = Never, Never
	t.closeActivity(act, ActivityCancelled)
	payload := act.event(768).Str("workflow_command_id", commandID)
	if running {
		payload.Str("activity_attempt_id", act.AttemptID).Int("attempt_number", act.AttemptCount)
		t.Eff.Tries = append(t.Eff.Tries, Attempt{
			AttemptID: act.AttemptID, Status: AttemptCancelled, LastHeartbeatAt: act.LastHeartbeatAt, ClosedAt: t.Now,
		})
	}
	act.ClosedEventSequence = t.Record("ActivityCancelled", act.Sequence, payload.Time("cancelled_at", t.Now).
		Str("cancellation_reason", reason).Raw("activity", act.view(nil)).Members(act.Parallel))
	t.Eff.Acts = append(t.Eff.Acts, *act)
}

// closeRun records the closing event and puts the run into its terminal state.
func (t *Transition) closeRun(status, closedReason, eventType string, step int64, payload *Object) {
	t.Run.Status, t.Run.ClosedReason, t.Run.ClosedAt = status, closedReason, t.Now
	t.Run.DeadlineAt = Never
	t.Run.WorkflowTaskID, t.Run.PendingWake = "", nil
	t.Run.ClosedEventSequence = t.Record(eventType, step, payload)
}

// closeSpec is what differs between cancel and terminate (6.9).
type closeSpec struct{ requested, closed, status, category, class, verb string }

var (
	cancelSpec = closeSpec{"CancelRequested", "WorkflowCancelled", RunCancelled, "cancelled",
		`Workflow\V2\Exceptions\WorkflowCancelledException`, "cancelled"}
	terminateSpec = closeSpec{"TerminateRequested", "WorkflowTerminated", RunTerminated, "terminated",
		`Workflow\V2\Exceptions\WorkflowTerminatedException`, "terminated"}
)

// CloseByCommand cancels or terminates the run at once (6.9); c is the accepted command.
func (t *Transition) CloseByCommand(c *Command, open *Open) {
	spec := &cancelSpec
	if c.Type == "terminate" {
		spec = &terminateSpec
	}
	t.ByCommand(c)
	ids := func() *Object {
		return NewObject(512).Str("workflow_command_id", c.CommandID).Str("workflow_instance_id", t.Run.WorkflowID).
			Str("workflow_run_id", t.Run.RunID)
	}
	t.Record(spec.requested, 0, ids().Str("command_type", c.Type).Str("reason", c.Reason))
	message := "Workflow " + spec.verb + "."
	if c.Reason != "" {
		message = "Workflow " + spec.verb + ": " + c.Reason
	}
	t.settle(open, message, c.CommandID, "", false)
	t.closeRun(spec.status, spec.status, spec.closed, 0, ids().Str("failure_id", t.NewID()).
		Str("failure_category", spec.category).Str("closed_reason", spec.status).
		Str("exception_class", spec.class).Str("message", message).Str("reason", c.Reason))
	t.Unattributed()
}

// TimeOutRun closes a run whose execution or run deadline has passed (6.10); execution comes first.
func (t *Transition) TimeOutRun(open *Open) {
	kind, word, at := "run_timeout", "run", t.Run.RunDeadlineAt
	if t.Run.ExecutionDeadlineAt <= t.Now {
		kind, word, at = "execution_timeout", "execution", t.Run.ExecutionDeadlineAt
	}
	message := "Workflow " + word + " deadline expired at " + FormatTime(at) + "."
	t.settle(open, message, "", "", false)
	t.closeRun(RunFailed, "timed_out", "WorkflowTimedOut", 0, NewObject(512).Str("failure_id", t.NewID()).
		Str("timeout_kind", kind).Str("failure_category", "timeout").Str("message", message).
		Str("exception_class", `Workflow\V2\Exceptions\WorkflowTimeoutException`).
		Time("execution_deadline_at", t.Run.ExecutionDeadlineAt).Time("run_deadline_at", t.Run.RunDeadlineAt))
}

// DeadlinePassed reports whether the run must be closed as timed out before anything else.
func (t *Transition) DeadlinePassed() bool { return t.Run.pastDeadline(t.Now) }
