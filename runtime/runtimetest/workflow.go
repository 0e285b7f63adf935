package runtimetest

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"dwserver/runtime"
	"dwserver/runtime/rules"
)

var workflowCases = []testCase{
	{"WorkedExample", testWorkedExample}, {"Repeat", testCompleteRepeat}, {"AllOrNothing", testCompleteAllOrNothing},
	{"Limits", testCompleteLimits}, {"Fail", testFailWorkflowTask}, {"FailBlocked", testFailBlocked},
	{"Waiting", testFailWaiting}, {"Heartbeat", testHeartbeatWorkflow}, {"GroupSentAgain", testGroupSentAgain},
	{"LostAnswer", testCompleteLostAnswer}, {"SignalValue", testSignalValueOption},
}

// testWorkedExample is the example of commands-and-history.md 2.3.
func testWorkedExample(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	run := x.begun("wf")
	out := x.step("w", activity("act"), sideEffect(), awaitSignal("go", within(60)))
	require.Len(t, out.CreatedTaskIDs, 2)
	require.Equal(t, rules.RunWaiting, out.RunStatus)
	require.Equal(t, int64(6), out.LastHistorySequence)
	act := x.takeActivity("w")
	require.Equal(t, out.CreatedTaskIDs[0], act.Task.TaskID)
	x.signal("wf", "go")
	x.step("w")
	require.Equal(t, []string{
		"StartAccepted", "WorkflowStarted", "ActivityScheduled#1", "SideEffectRecorded#2", "SignalWaitOpened#3", "TimerScheduled#3",
		"ActivityStarted#1", "SignalReceived", "MessageCursorAdvanced", "TimerCancelled#3", "SignalApplied#3",
	}, x.history(run.RunID, 0))
	x.succeed(act)
	x.step("w", timer(0))
	require.Equal(t, "TimerScheduled#4", x.history(run.RunID, 12)[0])
}

func testCompleteRepeat(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	run := x.begun("wf")
	task := x.takeWorkflow("w")
	req := completion(&task.Task, activity("act"))
	first, err := x.CompleteWorkflowTask(x.ctx(), req)
	require.NoError(t, err)
	for range 2 {
		again, err := x.CompleteWorkflowTask(x.ctx(), req)
		require.NoError(t, err)
		require.False(t, again.Recorded)
		require.Empty(t, again.CreatedTaskIDs)
		require.Equal(t, []any{first.RunID, rules.RunWaiting}, []any{again.RunID, again.RunStatus})
		other := req
		other.BodyDigest = []byte("other")
		_, err = x.CompleteWorkflowTask(x.ctx(), other)
		x.refusal("conflicting_completion", err)
		x.restart()
	}
	x.terminate("wf")
	again, err := x.CompleteWorkflowTask(x.ctx(), req)
	require.NoError(t, err, "also after the run closed")
	require.Equal(t, rules.RunTerminated, again.RunStatus, "the run as it now is")
	require.Len(t, x.events(run.RunID), 6)
}

func testCompleteAllOrNothing(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	run := x.begun("wf")
	task := x.takeWorkflow("w")
	for reason, commands := range map[string][]command{
		"validation_failed": {activity("act"), timer(-1)},
		"invalid_commands":  append([]command{activity("act")}, group(1, 2, "act")...),
	} {
		_, err := x.CompleteWorkflowTask(x.ctx(), completion(&task.Task, commands...))
		r := x.refusal(reason, err)
		require.Equal(t, []any{task.Task.TaskID, int64(1)}, []any{r.Fields["task_id"], r.Fields["workflow_task_attempt"]})
	}
	require.Len(t, x.events(run.RunID), 2)
	x.same(task.Run, x.run(run.RunID))
	x.complete(task, finish())
}

