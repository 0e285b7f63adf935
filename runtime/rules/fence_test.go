package rules

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Each row breaks everything from its own rule on; the first in the order must answer (settled.md:
// found, run closed, leased, owner, attempt, expiry, registration).
func TestWorkflowFenceOrder(t *testing.T) {
	const now, stale = 1000 * second, 60 * second
	good := func() *FenceInput {
		return &FenceInput{
			Run:        &Run{Status: RunWaiting},
			Task:       &Task{TaskID: "t", Status: TaskLeased, LeaseOwner: "w", AttemptCount: 3, LeaseExpiresAt: now + 1, LeaseGeneration: 2},
			Owner:      &Worker{WorkerID: "w", Status: WorkerActive, LastSeenAt: now, Generation: 2},
			LeaseOwner: "w", Attempt: 3, Now: now, StaleAfter: stale,
		}
	}
	r, expired := good().Workflow()
	require.Nil(t, r)
	require.False(t, expired)

	breaks := []struct {
		reason string
		change func(*FenceInput)
	}{
		{"stale_worker_registration", func(f *FenceInput) { f.Owner.LastSeenAt = now - stale - 1 }},
		{"lease_expired", func(f *FenceInput) { f.Task.LeaseExpiresAt = now }},
		{"workflow_task_attempt_mismatch", func(f *FenceInput) { f.Attempt = 2 }},
		{"lease_owner_mismatch", func(f *FenceInput) { f.LeaseOwner = "v" }},
		{"task_not_leased", func(f *FenceInput) { f.Task.Status = TaskReady }},
		{"run_closed", func(f *FenceInput) { f.Run.Status = RunTerminated }},
	}
	f := good()
	for _, b := range breaks { // each comes before all that are broken already
		b.change(f)
		r, expired := f.Workflow()
		require.NotNil(t, r, b.reason)
		require.Equal(t, b.reason, r.Reason)
		require.Equal(t, b.reason == "lease_expired", expired)
		require.Equal(t, "t", r.Fields["task_id"])
		require.Equal(t, f.Attempt, r.Fields["workflow_task_attempt"])
	}
}

func TestWorkflowFenceRegistration(t *testing.T) {
	for name, owner := range map[string]*Worker{
		"gone":              {},
		"draining":          {WorkerID: "w", Status: WorkerDraining, LastSeenAt: 100, Generation: 2},
		"not seen":          {WorkerID: "w", Status: WorkerActive, LastSeenAt: 39, Generation: 2},
		"registered anew":   {WorkerID: "w", Status: WorkerActive, LastSeenAt: 100, Generation: 3},
		"":                  {WorkerID: "w", Status: WorkerActive, LastSeenAt: 40, Generation: 2},
		"of a clock behind": {WorkerID: "w", Status: WorkerActive, LastSeenAt: 500, Generation: 1},
	} {
		f := &FenceInput{
			Run: &Run{Status: RunPending}, Owner: owner, LeaseOwner: "w", Attempt: 1, Now: 100, StaleAfter: 60,
			Task: &Task{Status: TaskLeased, LeaseOwner: "w", AttemptCount: 1, LeaseExpiresAt: 101, LeaseGeneration: 2},
		}
		r, _ := f.Workflow()
		if name == "" {
			require.Nil(t, r)
			continue
		}
		require.NotNil(t, r, name)
		require.Equal(t, "stale_worker_registration", r.Reason, name)
	}
}

func TestRunClosedTellsWhy(t *testing.T) {
	for status, cancelled := range map[string]bool{RunCompleted: false, RunFailed: false, RunCancelled: true, RunTerminated: true} {
		f := &FenceInput{
			Run:  &Run{RunID: "r", Status: status, ClosedReason: "why", ClosedAt: epoch},
			Task: &Task{Status: TaskCancelled, LeaseOwner: "w", LeaseExpiresAt: Never}, Owner: &Worker{}, LeaseOwner: "w", Attempt: 1,
		}
		r, _ := f.Workflow()
		require.Equal(t, "run_closed", r.Reason)
		require.Equal(t, map[string]any{
			"task_id": "", "workflow_task_attempt": int64(1), "run_id": "r", "stop_reason": "run_" + status, "cancel_requested": cancelled,
			"can_continue": false, "run_status": status, "run_closed_reason": "why", "run_closed_at": FormatTime(epoch),
			"task_status": TaskCancelled, "lease_owner": "w", "lease_expires_at": nil,
		}, r.Fields)
	}
}

// A report to a run that its deadline closed; a heartbeat only learns that the run is closed.
func TestTimedOutRunTellsReports(t *testing.T) {
	for report, reason := range map[bool]string{true: "run_timed_out", false: "run_closed"} {
		f := &FenceInput{
			Run: &Run{RunID: "r", Status: RunFailed, ClosedReason: "timed_out", ClosedAt: epoch}, Report: report,
			Task: &Task{Status: TaskCancelled, LeaseOwner: "w"}, Owner: &Worker{}, LeaseOwner: "w", Attempt: 1,
		}
		r, _ := f.Workflow()
		require.Equal(t, reason, r.Reason)
		require.Equal(t, []any{"r", RunFailed, "timed_out"},
			[]any{r.Fields["run_id"], r.Fields["run_status"], r.Fields["run_closed_reason"]})
	}
}

func TestActivityIdentity(t *testing.T) {
	good := func() *ActivityFenceInput {
		return &ActivityFenceInput{Attempt: &Attempt{AttemptID: "a", TaskID: "t", LeaseOwner: "w"}, LeaseOwner: "w"}
	}
	require.Nil(t, good().Identity("t", "a"))
	f := good()
	f.LeaseOwner = "v"
	require.Equal(t, "lease_owner_mismatch", f.Identity("t", "a").Reason)
	require.Equal(t, "w", f.Identity("t", "a").Fields["lease_owner"])
	require.Equal(t, "task_mismatch", f.Identity("other", "a").Reason)
	f.Attempt = &Attempt{}
	require.Equal(t, "attempt_not_found", f.Identity("t", "a").Reason)
}

func TestActivityVerdict(t *testing.T) {
	good := func() *ActivityFenceInput {
		return &ActivityFenceInput{
			Run:      &Run{Status: RunWaiting},
			Task:     &Task{Status: TaskLeased, ActivityAttemptID: "a", LeaseExpiresAt: 200},
			Activity: &Activity{ExecutionID: "x", Status: ActivityRunning, AttemptID: "a", ScheduleToCloseAt: Never, HeartbeatDeadlineAt: Never, CloseDeadlineAt: Never},
			Attempt:  &Attempt{AttemptID: "a", Status: AttemptRunning}, Now: 100,
		}
	}
	reason, expired := good().Verdict()
	require.Empty(t, reason)
	require.False(t, expired)
	for name, row := range map[string]struct {
		change    func(*ActivityFenceInput)
		reason    string
		expired   bool
		cancelled bool
	}{
		"run cancelled":      {func(f *ActivityFenceInput) { f.Run.Status = RunCancelled }, "run_cancelled", false, true},
		"run terminated":     {func(f *ActivityFenceInput) { f.Run.Status = RunTerminated }, "run_terminated", false, true},
		"run completed":      {func(f *ActivityFenceInput) { f.Run.Status = RunCompleted }, "run_closed", false, false},
		"execution missing":  {func(f *ActivityFenceInput) { f.Activity = &Activity{} }, "activity_execution_missing", false, false},
		"attempt cancelled":  {func(f *ActivityFenceInput) { f.Attempt.Status = AttemptCancelled }, "attempt_closed", false, true},
		"attempt reported":   {func(f *ActivityFenceInput) { f.Attempt.Status, f.Attempt.Outcome = AttemptFailed, "failed" }, "attempt_closed", false, false},
		"attempt expired":    {func(f *ActivityFenceInput) { f.Attempt.Status = AttemptExpired }, "stale_attempt", false, false},
		"attempt timed out":  {func(f *ActivityFenceInput) { f.Attempt.Status = AttemptFailed }, "stale_attempt", false, false},
		"activity cancelled": {func(f *ActivityFenceInput) { f.Activity.Status = ActivityCancelled }, "activity_cancelled", false, true},
		"task cancelled":     {func(f *ActivityFenceInput) { f.Task.Status = TaskCancelled }, "task_cancelled", false, true},
		"activity pending":   {func(f *ActivityFenceInput) { f.Activity.Status = ActivityPending }, "activity_not_running", false, false},
		"newer attempt":      {func(f *ActivityFenceInput) { f.Activity.AttemptID = "b" }, "stale_attempt", false, false},
		"task of another":    {func(f *ActivityFenceInput) { f.Task.ActivityAttemptID = "b" }, "stale_attempt", false, false},
		"task not leased":    {func(f *ActivityFenceInput) { f.Task.Status = TaskReady }, "task_not_leased", false, false},
		"lease over":         {func(f *ActivityFenceInput) { f.Task.LeaseExpiresAt = 100 }, "stale_attempt", true, false},
		"deadline passed":    {func(f *ActivityFenceInput) { f.Activity.CloseDeadlineAt = 100 }, "stale_attempt", true, false},
		"one micro to go":    {func(f *ActivityFenceInput) { f.Task.LeaseExpiresAt, f.Activity.CloseDeadlineAt = 101, 101 }, "", false, false},
		"everything at once": {func(f *ActivityFenceInput) {
			f.Run.Status, f.Attempt.Status, f.Task.Status = RunTerminated, AttemptExpired, TaskReady
		}, "run_terminated", false, true},
	} {
		f := good()
		row.change(f)
		reason, expired := f.Verdict()
		require.Equal(t, row.reason, reason, name)
		require.Equal(t, row.expired, expired, name)
		require.Equal(t, row.cancelled, f.CancelRequested(reason), name)
	}
}
