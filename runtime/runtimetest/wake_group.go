package runtimetest

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"dwserver/runtime"
)

// mixed makes commands one flat group from the run's first step on.
func mixed(commands ...command) []command {
	base, n, id := int64(1), int64(len(commands)), fmt.Sprintf("parallel-calls:1:%d", len(commands))
	for i := range commands {
		c := &commands[i]
		c.ParallelGroupID, c.ParallelGroupKind = &id, ptr("mixed")
		c.ParallelGroupBaseSequence, c.ParallelGroupSize, c.ParallelGroupIndex = &base, &n, ptr(int64(i))
	}
	return commands
}

// testLastOfAGroup: a group's signal has come and the workflow task that applies it is out. What ends the rest of
// the group meanwhile wakes the run when that task ends, as its claim did not show it; what does not, does not.
func testLastOfAGroup(t *testing.T, open Open) {
	ends := map[string]func(*fixture, *runtime.WorkflowTaskAnswer){
		"completed": func(x *fixture, task *runtime.WorkflowTaskAnswer) { x.complete(task) },
		"waiting": func(x *fixture, task *runtime.WorkflowTaskAnswer) {
			_, err := x.FailWorkflowTask(x.ctx(), runtime.FailWorkflowTaskRequest{WorkflowFence: workflowFence(&task.Task), Type: "WorkflowTaskWaitingForHistory"})
			require.NoError(x, err)
		},
	}
	for how, end := range ends {
		for what, last := range map[string]command{"activity": activity("act"), "timer": timer(3)} {
			t.Run(what+"/"+how, func(t *testing.T) {
				x := newFixture(t, open)
				x.register("w")
				run := x.begun("wf")
				x.step("w", mixed(activity("act"), awaitSignal("go"), last)...)
				x.signal("wf", "go")
				task := x.takeWorkflow("w")
				x.succeed(x.takeActivity("w"))
				end(x, task)
				x.nothing2("w", x.PollWorkflowTask)

				if what == "activity" {
					x.succeed(x.takeActivity("w"))
				} else {
					x.due(3e9)
				}
				x.step("w", finish())
				require.NotEmpty(t, x.history(run.RunID, 0))
			})
			t.Run(what+"/alone/"+how, func(t *testing.T) {
				x := newFixture(t, open)
				x.register("w")
				x.begun("wf")
				x.step("w", mixed(last, awaitSignal("go"))...)
				x.signal("wf", "go")
				task := x.takeWorkflow("w")
				if what == "activity" {
					require.Empty(t, x.succeed(x.takeActivity("w")).NextTaskID)
				} else {
					x.due(3e9)
				}
				end(x, task)
				next := x.takeWorkflow("w")
				require.Greater(t, next.Task.ClaimedSequence, task.Task.ClaimedSequence, "with what ended last in its history")
				x.complete(next, finish())
			})
		}
	}
}
