package rows

import "dwserver/runtime/rules"

// The columns an update may change, then the key it is found by. What is not listed is fixed
// when the row is inserted.

// InstanceUpdate is the update of an instance.
type InstanceUpdate struct {
	WorkflowType string
	CurrentRunID string
	RunCount     int64
	WorkflowID   string
}

// UpdateInstance is the update that stores i.
func UpdateInstance(i *rules.Instance) InstanceUpdate {
	return InstanceUpdate{
		WorkflowType: i.WorkflowType,
		CurrentRunID: i.CurrentRunID,
		RunCount:     i.RunCount,
		WorkflowID:   i.WorkflowID,
	}
}

// RunUpdate is the update of a run.
type RunUpdate struct {
	Status              string
	ClosedReason        string
	Compatibility       string
	ExecutionDeadlineAt int64
	RunDeadlineAt       int64
	DeadlineAt          int64
	LastHistorySequence int64
	HistorySizeBytes    int64
	LastStepSequence    int64
	LastCommandSequence int64
	MessagePosition     int64
	OpenActivities      int64
	OpenTimers          int64
	OpenWaits           int64
	PendingSignals      int64
	WorkflowTaskID      string
	PendingWake         []byte
	MinProtocol         int64
	ClosedEventSequence int64
	ClosedAt            int64
	LastProgressAt      int64
	RunID               string
	RunBase             int64
}

// UpdateRun is the update that stores r, guarded by the sequence its transition started from.
func UpdateRun(r *rules.Run, base int64) RunUpdate {
	return RunUpdate{
		Status:              r.Status,
		ClosedReason:        r.ClosedReason,
		Compatibility:       r.Compatibility,
		ExecutionDeadlineAt: r.ExecutionDeadlineAt,
		RunDeadlineAt:       r.RunDeadlineAt,
		DeadlineAt:          r.DeadlineAt,
		LastHistorySequence: r.LastHistorySequence,
		HistorySizeBytes:    r.HistorySizeBytes,
		LastStepSequence:    r.LastStepSequence,
		LastCommandSequence: r.LastCommandSequence,
		MessagePosition:     r.MessagePosition,
		OpenActivities:      r.OpenActivities,
		OpenTimers:          r.OpenTimers,
		OpenWaits:           r.OpenWaits,
		PendingSignals:      r.PendingSignals,
		WorkflowTaskID:      r.WorkflowTaskID,
		PendingWake:         blob(r.PendingWake),
		MinProtocol:         r.MinProtocol,
		ClosedEventSequence: r.ClosedEventSequence,
		ClosedAt:            r.ClosedAt,
		LastProgressAt:      r.LastProgressAt,
		RunID:               r.RunID,
		RunBase:             base,
	}
}

// TaskUpdate is the update of a task.
type TaskUpdate struct {
	Status            string
	OrderAt           int64
	AvailableAt       int64
	ReadyAt           int64
	MinProtocol       int64
	AttemptCount      int64
	LeaseOwner        string
	LeaseGeneration   int64
	LeasedAt          int64
	LeaseExpiresAt    int64
	ClaimedSequence   int64
	ActivityAttemptID string
	Payload           []byte
	Receipt           []byte
	LastError         string
	ClosedAt          int64
	TaskID            string
}

// UpdateTask is the update that stores t.
func UpdateTask(t *rules.Task) TaskUpdate {
	return TaskUpdate{
		Status:            t.Status,
		OrderAt:           t.OrderAt,
		AvailableAt:       t.AvailableAt,
		ReadyAt:           t.ReadyAt,
		MinProtocol:       t.MinProtocol,
		AttemptCount:      t.AttemptCount,
		LeaseOwner:        t.LeaseOwner,
		LeaseGeneration:   t.LeaseGeneration,
		LeasedAt:          t.LeasedAt,
		LeaseExpiresAt:    t.LeaseExpiresAt,
		ClaimedSequence:   t.ClaimedSequence,
		ActivityAttemptID: t.ActivityAttemptID,
		Payload:           blob(t.Payload),
		Receipt:           blob(t.Receipt),
		LastError:         t.LastError,
		ClosedAt:          t.ClosedAt,
		TaskID:            t.TaskID,
	}
}

