package rules

// Lease says who takes a task and for how long.
type Lease struct {
	Owner      string
	Generation int64 // registration generation of the owner
	Expires    int64 // micros
}

func (task *Task) lease(now int64, l Lease) {
	task.Status = TaskLeased
	task.LeaseOwner, task.LeaseGeneration = l.Owner, l.Generation
	task.LeasedAt, task.LeaseExpiresAt = now, l.Expires
	task.AttemptCount++
}

// ClaimWorkflow leases a workflow task; leasing writes no history and does not change the run (2.3).
func (t *Transition) ClaimWorkflow(task *Task, l Lease) {
	task.lease(t.Now, l)
	task.ClaimedSequence = t.Run.LastHistorySequence
	t.Eff.Tasks = append(t.Eff.Tasks, *task)
	t.Eff.Run = nil
	if len(t.Run.PendingWake) > 0 { // this claim delivers what was noted
		t.Run.PendingWake = nil
		t.Eff.Run = t.Run
	}
}

// ClaimActivity leases an activity task: a new attempt, its deadlines, ActivityStarted (6.3).
func (t *Transition) ClaimActivity(task *Task, act *Activity, l Lease) *Attempt {
	task.lease(t.Now, l)
	policy := t.policy(act)
	t.intact(task.Payload)
	attempt := Attempt{
		AttemptID: t.NewID(), ExecutionID: act.ExecutionID, RunID: act.RunID, TaskID: task.TaskID,
		AttemptNumber: act.AttemptCount + 1, Status: AttemptRunning, LeaseOwner: l.Owner, StartedAt: t.Now,
	}
	task.ActivityAttemptID = attempt.AttemptID
	act.Status, act.AttemptID, act.AttemptCount = ActivityRunning, attempt.AttemptID, attempt.AttemptNumber
	act.TaskID, act.LastHeartbeatAt = task.TaskID, 0 // heartbeats are those of the current attempt
	if act.StartedAt == 0 {
		act.StartedAt = t.Now
	}
	act.CloseDeadlineAt = after(t.Now, policy.StartToClose)
	act.HeartbeatDeadlineAt = after(t.Now, policy.Heartbeat)
	act.refreshDeadline()
	t.Record("ActivityStarted", act.Sequence, act.attemptEvent(1024, &attempt).
		Time("lease_expires_at", l.Expires).Raw("activity", act.view(nil)).
		Raw("activity_attempt", attempt.view(task)).Members(act.Parallel))
	task.ClaimedSequence = t.Run.LastHistorySequence
	t.Eff.Tasks = append(t.Eff.Tasks, *task)
	t.Eff.Acts = append(t.Eff.Acts, *act)
	t.Eff.NewTries = append(t.Eff.NewTries, attempt)
	return &t.Eff.NewTries[len(t.Eff.NewTries)-1]
}