// testCompleteLimits: a refused batch leaves no row and a usable claim (write-path.md 5).
func testCompleteLimits(t *testing.T, open Open) {
	x := newFixture(t, open, func(o *runtime.Options) {
		o.Limits = ptr(rules.DefaultLimits())
		o.Limits.PendingActivities, o.Limits.CompletionMaxEvents, o.Limits.CompletionMaxRows = 3, 5, 12
		o.Limits.CompletionMaxBytes, o.Limits.PayloadBytes, o.Limits.CommandBatchSize = 20_000, 3_000, 6
	})
	x.register("w")
	run := x.begun("wf")
	task := x.takeWorkflow("w")
	big := func(n int) func(*command) {
		return func(c *command) { c.Result = []byte(`"` + string(bytesOf('A', n)) + `"`) }
	}
	effect := func(n int) command { return with(sideEffect(), []func(*command){big(n)}) }
	for kind, commands := range map[string][]command{
		"pending_activity_count": {activity("act"), activity("act"), activity("act"), activity("act")},
		"completion_events":      {timer(1), timer(1), timer(1), timer(1), timer(1), timer(1)},
		"completion_rows":        {activity("act"), activity("act"), activity("act"), condition("k", within(9))},
		"completion_bytes":       {effect(4000), effect(4000), effect(4000), effect(4000), effect(4000)},
		"payload_size":           {effect(4004)},
		"command_batch_size":     {timer(1), timer(1), timer(1), timer(1), timer(1), timer(1), timer(1)},
	} {
		_, err := x.CompleteWorkflowTask(x.ctx(), completion(&task.Task, commands...))
		r := x.refusal("structural_limit_exceeded", err)
		require.Equal(t, kind, r.Fields["limit_kind"])
		require.Greater(t, r.Fields["current_value"], r.Fields["configured_limit"])
	}
	require.Len(t, x.events(run.RunID), 2)
	require.Empty(t, x.openRows(run.RunID).activities)
	x.complete(task, activity("act"), timer(1))
}

func bytesOf(c byte, n int) []byte {
	out := make([]byte, n)
	for i := range out {
		out[i] = c
	}
	return out
}

// testFailWorkflowTask: a failing task comes back with a growing pause and does not spin (R81).
func testFailWorkflowTask(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	run := x.begun("wf")
	for attempt, pause := range []int64{1, 2, 4, 8} {
		task := x.takeWorkflow("w")
		require.Equal(t, int64(attempt+1), task.Task.AttemptCount)
		result, err := x.FailWorkflowTask(x.ctx(), runtime.FailWorkflowTaskRequest{WorkflowFence: workflowFence(&task.Task), Message: "boom"})
		require.NoError(t, err)
		require.Equal(t, "failed", result.Outcome)
		next, err := x.Store.ReadTask(x.ctx(), result.NextTaskID)
		require.NoError(t, err)
		require.Equal(t, x.now()+pause*1_000_000, next.AvailableAt)
		_, err = x.FailWorkflowTask(x.ctx(), runtime.FailWorkflowTaskRequest{WorkflowFence: workflowFence(&task.Task), Message: "boom"})
		require.Equal(t, rules.TaskFailed, x.refusal("task_not_leased", err).Fields["task_status"], "a repeat")
		x.due(seconds(pause) - 1000)
		x.nothing("w")
		x.due(1000)
	}
	require.Len(t, x.events(run.RunID), 2)
	x.step("w", finish())
}

func testFailBlocked(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	run := x.begun("wf")
	x.step("w", activity("act"), condition("k"))
	x.signal("wf", "go")
	task := x.takeWorkflow("w")
	result, err := x.FailWorkflowTask(x.ctx(), runtime.FailWorkflowTaskRequest{
		WorkflowFence: workflowFence(&task.Task), Message: "m", Reason: "timer_delay_mismatch",
	})
	require.NoError(t, err)
	require.Empty(t, result.NextTaskID, "nothing to try again, and the signal does not bring it back")
	x.due(3600e9)
	x.nothing2("w", x.PollWorkflowTask)
	x.succeed(x.takeActivity("w"))
	require.Equal(t, run.RunID, x.takeWorkflow("w").Run.RunID, "an outcome is a new chance")
}

// nothing2 probes one kind and must find nothing.
func (x *fixture) nothing2(worker string, ask func(context.Context, runtime.PollRequest) (runtime.PollResult, error)) {
	x.Helper()
	result, err := ask(x.ctx(), poll(worker))
	require.NoError(x, err)
	require.Equal(x, runtime.PollEmpty, result.Status)
}

