package rules

// CompletionInput is what a workflow-task completion decides on.
type CompletionInput struct {
	Task     *Task
	Commands []WorkflowCommand
	Digest   []byte // of the canonical body: the receipt
	Input    RunInput
	Instance Instance // continue_as_new only
	Waits    Waits
	Open     *Open  // terminal commands only
	Steps    []Step // the run's steps in ResentRange
}

// Completion is what a completion did.
type Completion struct {
	CreatedTaskIDs []string
}

// IsTerminal reports whether a batch ends the run.
func IsTerminal(commands []WorkflowCommand) bool {
	return len(commands) > 0 && commandSpecs[commands[len(commands)-1].Type].terminal
}

// CompleteWorkflowTask applies a completion (commands-and-history.md 2.3): the signal the task
// resumes on, the commands in order, the terminal command, and the next wake. A refusal means that
// the transition must not be written; the claim stays usable.
func (t *Transition) CompleteWorkflowTask(in *CompletionInput) (*Completion, *Refusal) {
	if r := checkSizes(in.Commands, t.Limit); r != nil {
		return nil, r
	}
	if r := checkPlan(in.Commands, t.Limit); r != nil {
		return nil, r
	}
	if r := t.checkPending(in.Commands); r != nil {
		return nil, r
	}
	commands, unmet, r := dropResent(in.Commands, t.Run.LastStepSequence, in.Steps)
	if r != nil {
		return nil, r
	}
	in.Waits.unmet = unmet
	if r := checkGroups(commands, t.Run.LastStepSequence); r != nil {
		return nil, r
	}
	t.ByTask(in.Task)
	a := &application{Transition: t, in: in, out: &Completion{}}
	t.Run.WorkflowTaskID = ""
	t.OpenTask = Task{}
	if id := t.resumesOnSignal(in.Task.Payload); id != "" {
		t.applySignal(id, &in.Waits)
	}
	for i := range commands {
		a.apply(&commands[i])
	}
	t.endWorkflowTask(in, a)
	t.Eff.Fold()
	if r := t.checkBudget(commands); r != nil {
		return nil, r
	}
	return a.out, t.Check()
}

// endWorkflowTask closes the completed task and, on an open run, wakes it for what the claim did
// not see.
func (t *Transition) endWorkflowTask(in *CompletionInput, a *application) {
	task := in.Task
	task.Status, task.ClosedAt, task.LeaseExpiresAt, task.Receipt = TaskCompleted, t.Now, Never, in.Digest
	if t.Run.Status == RunFailed {
		task.Status = TaskFailed
	}
	t.Eff.Tasks = append(t.Eff.Tasks, *task)
	t.Unattributed()
	if t.Run.IsClosed() {
		return
	}
	t.Run.Status = RunWaiting
	if id := t.wakeAfter(&in.Waits); id != "" {
		a.out.CreatedTaskIDs = append(a.out.CreatedTaskIDs, id)
	}
}

// wakeAfter is run when a leased workflow task has ended: what was recorded after the history its
// claim delivered wakes the run now, then the next eligible signal does (settled.md, Waking).
func (t *Transition) wakeAfter(waits *Waits) string {
	t.rearm(waits)
	if payload := t.Run.PendingWake; len(payload) > 0 && t.Run.WorkflowTaskID == "" {
		t.Run.PendingWake = nil
		return t.addWorkflowTask(t.Run, payload, t.Now).TaskID
	}
	before := t.Run.WorkflowTaskID
	t.wakeForSignal(waits)
	if t.Run.WorkflowTaskID != before {
		return t.Run.WorkflowTaskID
	}
	return ""
}

// checkPending holds the whole batch to the pending limits before anything is written (7).
func (t *Transition) checkPending(commands []WorkflowCommand) *Refusal {
	var activities, timers int64
	for i := range commands {
		switch c := &commands[i]; {
		case c.grouped() && c.sequence() <= t.Run.LastStepSequence:
		case c.Type == "schedule_activity":
			activities++
		case c.Type == "start_timer", c.TimeoutSeconds != nil && *c.TimeoutSeconds > 0:
			timers++
		}
	}
	if n := t.Run.OpenActivities + activities; activities > 0 && exceeds(n, t.Limit.PendingActivities) {
		return LimitExceeded("pending_activity_count", n, t.Limit.PendingActivities)
	}
	if n := t.Run.OpenTimers + timers; timers > 0 && exceeds(n, t.Limit.PendingTimers) {
		return LimitExceeded("pending_timer_count", n, t.Limit.PendingTimers)
	}
	return nil
}
