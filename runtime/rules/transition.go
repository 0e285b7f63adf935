package rules

import "errors"

// Transition collects the effects of one durable change of one locked run. The rules mutate Run
// and append effects; the store writes them. Nothing here does I/O.
type Transition struct {
	Now   int64
	NewID func() string
	Run   *Run
	Limit Limits
	Eff   Effects

	// LastFairOrder answers the largest order of a fairness key's ready tasks in a queue; nil is
	// allowed for runs without a key.
	LastFairOrder func(queue, kind string) int64
	fairLast      map[string]int64
	// SignalValue turns the envelope of a signal's argument list into that of its value, nil where no
	// value stands for the list; a nil function keeps the list. The codec lives outside the rules.
	SignalValue func(arguments []byte) []byte

	// Open workflow task of the run as locked; zero when none.
	OpenTask Task
	// Task and command whose snapshots go into the payloads of what is written; may be empty.
	fault       error
	taskID      string
	taskSnap    []byte
	commandID   string
	commandSnap []byte
}

// NewTransition starts a transition on a locked run. run is changed in place.
func NewTransition(now int64, newID func() string, run *Run, limit Limits) *Transition {
	t := &Transition{Now: now, NewID: newID, Run: run, Limit: limit}
	t.Eff.RunBase = run.LastHistorySequence
	t.Eff.Run = run
	return t
}

// Fail notes that something the transition asked for could not be had; the transition must not be
// written. The first fault is kept.
func (t *Transition) Fail(err error) {
	if t.fault == nil {
		t.fault = err
	}
}

// intact fails the transition when a stored document was cut: spliced into what is written now, it
// would break that too.
func (t *Transition) intact(docs ...[]byte) {
	for _, doc := range docs {
		if len(doc) > 0 && !IsObject(doc) {
			t.Fail(errCut)
		}
	}
}

var errCut = errors.New("a stored document does not decode")

// Fault is the first noted fault, nil when there is none.
func (t *Transition) Fault() error { return t.fault }

// ByTask says that what follows is written with this task: its id goes on the events, its snapshot
// into their payloads.
func (t *Transition) ByTask(task *Task) {
	t.taskID = task.TaskID
	t.taskSnap = NewObject(256).Str("id", task.TaskID).Str("type", task.Kind).Str("status", task.Status).
		Time("available_at", task.AvailableAt).Time("leased_at", task.LeasedAt).
		Str("lease_owner", task.LeaseOwner).Time("lease_expires_at", task.LeaseExpiresAt).
		Int("attempt_count", task.AttemptCount).Str("queue", task.TaskQueue).
		Str("compatibility", task.Compatibility).Bytes()
}

// ByCommand says that what follows is written with this control-plane command.
func (t *Transition) ByCommand(c *Command) {
	t.commandID = c.CommandID
	t.commandSnap = NewObject(256).Str("id", c.CommandID).Int("sequence", c.Sequence).Str("type", c.Type).
		Str("target_scope", "instance").Str("resolved_run_id", c.RunID).Str("target_name", c.TargetName).
		Str("source", "control_plane").Str("request_id", c.RequestID).Str("status", c.Status).
		Str("outcome", c.Outcome).Time("accepted_at", c.AcceptedAt).Time("applied_at", c.AppliedAt).Bytes()
}

// Unattributed ends ByTask and ByCommand.
func (t *Transition) Unattributed() {
	t.taskID, t.taskSnap, t.commandID, t.commandSnap = "", nil, "", nil
}

// Record appends one event of the locked run and returns its sequence. step is the event's
// authored sequence where the event counts as one of a step (2.2), else 0.
func (t *Transition) Record(eventType string, step int64, payload *Object) int64 {
	payload.Raw("task", t.taskSnap).Raw("command", t.commandSnap)
	return t.append(t.Run, eventType, step, payload.Bytes())
}

func (t *Transition) append(run *Run, eventType string, step int64, payload []byte) int64 {
	run.LastHistorySequence++
	run.HistorySizeBytes += int64(len(payload) + len(eventType))
	run.LastProgressAt = t.Now
	if step > run.LastStepSequence {
		run.LastStepSequence = step
	}
	t.Eff.Events = append(t.Eff.Events, Event{
		RunID: run.RunID, Sequence: run.LastHistorySequence, EventID: t.NewID(), EventType: eventType,
		Payload: payload, WorkflowTaskID: t.taskID, WorkflowCommandID: t.commandID, RecordedAt: t.Now,
	})
	return run.LastHistorySequence
}

// Check refuses a transition that the run cannot take: a history sequence past its maximum
// (write-path.md 3). Call it after the last Record, before writing.
func (t *Transition) Check() *Refusal {
	if t.Run.LastHistorySequence < t.Eff.RunBase { // it wrapped around
		return Refuse("history_sequence_exhausted", "The run's history sequence is exhausted.").
			With("run_id", t.Run.RunID)
	}
	return nil
}

// IsClosed reports whether a run has ended.
func (r *Run) IsClosed() bool {
	switch r.Status {
	case RunPending, RunRunning, RunWaiting:
		return false
	}
	return true
}

// StatusBucket is the contract's coarse status of a run (control-plane.md 1.9).
func (r *Run) StatusBucket() string {
	switch r.Status {
	case RunPending, RunRunning, RunWaiting:
		return "running"
	case RunCompleted:
		return "completed"
	}
	return "failed"
}

// pastDeadline reports whether the run's execution or run deadline has passed.
func (r *Run) pastDeadline(now int64) bool { return !r.IsClosed() && r.DeadlineAt <= now }
