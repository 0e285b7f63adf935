package runtimetest

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dwserver/runtime"
	"dwserver/runtime/rules"
)

var closeCases = []testCase{
	{"Settles", testCloseSettles}, {"Refusals", testCloseRefusals}, {"RequestID", testCloseRequestID},
	{"AtOnce", testTerminateAtOnce}, {"Races", testCloseRaces},
}

// testCloseSettles: closing ends all that is open in the same commit (R79).
func testCloseSettles(t *testing.T, open Open) {
	for kind, close := range map[string]func(*fixture) func(context.Context, runtime.CloseRequest) (runtime.CommandResult, error){
		"cancel": func(x *fixture) func(context.Context, runtime.CloseRequest) (runtime.CommandResult, error) {
			return x.CancelWorkflow
		},
		"terminate": func(x *fixture) func(context.Context, runtime.CloseRequest) (runtime.CommandResult, error) {
			return x.TerminateWorkflow
		},
	} {
		x := newFixture(t, open)
		x.register("w")
		run := x.begun("wf", func(r *runtime.StartRequest) { r.RunTimeout = 5000 })
		var commands []command
		for range 20 {
			commands = append(commands, activity("act"), timer(100))
		}
		x.step("w", append(commands, awaitSignal("go", within(200)))...)
		for range 10 {
			x.takeActivity("w")
		}
		x.signal("wf", "other")
		result, err := close(x)(x.ctx(), runtime.CloseRequest{Target: target("wf"), Reason: "why"})
		require.NoError(t, err)
		status := map[string]string{"cancel": rules.RunCancelled, "terminate": rules.RunTerminated}[kind]
		require.Equal(t, []any{kind, "accepted", status, status, "why"}, []any{result.Command.Type, result.Command.Status,
			result.Command.Outcome, result.Run.Status, result.Command.Reason})
		x.due(9000e9)
		x.register("w")
		x.nothing("w")
		last := x.run(run.RunID)
		x.same(result.Run, last, "nothing happens later")
		next, err := x.Store.NextDue(x.ctx())
		require.NoError(t, err)
		require.Equal(t, rules.Never, next, "nothing stays due")
	}
}

func testCloseRefusals(t *testing.T, open Open) {
	x := newFixture(t, open)
	run := x.begun("wf")
	for _, close := range []func(context.Context, runtime.CloseRequest) (runtime.CommandResult, error){x.CancelWorkflow, x.TerminateWorkflow} {
		_, err := close(x.ctx(), runtime.CloseRequest{Target: target("none")})
		x.refusal("instance_not_found", err)
		other := target("wf")
		other.Namespace = "elsewhere"
		_, err = close(x.ctx(), runtime.CloseRequest{Target: other})
		x.refusal("instance_not_found", err)
		other = target("wf")
		other.RunID = "none"
		_, err = close(x.ctx(), runtime.CloseRequest{Target: other})
		x.refusal("historical_run_command_rejected", err)
	}
	require.False(t, closed(x.run(run.RunID)))
	x.terminate("wf")
	_, err := x.CancelWorkflow(x.ctx(), runtime.CloseRequest{Target: target("wf")})
	r := x.refusal("run_not_active", err)
	require.Equal(t, []any{"rejected_not_active", rules.RunTerminated}, []any{r.Fields["outcome"], r.Fields["run_status"]})
	require.Equal(t, rules.RunTerminated, x.run(run.RunID).Status, "one outcome wins")
}

func testCloseRequestID(t *testing.T, open Open) {
	x := newFixture(t, open)
	run := x.begun("wf")
	req := runtime.CloseRequest{Target: target("wf"), RequestID: "req", BodyDigest: []byte("one")}
	first, err := x.TerminateWorkflow(x.ctx(), req)
	require.NoError(t, err)
	again, err := x.TerminateWorkflow(x.ctx(), req)
	require.NoError(t, err)
	require.True(t, again.Repeated)
	require.Equal(t, first.Command, again.Command)
	req.BodyDigest = []byte("two")
	_, err = x.TerminateWorkflow(x.ctx(), req)
	x.refusal("request_id_conflict", err)
	_, err = x.CancelWorkflow(x.ctx(), req)
	x.refusal("run_not_active", err) // the scope of a request id is its kind of command
	require.Len(t, x.events(run.RunID), 4)
}

// testTerminateAtOnce: a thousand starts, each terminated without a pause while workers are busy: all
// end terminated, and nothing is written after (R77).
func testTerminateAtOnce(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	ctx, cancel := context.WithCancel(x.ctx())
	var workers, clients sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			for ctx.Err() == nil {
				result, err := x.PollWorkflowTask(ctx, poll("w", held))
				if err == nil && result.Status == runtime.PollLeased {
					_, _ = x.CompleteWorkflowTask(ctx, completion(&result.Workflow.Task, activity("act"), timer(9), awaitSignal("go", within(9))))
				}
			}
		})
		workers.Go(func() {
			for ctx.Err() == nil {
				result, err := x.PollActivityTask(ctx, poll("w", held))
				if err == nil && result.Status == runtime.PollLeased {
					_, _ = x.CompleteActivity(ctx, success(result.Activity))
				}
			}
		})
	}
	const n, width = 1000, 8
	runs := make(chan rules.Run, n)
	for range width {
		clients.Go(func() {
			for range n / width {
				result, err := x.StartWorkflow(ctx, startRequest(""))
				if !assert.NoError(t, err) {
					return
				}
				closed, err := x.TerminateWorkflow(ctx, runtime.CloseRequest{Target: target(result.Run.WorkflowID)})
				assert.NoError(t, err)
				runs <- closed.Run
			}
		})
	}
	clients.Wait()
	cancel()
	workers.Wait()
	close(runs)
	count := 0
	for run := range runs {
		x.same(run, x.run(run.RunID), "no later event")
		count++
	}
	require.Equal(t, n, count)
	x.nothing("w")
}

// testCloseRaces: completions, outcomes, signals and closes of one run at once: one end wins.
func testCloseRaces(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	for i := range 40 {
		id := fmt.Sprint("wf", i)
		run := x.begun(id)
		x.step("w", activity("act"), condition("k"))
		act := x.takeActivity("w")
		x.signal(id, "go")
		task := x.takeWorkflow("w")
		var wg sync.WaitGroup
		for _, do := range []func(){
			func() { _, _ = x.CompleteWorkflowTask(x.ctx(), completion(&task.Task, finish())) },
			func() { _, _ = x.CompleteActivity(x.ctx(), success(act)) },
			func() { _, _ = x.SignalWorkflow(x.ctx(), signalRequest(id, "late")) },
			func() { _, _ = x.TerminateWorkflow(x.ctx(), runtime.CloseRequest{Target: target(id)}) },
			func() { _, _ = x.CancelWorkflow(x.ctx(), runtime.CloseRequest{Target: target(id)}) },
		} {
			wg.Go(do)
		}
		wg.Wait()
		ends := 0
		for _, ev := range x.events(run.RunID) {
			switch ev.EventType {
			case "WorkflowCompleted", "WorkflowTerminated", "WorkflowCancelled":
				ends++
			}
		}
		require.Equal(t, 1, ends)
	}
}
