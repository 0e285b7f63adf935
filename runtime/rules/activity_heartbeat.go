package rules

// HeartbeatActivity records a heartbeat: the deadline and the lease move, history keeps it (6.4).
// progress is the JSON object of what was reported, empty for none.
func (t *Transition) HeartbeatActivity(act *Activity, attempt *Attempt, task *Task, leaseExpires int64, progress []byte) {
	policy := t.policy(act)
	act.LastHeartbeatAt, attempt.LastHeartbeatAt = t.Now, t.Now
	act.HeartbeatDeadlineAt = after(t.Now, policy.Heartbeat)
	act.refreshDeadline()
	task.LeaseExpiresAt = leaseExpires
	t.Record("ActivityHeartbeatRecorded", act.Sequence, act.attemptEvent(768+len(progress), attempt).
		Time("heartbeat_at", t.Now).Time("lease_expires_at", leaseExpires).Raw("progress", progress).
		Raw("activity", act.view(nil)).Raw("activity_attempt", attempt.view(task)).Members(act.Parallel))
	t.writeActivity(act, attempt, task)
}
