package rules

import (
	"github.com/stretchr/testify/require"
)

// The operations of a world: each loads what the engine would load, decides and writes.

// claim leases the run's workflow task.
func (w *world) claim() *Task {
	w.Helper()
	t := w.begin()
	task := t.OpenTask
	require.Equal(w, TaskReady, task.Status, "a workflow task to claim")
	t.ClaimWorkflow(&task, Lease{Owner: "w1", Generation: 1, Expires: w.now + 60*second})
	w.write(t)
	return &task
}

// complete claims the run's workflow task and completes it; it must not be refused.
func (w *world) complete(commands ...WorkflowCommand) *Completion {
	w.Helper()
	out, r := w.answer(w.claim(), commands...)
	require.Nil(w, r)
	return out
}

// refused claims the workflow task and completes it with commands that must be refused; nothing is written.
func (w *world) refused(commands ...WorkflowCommand) *Refusal {
	w.Helper()
	task := w.tasks.rows[w.run().WorkflowTaskID]
	if task.Status == TaskReady {
		task = w.claim()
	}
	before := *w.run()
	_, r := w.answer(task, commands...)
	require.NotNil(w, r, "refused")
	require.Equal(w, before, *w.run())
	require.Equal(w, TaskLeased, w.tasks.rows[task.TaskID].Status, "the claim stays usable")
	return r
}

// answer completes a leased workflow task.
func (w *world) answer(task *Task, commands ...WorkflowCommand) (*Completion, *Refusal) {
	w.Helper()
	if r := CheckCommands(commands, 20, w.limit); r != nil {
		return nil, r
	}
	t := w.begin()
	leased := *task
	in := &CompletionInput{
		Task: &leased, Commands: commands, Digest: []byte("digest"), Waits: *w.loadWaits(),
		Input: w.inputs[w.run().RunID], Instance: w.inst, Steps: w.steps(),
	}
	if IsTerminal(commands) {
		in.Open = w.loadOpen()
		in.Open.Waits = &in.Waits
	}
	out, r := t.CompleteWorkflowTask(in)
	if r != nil {
		return nil, r
	}
	w.write(t)
	return out, nil
}

func (w *world) loadOpen() *Open {
	id := w.run().RunID
	return &Open{Activities: w.openActivities(id), Tasks: w.openTasks(id), Waits: w.loadWaits()}
}

// steps are the run's activities, plain timers and waits.
func (w *world) steps() []Step {
	id := w.run().RunID
	var out []Step
	for _, a := range w.acts.where(func(a *Activity) bool { return a.RunID == id }) {
		out = append(out, Step{Sequence: a.Sequence, Kind: "activity", Name: a.ActivityType, Status: a.Status, Parallel: a.Parallel})
	}
	for _, t := range w.timers.where(func(t *Timer) bool { return t.RunID == id && t.Kind == TimerPlain }) {
		out = append(out, Step{Sequence: t.Sequence, Kind: "timer", Status: t.Status, Parallel: t.Parallel})
	}
	for _, v := range w.waits.where(func(v *Wait) bool { return v.RunID == id }) {
		out = append(out, Step{Sequence: v.Sequence, Kind: v.Kind, Name: v.Name, Status: v.Status, Parallel: v.Parallel})
	}
	return out
}

// barrier counts the members of a group that have not ended, as stored.
func (w *world) barrier(from, to int64) (open int64) {
	for _, s := range w.steps() {
		if s.Sequence < from || s.Sequence >= to || s.Kind == WaitCondition {
			continue
		}
		switch s.Status {
		case ActivityPending, ActivityRunning, WaitOpen: // a timer waits under the same word as an activity
			open++
		}
	}
	return open
}

// activity is the activity at an authored sequence of the current run.
func (w *world) activity(seq int64) *Activity {
	w.Helper()
	list := w.acts.where(func(a *Activity) bool { return a.RunID == w.run().RunID && a.Sequence == seq })
	require.Len(w, list, 1)
	return &list[0]
}

