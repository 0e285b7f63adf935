package runtimetest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"dwserver/runtime"
	"dwserver/runtime/rules"
	"dwserver/runtime/store"
)

var pollCases = []testCase{
	{"WorkflowTask", testPollWorkflowTask}, {"ActivityTask", testPollActivityTask}, {"Refusals", testPollRefusals},
	{"Routing", testPollRouting}, {"Priority", testPollPriority}, {"Fairness", testPollFairness},
	{"Build", testPollBuild}, {"ProtocolFloor", testPollProtocolFloor}, {"Leases", testPollLeases},
	{"HistoryPages", testPollHistoryPages}, {"SettlesWhatIsOver", testPollSettlesWhatIsOver}, {"ReadyAge", testPollReadyAge},
}

func testPollWorkflowTask(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	run := x.begun("wf")
	task := x.takeWorkflow("w")
	require.Equal(t, []any{run.RunID, "wf", "flow", int64(1), "w", rules.TaskLeased}, []any{task.Run.RunID,
		task.Task.WorkflowID, task.Task.TypeName, task.Task.AttemptCount, task.Task.LeaseOwner, task.Task.Status})
	require.Equal(t, x.now()+60_000_000, task.Task.LeaseExpiresAt)
	require.Equal(t, `{"codec":"avro","blob":"AA=="}`, string(task.Arguments))
	require.Len(t, task.Page.Events, 2)
	require.Zero(t, task.Page.NextAfter)
	require.Equal(t, int64(2), task.Page.TotalEvents)
	require.Equal(t, "ok", task.Page.Budget.Pressure)
	x.nothing("w")
}

func testPollActivityTask(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	run := x.begun("wf")
	x.step("w", activity("act", func(c *command) { c.Arguments = []byte(`"Bw=="`) }, retrying(3)), activity("b"))
	task := x.takeActivity("w")
	require.Equal(t, []any{"act", int64(1), "w", run.RunID, rules.AttemptRunning}, []any{task.Activity.ActivityType,
		task.Attempt.AttemptNumber, task.Task.LeaseOwner, task.Run.RunID, task.Attempt.Status})
	require.Equal(t, `{"codec":"avro","blob":"Bw=="}`, string(task.Arguments))
	require.Equal(t, x.now()+300_000_000, task.Task.LeaseExpiresAt)
	require.Equal(t, x.run(run.RunID).LastHistorySequence, task.Run.LastHistorySequence, "the run's last event after the claim")
	require.Empty(t, x.takeActivity("w").Arguments)
	require.Equal(t, []string{"ActivityStarted#1", "ActivityStarted#2"}, x.history(run.RunID, 4))
}

func testPollRefusals(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w", func(r *runtime.RegisterRequest) { r.BuildID = "b1" })
	x.register("none", func(r *runtime.RegisterRequest) { r.WorkflowTypes, r.ActivityTypes = nil, nil })
	x.begun("wf")
	ask := func(worker string, change ...func(*runtime.PollRequest)) error {
		_, err := x.PollWorkflowTask(x.ctx(), poll(worker, change...))
		_, other := x.PollActivityTask(x.ctx(), poll(worker, change...))
		if err != nil {
			require.Error(t, other)
		}
		return err
	}
	x.refusal("worker_not_registered", ask("nobody"))
	x.refusal("worker_not_registered", ask("w", func(r *runtime.PollRequest) { r.Namespace = "elsewhere" }))
	r := x.refusal("task_queue_mismatch", ask("w", func(r *runtime.PollRequest) { r.TaskQueue = "other" }))
	require.Equal(t, []any{"q", "other"}, []any{r.Fields["registered_task_queue"], r.Fields["requested_task_queue"]})
	r = x.refusal("build_id_mismatch", ask("w", func(r *runtime.PollRequest) { r.BuildID = "b2" }))
	require.Equal(t, []any{"b1", "b2"}, []any{r.Fields["registered_build_id"], r.Fields["requested_build_id"]})
	kinds := func(r *runtime.PollRequest) { r.TaskKinds = []string{"workflow", "update_validation"} }
	_, err := x.PollWorkflowTask(x.ctx(), poll("w", kinds))
	x.refusal("update_validation_capability_not_advertised", err)
	result, err := x.PollWorkflowTask(x.ctx(), poll("none", kinds))
	require.NoError(t, err)
	require.Equal(t, runtime.PollNoWorkflowTypes, result.Status, "no types comes before the kinds")
	result, err = x.PollActivityTask(x.ctx(), poll("none"))
	require.NoError(t, err)
	require.Equal(t, runtime.PollNoActivityTypes, result.Status)

	x.drain("w")
	r = x.refusal("worker_draining", ask("w"))
	require.Equal(t, []any{"draining", "w", "q", "b1"}, []any{r.Fields["poll_status"], r.Fields["worker_id"],
		r.Fields["task_queue"], r.Fields["registered_build_id"]})
	require.Equal(t, int64(0), x.takeNothingChanged(), "no refused poll claimed anything")
}

