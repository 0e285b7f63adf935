package runtimetest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"dwserver/runtime"
	"dwserver/runtime/rules"
)

var fenceCases = []testCase{
	{"Workflow", testFenceWorkflow}, {"Closed", testFenceClosed}, {"Expired", testFenceExpired},
	{"Stale", testFenceStale}, {"RunTimedOut", testFenceRunTimedOut}, {"Activity", testFenceActivity},
	{"ActivityExpired", testFenceActivityExpired}, {"ActivityClosed", testFenceActivityClosed},
	{"ActivityRunTimedOut", testFenceActivityRunTimedOut}, {"ConfiguredLease", testConfiguredLease},
}

// everyWorkflowOperation calls each operation that a workflow-task fence guards.
func (x *fixture) everyWorkflowOperation(f runtime.WorkflowFence, check func(operation string, err error)) {
	x.Helper()
	_, err := x.HeartbeatWorkflowTask(x.ctx(), f)
	check("heartbeat", err)
	_, err = x.WorkflowTaskHistory(x.ctx(), runtime.WorkflowHistoryRequest{WorkflowFence: f})
	check("history", err)
	_, err = x.FailWorkflowTask(x.ctx(), runtime.FailWorkflowTaskRequest{WorkflowFence: f, Message: "m"})
	check("fail", err)
	_, err = x.CompleteWorkflowTask(x.ctx(), runtime.CompleteWorkflowTaskRequest{WorkflowFence: f, BodyDigest: []byte("d"), ProtocolMinor: 20})
	check("complete", err)
}

func testFenceWorkflow(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	run := x.begun("wf")
	task := x.takeWorkflow("w")
	good := workflowFence(&task.Task)
	act := x.takeActivityOf("w", "other")
	for name, row := range map[string]struct {
		change func(*runtime.WorkflowFence)
		reason string
		field  string
		value  any
	}{
		"unknown":         {func(f *runtime.WorkflowFence) { f.TaskID = "none" }, "task_not_found", "task_id", "none"},
		"other namespace": {func(f *runtime.WorkflowFence) { f.Namespace = "elsewhere" }, "task_not_found", "task_id", good.TaskID},
		"an activity":     {func(f *runtime.WorkflowFence) { f.TaskID = act.Task.TaskID }, "task_not_found", "task_id", act.Task.TaskID},
		"other owner":     {func(f *runtime.WorkflowFence) { f.LeaseOwner, f.Attempt = "v", 9 }, "lease_owner_mismatch", "lease_owner", "w"},
		"other attempt":   {func(f *runtime.WorkflowFence) { f.Attempt = 9 }, "workflow_task_attempt_mismatch", "current_attempt", int64(1)},
	} {
		f := good
		row.change(&f)
		x.everyWorkflowOperation(f, func(operation string, err error) {
			r := x.refusal(row.reason, err)
			require.Equal(t, row.value, r.Fields[row.field], name+" "+operation)
			require.Equal(t, []any{f.TaskID, f.Attempt}, []any{r.Fields["task_id"], r.Fields["workflow_task_attempt"]})
		})
	}
	require.Len(t, x.events(run.RunID), 2)
	x.complete(task)
	x.everyWorkflowOperation(good, func(operation string, err error) {
		if operation == "complete" { // has a receipt
			x.refusal("conflicting_completion", err)
			return
		}
		require.Equal(t, rules.TaskCompleted, x.refusal("task_not_leased", err).Fields["task_status"])
	})
	// Who lost the task to another that completed it repeats nothing.
	for _, change := range []func(*runtime.WorkflowFence){
		func(f *runtime.WorkflowFence) { f.LeaseOwner = "v" }, func(f *runtime.WorkflowFence) { f.Attempt = 9 },
	} {
		f := good
		change(&f)
		x.everyWorkflowOperation(f, func(operation string, err error) {
			require.Equal(t, rules.TaskCompleted, x.refusal("task_not_leased", err).Fields["task_status"], operation)
		})
	}
}

