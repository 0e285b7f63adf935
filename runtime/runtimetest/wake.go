package runtimetest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"dwserver/runtime"
	"dwserver/runtime/rules"
)

var wakeCases = []testCase{{"Lost", testNoLostWakeups}, {"SignalsRace", testSignalRaces}, {"OneTask", testManyOutcomesOneTask},
	{"LastOfAGroup", testLastOfAGroup}}

// testNoLostWakeups: whatever is recorded while the workflow task is leased wakes the run when that task
// ends, however it ends; a second poll sees it at once (R21).
func testNoLostWakeups(t *testing.T, open Open) {
	outcomes := map[string]func(*fixture, *runtime.ActivityTaskAnswer){
		"success": func(x *fixture, a *runtime.ActivityTaskAnswer) { require.Empty(x, x.succeed(a).NextTaskID) },
		"failure": func(x *fixture, a *runtime.ActivityTaskAnswer) { x.failed(a) },
		"timeout": func(x *fixture, _ *runtime.ActivityTaskAnswer) { x.due(5e9) },
		"timer":   func(x *fixture, _ *runtime.ActivityTaskAnswer) { x.due(3e9) },
		"signal":  func(x *fixture, _ *runtime.ActivityTaskAnswer) { x.signal("wf", "go") },
		"lost": func(x *fixture, _ *runtime.ActivityTaskAnswer) {
			_, err := x.Deregister(x.ctx(), "default", "v")
			require.NoError(x, err)
		},
	}
	ends := map[string]func(*fixture, *runtime.WorkflowTaskAnswer){
		"completed": func(x *fixture, task *runtime.WorkflowTaskAnswer) { x.complete(task, sideEffect()) },
		"failed": func(x *fixture, task *runtime.WorkflowTaskAnswer) {
			_, err := x.FailWorkflowTask(x.ctx(), runtime.FailWorkflowTaskRequest{WorkflowFence: workflowFence(&task.Task), Message: "boom"})
			require.NoError(x, err)
			x.Clock.Advance(1e9)
		},
		"blocked": func(x *fixture, task *runtime.WorkflowTaskAnswer) {
			_, err := x.FailWorkflowTask(x.ctx(), runtime.FailWorkflowTaskRequest{WorkflowFence: workflowFence(&task.Task), Message: "replay failed"})
			require.NoError(x, err)
		},
		"waiting": func(x *fixture, task *runtime.WorkflowTaskAnswer) {
			_, err := x.FailWorkflowTask(x.ctx(), runtime.FailWorkflowTaskRequest{WorkflowFence: workflowFence(&task.Task), Type: "WorkflowTaskWaitingForHistory"})
			require.NoError(x, err)
		},
		"lease lost": func(x *fixture, _ *runtime.WorkflowTaskAnswer) { x.register("w") },
	}
	for what, happen := range outcomes {
		for how, end := range ends {
			t.Run(what+"/"+how, func(t *testing.T) {
				x := newFixture(t, open)
				x.register("w")
				x.register("v")
				run := x.begun("wf")
				x.step("w", activity("act", func(c *command) { c.StartToCloseTimeout = ptr[int64](5) }), timer(3), awaitSignal("go"), activity("b"))
				act := x.takeActivity("v")
				x.succeed(x.takeActivity("w"))
				task := x.takeWorkflow("w")
				happen(x, act)
				x.nothing2("w", x.PollWorkflowTask)
				end(x, task)
				next := x.takeWorkflow("w")
				require.Greater(t, next.Task.ClaimedSequence, task.Task.ClaimedSequence, "with what happened in its history")
				x.complete(next)
				if what != "signal" {
					x.nothing2("w", x.PollWorkflowTask)
				}
				require.Equal(t, rules.RunWaiting, x.run(run.RunID).Status)
			})
		}
	}
}

// testSignalRaces: a timed wait and a signal at about its time: the history decides which came first,
// and no history holds both ends of one wait (R59).
func testSignalRaces(t *testing.T, open Open) {
	for name, wait := range map[string]command{"condition": condition("k", within(1)), "signal": awaitSignal("go", within(1))} {
		x := newFixture(t, open)
		x.register("w")
		for i := range 60 {
			run := x.begun("")
			x.step("w", wait)
			x.Clock.Advance(1e9 - 1000)
			done := make(chan error, 1)
			early := i%3 == 0
			if early {
				x.signal(run.WorkflowID, "go")
			} else {
				go func() {
					_, err := x.SignalWorkflow(x.ctx(), signalRequest(run.WorkflowID, "go"))
					done <- err
				}()
			}
			x.due(1000)
			if !early {
				require.NoError(t, <-done)
			}
			task := x.takeWorkflow("w")
			require.NoError(t, x.RunDue(x.ctx()))
			x.complete(task, sideEffect())
			ends := map[string]int{}
			received, fired := 0, 0
			for i, ev := range x.history(run.RunID, 0) {
				switch ev {
				case "SignalReceived":
					received = i
				case "TimerFired#1", "SignalApplied#1", "ConditionWaitSatisfied#1":
					ends[ev]++
					if ev == "TimerFired#1" {
						fired = i
					}
				}
			}
			require.Len(t, ends, 1, "%s: %v", name, x.history(run.RunID, 0))
			require.Equal(t, fired > 0, ends["TimerFired#1"] == 1)
			if fired > 0 {
				require.Less(t, fired, received, "a signal that history has first is never beaten")
				require.False(t, early)
			}
			x.terminate(run.WorkflowID)
		}
	}
}

// testManyOutcomesOneTask: at most one open workflow task; many outcomes share it (R27).
func testManyOutcomesOneTask(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	x.begun("wf")
	var commands []command
	for range 30 {
		commands = append(commands, activity("act"))
	}
	x.step("w", commands...)
	first := x.succeed(x.takeActivity("w")).NextTaskID
	for range 29 {
		require.Equal(t, first, x.succeed(x.takeActivity("w")).NextTaskID)
	}
	task := x.takeWorkflow("w")
	require.Equal(t, first, task.Task.TaskID)
	x.complete(task, finish())
	x.nothing("w")
}