// start claims the task of the activity at a sequence.
func (w *world) start(seq int64) *Attempt {
	w.Helper()
	act := w.activity(seq)
	task := *w.tasks.rows[act.TaskID]
	require.Equal(w, TaskReady, task.Status)
	require.LessOrEqual(w, task.AvailableAt, w.now, "nothing is delivered before its time")
	t := w.begin()
	attempt := *t.ClaimActivity(&task, act, Lease{Owner: "w1", Generation: 1, Expires: w.now + 300*second})
	w.write(t)
	return &attempt
}

// held are the rows of a running activity as an operation on it sees them.
func (w *world) held(seq int64) (*Activity, *Attempt, *Task) {
	act := w.activity(seq)
	task, attempt := *w.tasks.rows[act.TaskID], Attempt{}
	if act.Status == ActivityRunning {
		attempt = *w.tries.rows[act.AttemptID]
	}
	return act, &attempt, &task
}

// succeed starts the activity if need be and completes it.
func (w *world) succeed(seq int64) string {
	w.Helper()
	if w.activity(seq).Status == ActivityPending {
		w.start(seq)
	}
	act, attempt, task := w.held(seq)
	t := w.begin()
	next := t.CompleteActivity(act, attempt, task, []byte(`{"codec":"avro","blob":"AA=="}`), []byte("d"), w.barrier)
	w.write(t)
	return next
}

// fail starts the activity if need be and fails it.
func (w *world) fail(seq int64, report ActivityFailureReport) string {
	w.Helper()
	if w.activity(seq).Status == ActivityPending {
		w.start(seq)
	}
	act, attempt, task := w.held(seq)
	t := w.begin()
	next := t.FailActivity(act, attempt, task, &report, []byte("d"))
	w.write(t)
	return next
}

// expire enforces the activity's deadlines and reports whether one had passed.
func (w *world) expire(seq int64) bool {
	w.Helper()
	act, attempt, task := w.held(seq)
	t := w.begin()
	if !t.TimeOutActivity(act, attempt, task) {
		return false
	}
	w.write(t)
	return true
}

// fireDue does what the due loop does with timers.
func (w *world) fireDue() (fired int) {
	w.Helper()
	for _, timer := range w.timers.where(func(t *Timer) bool { return t.DueAt <= w.now }) {
		t := w.begin()
		require.True(w, t.FireTimer(&timer, w.loadWaits(), w.barrier))
		w.write(t)
		fired++
	}
	return fired
}

// signal accepts a signal.
func (w *world) signal(name string) *Signal {
	w.Helper()
	t := w.begin()
	t.Run.LastCommandSequence++
	c := &Command{
		CommandID: w.id(), WorkflowID: "wf", RunID: t.Run.RunID, Namespace: "default", Sequence: t.Run.LastCommandSequence,
		Type: "signal", TargetName: name, Status: "accepted", Outcome: "signal_received", AcceptedAt: w.now,
	}
	t.AcceptSignal(c, []byte(`{"codec":"avro","blob":"AQ=="}`), w.loadWaits())
	t.Eff.NewCommands = append(t.Eff.NewCommands, *c)
	w.write(t)
	return w.sigs.rows[t.Eff.NewSignals[0].SignalID]
}

// close cancels or terminates the run.
func (w *world) close(kind, reason string) {
	w.Helper()
	t := w.begin()
	t.Run.LastCommandSequence++
	c := &Command{CommandID: w.id(), WorkflowID: "wf", RunID: t.Run.RunID, Type: kind, Reason: reason, Status: "accepted",
		Sequence: t.Run.LastCommandSequence, AcceptedAt: w.now, AppliedAt: w.now}
	t.CloseByCommand(c, w.loadOpen())
	t.Eff.NewCommands = append(t.Eff.NewCommands, *c)
	w.write(t)
}

// resume is a member of the open workflow task's payload.
func (w *world) resume(name string) any {
	w.Helper()
	task := w.tasks.rows[w.run().WorkflowTaskID]
	require.NotNil(w, task, "an open workflow task")
	return fields(w.T, task.Payload)[name]
}

func (w *world) awake() bool { return w.run().WorkflowTaskID != "" }