// testFenceClosed: the owner of a task of a run that was closed learns so, typed and final (R75).
func testFenceClosed(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	for kind, close := range map[string]func(context.Context, runtime.CloseRequest) (runtime.CommandResult, error){
		"cancelled": x.CancelWorkflow, "terminated": x.TerminateWorkflow,
	} {
		run := x.begun("")
		task := x.takeWorkflow("w")
		_, err := close(x.ctx(), runtime.CloseRequest{Target: target(run.WorkflowID)})
		require.NoError(t, err)
		x.everyWorkflowOperation(workflowFence(&task.Task), func(_ string, err error) {
			r := x.refusal("run_closed", err)
			require.Equal(t, []any{"run_" + kind, true, false, kind, kind, rules.TaskCancelled, "w"}, []any{r.Fields["stop_reason"],
				r.Fields["cancel_requested"], r.Fields["can_continue"], r.Fields["run_status"], r.Fields["run_closed_reason"],
				r.Fields["task_status"], r.Fields["lease_owner"]})
		})
		require.Equal(t, x.run(run.RunID).ClosedEventSequence, x.run(run.RunID).LastHistorySequence, "no later event")
	}
}

// testFenceExpired: a lease that is over is refused whether or not anything swept it, and the refusal
// starts its recovery.
func testFenceExpired(t *testing.T, open Open) {
	x := newFixture(t, open)
	for _, operation := range []string{"heartbeat", "fail", "complete", "history"} {
		x.register("w")
		run := x.begun("")
		task := x.takeWorkflow("w")
		x.Clock.Advance(60e9)
		f := workflowFence(&task.Task)
		var err error
		switch operation {
		case "heartbeat":
			_, err = x.HeartbeatWorkflowTask(x.ctx(), f)
		case "fail":
			_, err = x.FailWorkflowTask(x.ctx(), runtime.FailWorkflowTaskRequest{WorkflowFence: f, Message: "m"})
		case "complete":
			_, err = x.CompleteWorkflowTask(x.ctx(), completion(&task.Task, finish()))
		case "history":
			_, err = x.WorkflowTaskHistory(x.ctx(), runtime.WorkflowHistoryRequest{WorkflowFence: f})
		}
		var refused *runtime.Refusal
		require.ErrorAs(t, err, &refused)
		require.Contains(t, []string{"lease_expired", "task_not_leased"}, refused.Reason, operation) // the due loop may have been first
		require.NoError(t, x.RunDue(x.ctx()))
		require.Equal(t, int64(2), x.takeWorkflow("w").Task.AttemptCount)
		x.terminate(run.WorkflowID)
	}
}

// testFenceStale: only a fresh registration of the claim's generation may use the lease.
func testFenceStale(t *testing.T, open Open) {
	x := newFixture(t, open, func(o *runtime.Options) { o.WorkflowTaskTimeout = 1000e9 })
	x.register("w")
	x.begun("wf")
	task := x.takeWorkflow("w")
	x.Clock.Advance(61e9) // not seen for longer than the stale time; the lease lives
	x.everyWorkflowOperation(workflowFence(&task.Task), func(_ string, err error) {
		require.Equal(t, rules.TaskLeased, x.refusal("stale_worker_registration", err).Fields["task_status"])
	})
	_, err := x.HeartbeatWorker(x.ctx(), runtime.HeartbeatWorkerRequest{Namespace: "default", WorkerID: "w"})
	require.NoError(t, err)
	_, err = x.HeartbeatWorkflowTask(x.ctx(), workflowFence(&task.Task))
	require.NoError(t, err, "a heartbeat makes it fresh again")
	x.drain("w")
	x.everyWorkflowOperation(workflowFence(&task.Task), func(_ string, err error) { x.refusal("stale_worker_registration", err) })
}

func testFenceRunTimedOut(t *testing.T, open Open) {
	for _, operation := range []string{"heartbeat", "fail", "complete"} {
		x := newFixture(t, open)
		x.register("w")
		run := x.begun("wf", func(r *runtime.StartRequest) { r.RunTimeout = 10 })
		task := x.takeWorkflow("w")
		x.Clock.Advance(10e9)
		f := workflowFence(&task.Task)
		var err error
		switch operation {
		case "heartbeat":
			_, err = x.HeartbeatWorkflowTask(x.ctx(), f)
		case "fail":
			_, err = x.FailWorkflowTask(x.ctx(), runtime.FailWorkflowTaskRequest{WorkflowFence: f, Message: "m"})
		case "complete":
			_, err = x.CompleteWorkflowTask(x.ctx(), completion(&task.Task, finish()))
		}
		var refused *runtime.Refusal
		require.ErrorAs(t, err, &refused)
		require.Contains(t, []string{"run_timed_out", "run_closed"}, refused.Reason) // the due loop may have been first
		require.Equal(t, rules.RunFailed, refused.Fields["run_status"])
		require.Equal(t, "timed_out", x.run(run.RunID).ClosedReason)
		require.Equal(t, "WorkflowTimedOut", x.history(run.RunID, 2)[0])
	}
}

