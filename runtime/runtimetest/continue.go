package runtimetest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"dwserver/runtime"
	"dwserver/runtime/rules"
)

var continueCases = []testCase{
	{"AsNew", testContinueAsNew}, {"Settles", testContinueSettles}, {"Chain", testContinuedChain},
}

func testContinueAsNew(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	first := x.begun("wf", func(r *runtime.StartRequest) { r.ExecutionTimeout, r.RunTimeout, r.Memo = 3600, 60, []byte(`{"m":1}`) })
	x.Clock.Advance(30e9)
	task := x.takeWorkflow("w")
	x.signal("wf", "kept")
	out := x.complete(task, activity("act"), again())
	require.Equal(t, rules.RunCompleted, out.RunStatus)
	d, err := x.Describe(x.ctx(), target("wf"))
	require.NoError(t, err)
	require.NotEqual(t, first.RunID, d.Run.RunID)
	require.Equal(t, []any{int64(2), first.RunID, first.ExecutionDeadlineAt, x.now() + 60_000_000},
		[]any{d.Run.RunNumber, d.Run.ContinuedFromRunID, d.Run.ExecutionDeadlineAt, d.Run.RunDeadlineAt})
	require.Equal(t, `{"m":1}`, string(d.Input.Memo))
	require.Equal(t, []string{"WorkflowStarted", "SignalReceived"}, x.history(d.Run.RunID, 0))
	require.Equal(t, "continued", x.run(first.RunID).ClosedReason)
	next := x.takeWorkflow("w")
	require.Equal(t, out.CreatedTaskIDs[len(out.CreatedTaskIDs)-1], next.Task.TaskID)
	x.complete(next, awaitSignal("kept"))
	x.step("w", finish())
	require.Contains(t, x.history(d.Run.RunID, 0), "SignalApplied#1")
	_, err = x.SignalWorkflow(x.ctx(), runtime.SignalRequest{Target: runtime.Target{Namespace: "default", WorkflowID: "wf", RunID: first.RunID}, Name: "s", ArgumentCount: -1})
	x.refusal("historical_run_command_rejected", err)
}

// testContinueSettles: 100 timers pending, then continue-as-new: nothing of the old run is ever
// delivered, and nothing stays due (R69).
func testContinueSettles(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	x.begun("wf")
	var commands []command
	for range 100 {
		commands = append(commands, timer(5))
	}
	x.step("w", append(commands, activity("act"), again())...)
	x.step("w", timer(9))
	x.due(6e9)
	x.nothing("w")
	next, err := x.Store.NextDue(x.ctx())
	require.NoError(t, err)
	require.Equal(t, x.now()+3_000_000, next, "only the new run's timer")
	x.due(3e9)
	x.step("w", finish())
	next, err = x.Store.NextDue(x.ctx())
	require.NoError(t, err)
	require.Equal(t, rules.Never, next)
}

func testContinuedChain(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	x.begun("wf")
	for range 10 {
		x.signal("wf", "s")
		x.step("w", sideEffect(), again())
	}
	runs, err := x.ListRuns(x.ctx(), target("wf"))
	require.NoError(t, err)
	require.Len(t, runs.Runs, 11)
	last := runs.Runs[10]
	require.Equal(t, last.RunID, runs.Instance.CurrentRunID)
	require.Equal(t, int64(10), last.PendingSignals, "carried from run to run")
	require.Len(t, x.openRows(last.RunID).signals, 10)
}
