package rules

// startTimer writes a timer row and its TimerScheduled event; keys are the wait's members of the
// event, empty for a plain timer. A timer with no delay is due at once.
func (t *Transition) startTimer(timer Timer, keys []byte) *Timer {
	timer.TimerID, timer.TaskID, timer.RunID = t.NewID(), t.NewID(), t.Run.RunID
	timer.Status, timer.CreatedAt = TimerPending, t.Now
	if timer.FireAt == 0 {
		timer.FireAt = t.Now + timer.DelaySeconds*second
	}
	timer.DueAt = timer.FireAt
	t.Run.OpenTimers++
	t.Record("TimerScheduled", timer.Sequence, timer.event().Members(keys).Members(timer.Parallel))
	t.Eff.NewTimers = append(t.Eff.NewTimers, timer)
	return &t.Eff.NewTimers[len(t.Eff.NewTimers)-1]
}

// event starts the payload that all events of a timer share.
func (timer *Timer) event() *Object {
	return NewObject(512).Str("timer_id", timer.TimerID).Int("sequence", timer.Sequence).
		Int("delay_seconds", timer.DelaySeconds).Time("fire_at", timer.FireAt).Str("timer_kind", timer.Kind)
}

// FireTimer fires a due timer (6.6). A group's barrier decides whether a plain timer wakes the run.
// The timeout of a wait whose signal is already here is held back instead: order is the order of
// history, and there the signal came first. It is looked at again when the run's workflow task ends. FireTimer reports
// false, and does nothing, for a timeout whose wait is not among waits.
func (t *Transition) FireTimer(timer *Timer, waits *Waits, barrier Barrier) bool {
	if timer.WaitID == "" {
		t.fire(timer, nil, barrier)
		return true
	}
	wait := waits.open(timer.WaitID)
	switch {
	case wait == nil:
		return false
	case t.signalled(wait, waits):
		timer.DueAt = Never
		t.Eff.Timers = append(t.Eff.Timers, *timer)
	default:
		t.fire(timer, wait, barrier)
	}
	return true
}

// signalled reports whether a received signal will close the wait: its own, or, for a condition, the one that
// the run's workflow task or its end applies.
func (t *Transition) signalled(w *Wait, waits *Waits) bool {
	for i := range waits.Signals {
		s := &waits.Signals[i]
		if s.Status != SignalReceived {
			continue
		}
		if own := waits.signalWait(s); own == w || own == nil && t.Run.WorkflowTaskID != "" && waits.newestCondition() == w {
			return true
		}
	}
	return false
}

// rearm lets the timeouts that FireTimer held back fall due again.
func (t *Transition) rearm(waits *Waits) {
	for i := range waits.Timers {
		timer := &waits.Timers[i]
		if timer.Status == TimerPending && timer.DueAt == Never {
			timer.DueAt = timer.FireAt
			t.Eff.Timers = append(t.Eff.Timers, *timer)
		}
	}
}

// fire records that a timer fired; wait is the wait it ends, nil for a plain one.
func (t *Transition) fire(timer *Timer, wait *Wait, barrier Barrier) {
	t.intact(timer.Parallel)
	timer.Status, timer.ClosedAt, timer.DueAt = TimerFired, t.Now, Never
	t.Run.OpenTimers--
	payload := timer.event().Time("fired_at", t.Now)
	resume := NewObject(384)
	if wait == nil {
		resume.Str("workflow_wait_kind", "timer").Str("open_wait_id", "timer:"+timer.TimerID)
	} else {
		wait.Status, wait.ClosedAt = WaitTimedOut, t.Now
		t.Run.OpenWaits--
		t.Eff.Waits = append(t.Eff.Waits, *wait)
		keys := wait.keys()
		payload.Members(keys)
		resume.Str("workflow_wait_kind", wait.Kind).Str("open_wait_id", wait.Kind+":"+wait.WaitID).Members(keys)
	}
	t.Record("TimerFired", timer.Sequence, payload.Members(timer.Parallel))
	t.Eff.Timers = append(t.Eff.Timers, *timer)
	if wait == nil && !t.wakes(timer.Parallel, barrier) {
		return
	}
	t.Resume(resume.Str("resume_source_kind", "timer").Str("resume_source_id", timer.TimerID).
		Str("timer_id", timer.TimerID).Str("timer_kind", timer.Kind).Int("workflow_sequence", timer.Sequence).
		Str("workflow_event_type", "TimerFired").Bytes())
}

// cancelTimer cancels a pending timer; keys are its wait's members of the event.
func (t *Transition) cancelTimer(timer *Timer, keys []byte) {
	t.intact(timer.Parallel)
	timer.Status, timer.ClosedAt, timer.DueAt = TimerCancelled, t.Now, Never
	t.Run.OpenTimers--
	t.Record("TimerCancelled", timer.Sequence, timer.event().Time("cancelled_at", t.Now).
		Members(keys).Members(timer.Parallel))
	t.Eff.Timers = append(t.Eff.Timers, *timer)
}