// everyActivityOperation calls each operation that an activity fence guards; heartbeat and status
// answer a lost attempt instead of refusing it.
func (x *fixture) everyActivityOperation(f runtime.ActivityFence, outcome func(err error), state func(runtime.ActivityState, error)) {
	x.Helper()
	state(x.ActivityStatus(x.ctx(), f))
	state(x.HeartbeatActivity(x.ctx(), runtime.HeartbeatActivityRequest{ActivityFence: f}))
	_, err := x.CompleteActivity(x.ctx(), runtime.CompleteActivityRequest{ActivityFence: f, BodyDigest: []byte("d")})
	outcome(err)
	_, err = x.FailActivity(x.ctx(), runtime.FailActivityRequest{ActivityFence: f, BodyDigest: []byte("d"), Failure: rules.ActivityFailureReport{Message: "m"}})
	outcome(err)
}

func testFenceActivity(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	act := x.takeActivityOf("w", "wf")
	other := x.takeActivityOf("w", "other")
	x.begun("third")
	task := x.takeWorkflow("w")
	good := activityFence(act)
	for name, row := range map[string]struct {
		change func(*runtime.ActivityFence)
		reason string
	}{
		"unknown task":    {func(f *runtime.ActivityFence) { f.TaskID = "none" }, "task_not_found"},
		"a workflow task": {func(f *runtime.ActivityFence) { f.TaskID = task.Task.TaskID }, "task_not_found"},
		"other namespace": {func(f *runtime.ActivityFence) { f.Namespace = "elsewhere" }, "task_not_found"},
		"unknown attempt": {func(f *runtime.ActivityFence) { f.AttemptID = "none" }, "attempt_not_found"},
		"other attempt":   {func(f *runtime.ActivityFence) { f.AttemptID = other.Attempt.AttemptID }, "task_mismatch"},
		"other owner":     {func(f *runtime.ActivityFence) { f.LeaseOwner = "v" }, "lease_owner_mismatch"},
	} {
		f := good
		row.change(&f)
		refused := func(err error) {
			r := x.refusal(row.reason, err)
			require.Equal(t, []any{f.TaskID, f.AttemptID}, []any{r.Fields["task_id"], r.Fields["activity_attempt_id"]}, name)
		}
		x.everyActivityOperation(f, refused, func(_ runtime.ActivityState, err error) { refused(err) })
	}
	x.succeed(act)
}

// testFenceActivityExpired: a report after the lease ended is refused at commit, and the same
// transaction closes the attempt (R03).
func testFenceActivityExpired(t *testing.T, open Open) {
	for _, operation := range []string{"complete", "fail", "heartbeat", "status"} {
		x := newFixture(t, open)
		x.register("w")
		act := x.takeActivityOf("w", "wf")
		x.Clock.Advance(300e9)
		var state runtime.ActivityState
		var err error
		switch operation {
		case "complete":
			_, err = x.CompleteActivity(x.ctx(), success(act))
		case "fail":
			_, err = x.FailActivity(x.ctx(), failure(act))
		case "heartbeat":
			state, err = x.HeartbeatActivity(x.ctx(), runtime.HeartbeatActivityRequest{ActivityFence: activityFence(act)})
		case "status":
			state, err = x.ActivityStatus(x.ctx(), activityFence(act))
			require.Contains(t, []string{"lease_expired", "stale_attempt"}, state.Reason)
			require.NoError(t, x.RunDue(x.ctx()))
		}
		if operation == "complete" || operation == "fail" {
			r := x.refusal("stale_attempt", err)
			require.Equal(t, []any{rules.ActivityFailed, rules.AttemptExpired, rules.TaskFailed, false}, []any{r.Fields["activity_status"],
				r.Fields["attempt_status"], r.Fields["task_status"], r.Fields["can_continue"]}, "the state the report led to")
		} else {
			require.NoError(t, err)
			require.False(t, state.CanContinue)
			require.False(t, state.HeartbeatRecorded)
		}
		require.Equal(t, "ActivityLeaseExpired", x.payload(act.Run.RunID, "ActivityFailed")["exception_type"])
		require.NotContains(t, x.history(act.Run.RunID, 0), "ActivityCompleted#1")
	}
}