func testFailWaiting(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	run := x.begun("wf")
	x.step("w", awaitSignal("go"), activity("act"))
	x.signal("wf", "go")
	task := x.takeWorkflow("w")
	result, err := x.FailWorkflowTask(x.ctx(), runtime.FailWorkflowTaskRequest{
		WorkflowFence: workflowFence(&task.Task), Message: "Workflow task waiting for scheduled history.", Type: "WorkflowTaskWaitingForHistory",
	})
	require.NoError(t, err)
	require.Equal(t, "waiting_for_history", result.Outcome)
	require.Empty(t, result.NextTaskID)
	require.Equal(t, "SignalApplied#1", x.history(run.RunID, 0)[len(x.events(run.RunID))-1])
	require.Equal(t, rules.RunWaiting, x.run(run.RunID).Status)
	x.nothing2("w", x.PollWorkflowTask)
}

func testHeartbeatWorkflow(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	x.begun("wf")
	task := x.takeWorkflow("w")
	for range 5 { // a minute's lease, renewed for minutes; the worker stays fresh by it
		x.due(50e9)
		renewed, err := x.HeartbeatWorkflowTask(x.ctx(), workflowFence(&task.Task))
		require.NoError(t, err)
		require.Equal(t, runtime.WorkflowHeartbeatResult{
			LeaseExpiresAt: x.now() + 60_000_000, RunStatus: rules.RunPending, TaskStatus: rules.TaskLeased}, renewed)
	}
	x.complete(task, finish())
	_, err := x.HeartbeatWorkflowTask(x.ctx(), workflowFence(&task.Task))
	x.refusal("run_closed", err)
}

// testGroupSentAgain: SDKs send a whole group again while members are open (python-sdk: early failure).
func testGroupSentAgain(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	run := x.begun("wf")
	members := group(1, 3, "act")
	x.step("w", members...)
	a, b, c := x.takeActivity("w"), x.takeActivity("w"), x.takeActivity("w")
	x.failed(a)
	out := x.step("w", members...)
	require.Empty(t, out.CreatedTaskIDs)
	require.Equal(t, rules.RunWaiting, out.RunStatus)
	require.Empty(t, x.succeed(b).NextTaskID)
	x.nothing("w")
	require.NotEmpty(t, x.succeed(c).NextTaskID, "the last member wakes")
	before := len(x.events(run.RunID))
	_, err := x.CompleteWorkflowTask(x.ctx(), completion(&x.takeWorkflow("w").Task, group(1, 3, "b")...))
	x.refusal("invalid_commands", err)
	require.Len(t, x.events(run.RunID), before)
}

// testCompleteLostAnswer: the caller goes away while its completion commits; sent again, it is
// answered as recorded or is recorded then, once.
func testCompleteLostAnswer(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	for range 20 {
		run := x.begun("")
		task := x.takeWorkflow("w")
		ctx, cancel := context.WithCancel(x.ctx())
		go cancel()
		_, err := x.CompleteWorkflowTask(ctx, completion(&task.Task, sideEffect(), finish()))
		require.True(t, err == nil || errors.Is(err, context.Canceled), "%v", err)
		_, err = x.CompleteWorkflowTask(x.ctx(), completion(&task.Task, sideEffect(), finish()))
		require.NoError(t, err)
		require.Equal(t, []string{"SideEffectRecorded#1", "WorkflowCompleted"}, x.history(run.RunID, 2))
	}
}

func testSignalValueOption(t *testing.T, open Open) {
	x := newFixture(t, open, func(o *runtime.Options) {
		o.SignalValue = func(arguments []byte) []byte { return []byte(`{"value":` + string(arguments) + `}`) }
	})
	x.register("w")
	run := x.begun("wf")
	x.step("w", awaitSignal("go"))
	x.signal("wf", "go")
	x.step("w")
	require.Equal(t, map[string]any{"value": map[string]any{"codec": "avro", "blob": "Ag=="}}, x.payload(run.RunID, "SignalApplied")["value"])
}