// ActivityUpdate is the update of a activity.
type ActivityUpdate struct {
	Status              string
	AttemptCount        int64
	AttemptID           string
	TaskID              string
	ScheduleDeadlineAt  int64
	ScheduleToCloseAt   int64
	CloseDeadlineAt     int64
	HeartbeatDeadlineAt int64
	NextDeadlineAt      int64
	StartedAt           int64
	LastHeartbeatAt     int64
	ClosedAt            int64
	ClosedEventSequence int64
	ExecutionID         string
}

// UpdateActivity is the update that stores a.
func UpdateActivity(a *rules.Activity) ActivityUpdate {
	return ActivityUpdate{
		Status:              a.Status,
		AttemptCount:        a.AttemptCount,
		AttemptID:           a.AttemptID,
		TaskID:              a.TaskID,
		ScheduleDeadlineAt:  a.ScheduleDeadlineAt,
		ScheduleToCloseAt:   a.ScheduleToCloseAt,
		CloseDeadlineAt:     a.CloseDeadlineAt,
		HeartbeatDeadlineAt: a.HeartbeatDeadlineAt,
		NextDeadlineAt:      a.NextDeadlineAt,
		StartedAt:           a.StartedAt,
		LastHeartbeatAt:     a.LastHeartbeatAt,
		ClosedAt:            a.ClosedAt,
		ClosedEventSequence: a.ClosedEventSequence,
		ExecutionID:         a.ExecutionID,
	}
}

// AttemptUpdate is the update of a attempt.
type AttemptUpdate struct {
	Status          string
	LastHeartbeatAt int64
	ClosedAt        int64
	Outcome         string
	Receipt         []byte
	NextTaskID      string
	AttemptID       string
}

// UpdateAttempt is the update that stores a.
func UpdateAttempt(a *rules.Attempt) AttemptUpdate {
	return AttemptUpdate{
		Status:          a.Status,
		LastHeartbeatAt: a.LastHeartbeatAt,
		ClosedAt:        a.ClosedAt,
		Outcome:         a.Outcome,
		Receipt:         blob(a.Receipt),
		NextTaskID:      a.NextTaskID,
		AttemptID:       a.AttemptID,
	}
}

// TimerUpdate is the update of a timer.
type TimerUpdate struct {
	DueAt    int64
	Status   string
	ClosedAt int64
	TimerID  string
}

// UpdateTimer is the update that stores t.
func UpdateTimer(t *rules.Timer) TimerUpdate {
	return TimerUpdate{
		DueAt:    t.DueAt,
		Status:   t.Status,
		ClosedAt: t.ClosedAt,
		TimerID:  t.TimerID,
	}
}

// WaitUpdate is the update of a wait.
type WaitUpdate struct {
	TimeoutSeconds int64
	TimerID        string
	Status         string
	OpenedSequence int64
	ClosedAt       int64
	WaitID         string
}

// UpdateWait is the update that stores w.
func UpdateWait(w *rules.Wait) WaitUpdate {
	return WaitUpdate{
		TimeoutSeconds: w.TimeoutSeconds,
		TimerID:        w.TimerID,
		Status:         w.Status,
		OpenedSequence: w.OpenedSequence,
		ClosedAt:       w.ClosedAt,
		WaitID:         w.WaitID,
	}
}

// SignalUpdate is the update of a signal.
type SignalUpdate struct {
	RunID            string
	CommandSequence  int64
	WaitID           string
	Status           string
	ReceivedSequence int64
	WorkflowSequence int64
	ClosedAt         int64
	SignalID         string
}

// UpdateSignal is the update that stores s.
func UpdateSignal(s *rules.Signal) SignalUpdate {
	return SignalUpdate{
		RunID:            s.RunID,
		CommandSequence:  s.CommandSequence,
		WaitID:           s.WaitID,
		Status:           s.Status,
		ReceivedSequence: s.ReceivedSequence,
		WorkflowSequence: s.WorkflowSequence,
		ClosedAt:         s.ClosedAt,
		SignalID:         s.SignalID,
	}
}

// CommandUpdate is the update of a command.
type CommandUpdate struct {
	AppliedAt int64
	CommandID string
}

// UpdateCommand is the update that stores c: when it was applied, and nothing else.
func UpdateCommand(c *rules.Command) CommandUpdate {
	return CommandUpdate{AppliedAt: c.AppliedAt, CommandID: c.CommandID}
}