// testFenceActivityClosed: outcomes of a closed run are refused and change nothing (R75).
func testFenceActivityClosed(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	for reason, close := range map[string]func(id string){
		"run_cancelled": func(id string) {
			_, err := x.CancelWorkflow(x.ctx(), runtime.CloseRequest{Target: target(id)})
			require.NoError(t, err)
		},
		"run_terminated": x.terminate,
		"run_closed": func(id string) {
			x.signal(id, "go")
			x.step("w", finish())
		},
	} {
		run := x.begun("")
		x.step("w", activity("act"), condition("k"))
		act := x.takeActivity("w")
		close(run.WorkflowID)
		before := x.events(run.RunID)
		cancelled := reason != "run_closed"
		x.everyActivityOperation(activityFence(act), func(err error) {
			r := x.refusal(reason, err)
			require.Equal(t, []any{"ignored", false, cancelled, false, rules.TaskCancelled}, []any{r.Fields["outcome"], r.Fields["recorded"],
				r.Fields["cancel_requested"], r.Fields["can_continue"], r.Fields["task_status"]})
		}, func(state runtime.ActivityState, err error) {
			require.NoError(t, err)
			require.Equal(t, []any{reason, cancelled, false, false}, []any{state.Reason, state.CancelRequested, state.CanContinue, state.HeartbeatRecorded})
		})
		require.Equal(t, before, x.events(run.RunID))
	}
}

func testFenceActivityRunTimedOut(t *testing.T, open Open) {
	for _, operation := range []string{"complete", "heartbeat"} {
		x := newFixture(t, open)
		x.register("w")
		x.begun("wf", func(r *runtime.StartRequest) { r.RunTimeout = 10 })
		x.step("w", activity("act"))
		act := x.takeActivity("w")
		x.Clock.Advance(10e9)
		if operation == "complete" {
			_, err := x.CompleteActivity(x.ctx(), success(act))
			r := x.refusal("run_closed", err)
			require.Equal(t, []any{"timed_out", rules.ActivityCancelled, rules.AttemptCancelled, rules.TaskCancelled}, []any{r.Fields["run_closed_reason"],
				r.Fields["activity_status"], r.Fields["attempt_status"], r.Fields["task_status"]})
			continue
		}
		state, err := x.HeartbeatActivity(x.ctx(), runtime.HeartbeatActivityRequest{ActivityFence: activityFence(act)})
		require.NoError(t, err)
		require.Equal(t, []any{"run_closed", false, rules.TaskCancelled}, []any{state.Reason, state.CanContinue, state.Task.Status})
	}
}

// testConfiguredLease: the configured lease lengths are those that hold, to the tick (R09).
func testConfiguredLease(t *testing.T, open Open) {
	x := newFixture(t, open, func(o *runtime.Options) {
		o.WorkflowTaskTimeout, o.ActivityTaskTimeout = seconds(3), seconds(2)
	})
	x.register("w")
	x.register("v")
	x.begun("wf")
	task := x.takeWorkflow("w")
	require.Equal(t, x.now()+3_000_000, task.Task.LeaseExpiresAt)
	x.due(seconds(3) - 1000)
	x.nothing("v")
	x.due(1000)
	again := x.takeWorkflow("v")
	require.Equal(t, []any{task.Task.TaskID, int64(2)}, []any{again.Task.TaskID, again.Task.AttemptCount})
	x.complete(again, activity("act"))
	act := x.takeActivity("v")
	require.Equal(t, x.now()+2_000_000, act.Task.LeaseExpiresAt)
	x.due(seconds(2) - 1000)
	require.NotContains(t, x.history(act.Run.RunID, 0), "ActivityFailed#1")
	x.due(1000)
	require.Contains(t, x.history(act.Run.RunID, 0), "ActivityFailed#1", "its only attempt is over")
}
