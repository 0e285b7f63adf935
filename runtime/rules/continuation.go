package rules

import "slices"

// TakeResumeTask leases the resume task that this very transition made, as the claim of its worker
// would have (carried-polls.md 6). The task leaves the effects until KeepResumeTask puts it back.
func (t *Transition) TakeResumeTask(taskID string, l Lease) *Task {
	for i := range t.Eff.NewTasks {
		if t.Eff.NewTasks[i].TaskID != taskID {
			continue
		}
		task := t.Eff.NewTasks[i]
		t.Eff.NewTasks = append(t.Eff.NewTasks[:i:i], t.Eff.NewTasks[i+1:]...)
		task.lease(t.Now, l)
		task.ClaimedSequence = t.Run.LastHistorySequence
		return &task
	}
	return nil
}

// Without takes an activity and its task, which the transition has ended already, out of what a close
// settles.
func (o *Open) Without(executionID, taskID string) {
	o.Activities = slices.DeleteFunc(o.Activities, func(a Activity) bool { return a.ExecutionID == executionID })
	o.Tasks = slices.DeleteFunc(o.Tasks, func(task Task) bool { return task.TaskID == taskID })
}

// KeepResumeTask writes the completed resume task as one new row in its final state.
func (t *Transition) KeepResumeTask(task *Task) {
	kept := t.Eff.Tasks[:0]
	for i := range t.Eff.Tasks {
		if t.Eff.Tasks[i].TaskID == task.TaskID {
			*task = t.Eff.Tasks[i]
			continue
		}
		kept = append(kept, t.Eff.Tasks[i])
	}
	t.Eff.Tasks = kept
	t.Eff.NewTasks = append(t.Eff.NewTasks, *task)
}
