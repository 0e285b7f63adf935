package rows

import "dwserver/runtime/rules"

// The row that is stored after an update of a row that is known: the update's columns, and the rest
// as it was.

// Onto stores the update in r.
func (u *RunUpdate) Onto(r *rules.Run) {
	r.Status = u.Status
	r.ClosedReason = u.ClosedReason
	r.Compatibility = u.Compatibility
	r.ExecutionDeadlineAt = u.ExecutionDeadlineAt
	r.RunDeadlineAt = u.RunDeadlineAt
	r.DeadlineAt = u.DeadlineAt
	r.LastHistorySequence = u.LastHistorySequence
	r.HistorySizeBytes = u.HistorySizeBytes
	r.LastStepSequence = u.LastStepSequence
	r.LastCommandSequence = u.LastCommandSequence
	r.MessagePosition = u.MessagePosition
	r.OpenActivities = u.OpenActivities
	r.OpenTimers = u.OpenTimers
	r.OpenWaits = u.OpenWaits
	r.PendingSignals = u.PendingSignals
	r.WorkflowTaskID = u.WorkflowTaskID
	r.PendingWake = u.PendingWake
	r.MinProtocol = u.MinProtocol
	r.ClosedEventSequence = u.ClosedEventSequence
	r.ClosedAt = u.ClosedAt
	r.LastProgressAt = u.LastProgressAt
}

// Onto stores the update in r.
func (u *TaskUpdate) Onto(r *rules.Task) {
	r.Status = u.Status
	r.OrderAt = u.OrderAt
	r.AvailableAt = u.AvailableAt
	r.ReadyAt = u.ReadyAt
	r.MinProtocol = u.MinProtocol
	r.AttemptCount = u.AttemptCount
	r.LeaseOwner = u.LeaseOwner
	r.LeaseGeneration = u.LeaseGeneration
	r.LeasedAt = u.LeasedAt
	r.LeaseExpiresAt = u.LeaseExpiresAt
	r.ClaimedSequence = u.ClaimedSequence
	r.ActivityAttemptID = u.ActivityAttemptID
	r.Payload = u.Payload
	r.Receipt = u.Receipt
	r.LastError = u.LastError
	r.ClosedAt = u.ClosedAt
}

// Onto stores the update in r.
func (u *ActivityUpdate) Onto(r *rules.Activity) {
	r.Status = u.Status
	r.AttemptCount = u.AttemptCount
	r.AttemptID = u.AttemptID
	r.TaskID = u.TaskID
	r.ScheduleDeadlineAt = u.ScheduleDeadlineAt
	r.ScheduleToCloseAt = u.ScheduleToCloseAt
	r.CloseDeadlineAt = u.CloseDeadlineAt
	r.HeartbeatDeadlineAt = u.HeartbeatDeadlineAt
	r.NextDeadlineAt = u.NextDeadlineAt
	r.StartedAt = u.StartedAt
	r.LastHeartbeatAt = u.LastHeartbeatAt
	r.ClosedAt = u.ClosedAt
	r.ClosedEventSequence = u.ClosedEventSequence
}

// Onto stores the update in r.
func (u *AttemptUpdate) Onto(r *rules.Attempt) {
	r.Status = u.Status
	r.LastHeartbeatAt = u.LastHeartbeatAt
	r.ClosedAt = u.ClosedAt
	r.Outcome = u.Outcome
	r.Receipt = u.Receipt
	r.NextTaskID = u.NextTaskID
}
