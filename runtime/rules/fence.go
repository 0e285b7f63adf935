package rules

// FenceInput is a workflow-task fence with what it is judged against (worker-plane.md 7.7).
type FenceInput struct {
	Run        *Run
	Task       *Task
	Owner      *Worker // registration of the lease owner; zero when gone
	LeaseOwner string  // as the caller says
	Attempt    int64   // as the caller says
	Now        int64
	StaleAfter int64 // micros
	Report     bool  // the caller completes or fails the task
}

// Fresh reports whether a registration is active and was seen within staleAfter micros.
func (w *Worker) Fresh(now, staleAfter int64) bool {
	return w.WorkerID != "" && w.Status == WorkerActive && now-w.LastSeenAt <= staleAfter
}

// Before reports whether a task comes before another place in claim order: priority, fairness and age.
func (task *Task) Before(priority, orderAt int64, taskID string) bool {
	if task.Priority != priority {
		return task.Priority < priority
	}
	if task.OrderAt != orderAt {
		return task.OrderAt < orderAt
	}
	return task.TaskID < taskID
}

// Worker statuses.
const (
	WorkerActive   = "active"
	WorkerDraining = "draining"
)

// Workflow judges the fence in the contract's order: run closed, leased, owner, attempt, expiry,
// registration. A report to a run that its deadline closed is answered alike whether the report or the sweep
// found that out (commands-and-history.md 2.3): run_timed_out. nil means that the caller holds the task. expired says that the lease is over but
// nobody has recovered it yet.
func (f *FenceInput) Workflow() (r *Refusal, expired bool) {
	task := f.Task
	base := func(reason, message string) *Refusal {
		return Refuse(reason, message).With("task_id", task.TaskID).With("workflow_task_attempt", f.Attempt)
	}
	switch {
	case task.Status != TaskLeased && f.Run.IsClosed():
		return f.runClosed(base), false
	case task.Status != TaskLeased:
		return base("task_not_leased", "The workflow task is not leased.").With("task_status", task.Status), false
	case task.LeaseOwner != f.LeaseOwner:
		return base("lease_owner_mismatch", "The workflow task is leased to another worker.").
			With("lease_owner", task.LeaseOwner), false
	case task.AttemptCount != f.Attempt:
		return base("workflow_task_attempt_mismatch", "The workflow task is at another attempt.").
			With("current_attempt", task.AttemptCount), false
	case task.LeaseExpiresAt <= f.Now:
		return base("lease_expired", "The workflow task's lease has expired.").With("task_status", task.Status).
			With("lease_owner", task.LeaseOwner).With("lease_expires_at", timeOrNil(task.LeaseExpiresAt)), true
	case !f.Owner.Fresh(f.Now, f.StaleAfter) || f.Owner.Generation != task.LeaseGeneration:
		return base("stale_worker_registration", "The lease owner's registration is not current.").
			With("task_status", task.Status).With("lease_owner", task.LeaseOwner).
			With("lease_expires_at", timeOrNil(task.LeaseExpiresAt)), false
	}
	return nil, false
}

func (f *FenceInput) runClosed(base func(reason, message string) *Refusal) *Refusal {
	stop := "run_closed"
	switch f.Run.Status {
	case RunCancelled, RunTerminated, RunCompleted, RunFailed:
		stop = "run_" + f.Run.Status
	}
	task := f.Task
	r := base("run_closed", "The run is closed.")
	if f.Report && f.Run.ClosedReason == "timed_out" {
		r = base("run_timed_out", "The run's deadline has passed.")
	}
	return r.With("run_id", f.Run.RunID).With("stop_reason", stop).
		With("cancel_requested", f.Run.Status == RunCancelled || f.Run.Status == RunTerminated).
		With("can_continue", false).With("run_status", f.Run.Status).With("run_closed_reason", f.Run.ClosedReason).
		With("run_closed_at", timeOrNil(f.Run.ClosedAt)).With("task_status", task.Status).
		With("lease_owner", orNil(task.LeaseOwner)).With("lease_expires_at", timeOrNil(task.LeaseExpiresAt))
}

func timeOrNil(micros int64) any {
	if micros == 0 || micros == Never {
		return nil
	}
	return FormatTime(micros)
}

func orNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// ActivityFenceInput is an activity fence with what it is judged against (worker-plane.md 6.2).
type ActivityFenceInput struct {
	Run        *Run
	Task       *Task
	Activity   *Activity
	Attempt    *Attempt
	LeaseOwner string
	Now        int64
}

// Identity refuses an attempt that is not this task's or not the caller's; nil when it is.
func (f *ActivityFenceInput) Identity(taskID, attemptID string) *Refusal {
	base := func(reason, message string) *Refusal {
		return Refuse(reason, message).With("task_id", taskID).With("activity_attempt_id", attemptID)
	}
	switch {
	case f.Attempt.AttemptID == "":
		return base("attempt_not_found", "There is no such activity attempt.")
	case f.Attempt.TaskID != taskID:
		return base("task_mismatch", "The activity attempt belongs to another task.")
	case f.Attempt.LeaseOwner != f.LeaseOwner:
		return base("lease_owner_mismatch", "The activity attempt is leased to another worker.").
			With("lease_owner", f.Attempt.LeaseOwner)
	}
	return nil
}

// Verdict says why the attempt may not go on, "" when it may. expired says that its lease or a
// deadline has passed but nothing has closed it yet.
func (f *ActivityFenceInput) Verdict() (reason string, expired bool) {
	switch {
	case f.Run.Status == RunCancelled:
		return "run_cancelled", false
	case f.Run.Status == RunTerminated:
		return "run_terminated", false
	case f.Run.IsClosed():
		return "run_closed", false
	case f.Activity.ExecutionID == "":
		return "activity_execution_missing", false
	case f.Attempt.Status == AttemptCancelled, f.Attempt.Outcome != "": // cancelled, or reported before
		return "attempt_closed", false
	case f.Attempt.Status != AttemptRunning:
		return "stale_attempt", false
	case f.Activity.Status == ActivityCancelled:
		return "activity_cancelled", false
	case f.Task.Status == TaskCancelled:
		return "task_cancelled", false
	case f.Activity.Status != ActivityRunning:
		return "activity_not_running", false
	case f.Activity.AttemptID != f.Attempt.AttemptID || f.Task.ActivityAttemptID != f.Attempt.AttemptID:
		return "stale_attempt", false
	case f.Task.Status != TaskLeased:
		return "task_not_leased", false
	case f.Task.LeaseExpiresAt <= f.Now || f.Activity.DueTimeout(f.Now) != "":
		return "stale_attempt", true
	}
	return "", false
}

// CancelRequested reports whether a verdict tells the worker to stop because of a cancellation.
func (f *ActivityFenceInput) CancelRequested(reason string) bool {
	switch reason {
	case "run_cancelled", "run_terminated", "activity_cancelled", "task_cancelled":
		return true
	case "attempt_closed":
		return f.Attempt.Status == AttemptCancelled
	}
	return false
}