// drain marks a worker as draining, as an operator's command would.
func (x *fixture) drain(worker string) {
	x.Helper()
	require.NoError(x, x.Store.Transition(x.ctx(), func(ctx context.Context, tx store.Tx) error {
		w, err := tx.LockWorker(ctx, "default", worker)
		if err != nil {
			return err
		}
		w.Status = rules.WorkerDraining
		return tx.Apply(ctx, &rules.Effects{Worker: &w})
	}))
}

// takeNothingChanged counts the claims of all open workflow tasks.
func (x *fixture) takeNothingChanged() (claims int64) {
	runs, err := x.Store.ListWorkflows(x.ctx(), store.ListPage{Namespace: "default", Limit: 100})
	require.NoError(x, err)
	for _, run := range runs {
		for _, task := range x.openRows(run.RunID).tasks {
			claims += task.AttemptCount
		}
	}
	return claims
}

func testPollRouting(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w", func(r *runtime.RegisterRequest) { r.WorkflowTypes = []string{"0", "Flow"} })
	x.register("v", func(r *runtime.RegisterRequest) { r.TaskQueue, r.WorkflowTypes = "Q", []string{"flow"} })
	x.begun("wf") // type flow on queue q: exact matches only
	x.nothing("w")
	result, err := x.PollWorkflowTask(x.ctx(), poll("v", func(r *runtime.PollRequest) { r.TaskQueue = "Q" }))
	require.NoError(t, err)
	require.Equal(t, runtime.PollEmpty, result.Status)
	x.begun("zero", func(r *runtime.StartRequest) { r.WorkflowType = "0" })
	require.Equal(t, "zero", x.takeWorkflow("w").Task.WorkflowID)
}

func testPollPriority(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	for _, id := range []string{"9", "5", "0", "5b"} {
		x.begun(id, func(r *runtime.StartRequest) { r.Priority = int64(id[0] - '0') })
		x.Clock.Advance(1000)
	}
	var order []string
	for range 4 {
		order = append(order, x.takeWorkflow("w").Task.WorkflowID)
	}
	require.Equal(t, []string{"0", "5", "5b", "9"}, order, "lower first, then the older")
}

// testPollFairness: a key with a long backlog lets others in between.
func testPollFairness(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	for _, id := range []string{"a1", "a2", "a3", "a4"} {
		x.begun(id, func(r *runtime.StartRequest) { r.FairnessKey = "a" })
	}
	for _, id := range []string{"b1", "b2"} {
		x.begun(id, func(r *runtime.StartRequest) { r.FairnessKey = "b" })
	}
	for _, id := range []string{"h1", "h2", "h3"} {
		x.begun(id, func(r *runtime.StartRequest) { r.FairnessKey, r.FairnessWeight = "h", 4 })
	}
	var order []string
	for range 9 {
		order = append(order, x.takeWorkflow("w").Task.WorkflowID)
	}
	require.Equal(t, []string{"a1", "b1", "h1", "h2", "h3", "a2", "b2", "a3", "a4"}, order)
}

func testPollBuild(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("plain")
	x.register("b1", func(r *runtime.RegisterRequest) { r.BuildID = "b1" })
	x.begun("needs", func(r *runtime.StartRequest) { r.Compatibility = "b1" })
	x.nothing("plain")
	task := x.takeWorkflow("b1")
	x.complete(task, activity("act"))
	x.nothing("plain")
	require.Equal(t, "b1", x.takeActivity("b1").Task.Compatibility)
	x.begun("any")
	require.Equal(t, "any", x.takeWorkflow("b1").Task.WorkflowID)
}

// testPollProtocolFloor: a history with an occurrence id goes only to workers of 1.17 and newer.
func testPollProtocolFloor(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	run := x.begun("wf")
	old := func(r *runtime.PollRequest) { r.ProtocolMinor = 16 }
	x.complete(x.takeWorkflow("w", old), condition("k", func(c *command) { c.ConditionWaitOccurrenceID = ptr("o") }))
	require.Equal(t, int64(17), x.run(run.RunID).MinProtocol)
	x.signal("wf", "any")
	result, err := x.PollWorkflowTask(x.ctx(), poll("w", old))
	require.NoError(t, err)
	require.Equal(t, runtime.PollEmpty, result.Status)
	task := x.takeWorkflow("w", func(r *runtime.PollRequest) { r.ProtocolMinor = 17 })
	x.Clock.Advance(61e9)
	require.NoError(t, x.RunDue(x.ctx()))
	result, err = x.PollWorkflowTask(x.ctx(), poll("w", old))
	require.NoError(t, err)
	require.Equal(t, runtime.PollEmpty, result.Status, "nor when it is delivered again")
	require.Equal(t, task.Task.TaskID, x.takeWorkflow("w").Task.TaskID)
}

func testPollLeases(t *testing.T, open Open) {
	x := newFixture(t, open, func(o *runtime.Options) { o.WorkflowTaskTimeout = 3e9; o.ActivityTaskTimeout = 5e9 })
	x.register("w")
	x.begun("wf")
	task := x.takeWorkflow("w")
	require.Equal(t, x.now()+3_000_000, task.Task.LeaseExpiresAt, "the configured lease is in force")
	x.due(3e9 - 1000)
	x.nothing("w")
	x.due(1000)
	second := x.takeWorkflow("w")
	require.Equal(t, task.Task.TaskID, second.Task.TaskID)
	require.Equal(t, int64(2), second.Task.AttemptCount)
	x.complete(second, activity("act", retrying(2)))
	require.Equal(t, x.now()+5_000_000, x.takeActivity("w").Task.LeaseExpiresAt)
	x.due(5e9)
	require.Equal(t, int64(2), x.takeActivity("w").Attempt.AttemptNumber)
}

func testPollHistoryPages(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	run := x.begun("wf")
	x.step("w", sideEffect(), sideEffect(), sideEffect(), awaitSignal("s"))
	x.signal("wf", "s")
	task := x.takeWorkflow("w", func(r *runtime.PollRequest) { r.HistoryPageSize = 3 })
	x.signal("wf", "later") // after the claim: no page shows it
	events := task.Page.Events
	require.Len(t, events, 3)
	for after := task.Page.NextAfter; after != 0; {
		page, err := x.WorkflowTaskHistory(x.ctx(), runtime.WorkflowHistoryRequest{
			WorkflowFence: workflowFence(&task.Task), After: after, PageSize: 3,
		})
		require.NoError(t, err)
		require.Equal(t, task.Page.TotalEvents, page.TotalEvents)
		require.NotEqual(t, after, page.NextAfter, "never the token that was sent")
		events = append(events, page.Events...)
		after = page.NextAfter
	}
	require.Equal(t, x.events(run.RunID)[:task.Task.ClaimedSequence], events, "ascending, no gap, no overlap")
	page, err := x.WorkflowTaskHistory(x.ctx(), runtime.WorkflowHistoryRequest{WorkflowFence: workflowFence(&task.Task), After: 1000})
	require.NoError(t, err)
	require.Empty(t, page.Events)
	require.Zero(t, page.NextAfter)
}

// testPollSettlesWhatIsOver: what should have ended before is ended by the poll that meets it.
func testPollSettlesWhatIsOver(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	run := x.begun("wf", func(r *runtime.StartRequest) { r.RunTimeout = 10 })
	other := x.begun("other")
	x.complete(x.takeWorkflow("w"), activity("act", func(c *command) { c.ScheduleToCloseTimeout = ptr[int64](5) }))
	x.Clock.Step(10e9) // the loop sleeps on: nobody looked meanwhile
	x.takeWorkflow("w")
	result, err := x.PollActivityTask(x.ctx(), poll("w"))
	require.NoError(t, err)
	require.Equal(t, runtime.PollEmpty, result.Status)
	require.NotEqual(t, rules.RunCompleted, x.run(other.RunID).Status)
	require.Equal(t, "timed_out", x.run(run.RunID).ClosedReason)
	require.NotContains(t, x.history(run.RunID, 0), "ActivityStarted#1")
}

func testPollReadyAge(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	x.begun("wf")
	ready := x.now()
	x.Clock.Advance(7e9)
	require.Equal(t, ready, x.takeWorkflow("w").Task.ReadyAt)
	x.due(60e9)
	require.Equal(t, x.now(), x.takeWorkflow("w").Task.ReadyAt, "ready again since the lease ended")
}
