package runtimetest

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"dwserver/runtime"
	"dwserver/runtime/rules"
	"dwserver/runtime/store"
)

var faultCases = []testCase{
	{"LostAnswerOfACommit", testLostAnswerOfACommit}, {"NothingHalfWritten", testNothingHalfWritten},
	{"LoopGoesOn", testLoopGoesOn}, {"ClaimFails", testClaimFails},
}

// failing makes statements fail while fail says so.
func (x *fixture) failing(fail func(statement string) error) {
	probe := store.Probe(func(_ context.Context, statement string) error { return fail(statement) })
	x.probe.Store(&probe)
}

func (x *fixture) healthy() { x.probe.Store(nil) }

// once fails one statement, the n-th of its name.
func once(name string, n int64, with error) func(string) error {
	var count atomic.Int64
	return func(statement string) error {
		if statement == name && count.Add(1) == n {
			return with
		}
		return nil
	}
}

// afterFirst lets everything pass until a statement has been seen: the empty looks of a held poll commit
// too, and are not meant.
func afterFirst(name string, then func(string) error) func(string) error {
	var seen atomic.Bool
	return func(statement string) error {
		if statement == name {
			seen.Store(true)
		}
		if !seen.Load() {
			return nil
		}
		return then(statement)
	}
}

// testLostAnswerOfACommit: the commit succeeds and its answer is lost: the caller gets the fault, those
// who wait for the work are woken all the same, and the repeat finds it done.
func testLostAnswerOfACommit(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	run := x.begun("wf")
	task := x.takeWorkflow("w")
	waiting := x.ask(x.PollActivityTask, poll("w", held))
	x.held(1)
	for i := range 3 { // by then the poll's first look is over, and shares no commit with the report
		x.register(fmt.Sprint("other", i))
	}
	x.failing(afterFirst("EventInsert", once(store.Committed, 1, store.ErrOutcomeUnknown)))
	req := completion(&task.Task, activity("act"))
	_, err := x.CompleteWorkflowTask(x.ctx(), req)
	require.ErrorIs(t, err, store.ErrOutcomeUnknown)
	x.healthy()
	require.Equal(t, runtime.PollLeased, waiting.answer().Status)
	again, err := x.CompleteWorkflowTask(x.ctx(), req)
	require.NoError(t, err)
	require.False(t, again.Recorded)
	require.Len(t, x.events(run.RunID), 4)
}

// testNothingHalfWritten: whichever statement of an operation fails, nothing of it stays, and the same
// request succeeds afterwards.
func testNothingHalfWritten(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	for name, operation := range map[string]func(i int) (string, func(context.Context) error){
		"complete": func(i int) (string, func(context.Context) error) {
			run := x.begun(fmt.Sprint("complete", i))
			task := x.takeWorkflow("w")
			return run.RunID, func(ctx context.Context) error {
				_, err := x.CompleteWorkflowTask(ctx, completion(&task.Task, activity("act"), timer(9), awaitSignal("go", within(9)), again()))
				return err
			}
		},
		"outcome": func(i int) (string, func(context.Context) error) {
			act := x.takeActivityOf("w", fmt.Sprint("outcome", i), retrying(2, 9))
			return act.Run.RunID, func(ctx context.Context) error {
				_, err := x.FailActivity(ctx, failure(act))
				return err
			}
		},
		"signal": func(i int) (string, func(context.Context) error) {
			run := x.begun(fmt.Sprint("signal", i))
			x.step("w", awaitSignal("go"))
			return run.RunID, func(ctx context.Context) error {
				_, err := x.SignalWorkflow(ctx, signalRequest(run.WorkflowID, "go"))
				return err
			}
		},
	} {
		for n := int64(1); ; n++ {
			runID, do := operation(int(n))
			before := x.events(runID)
			hit := atomic.Bool{}
			var count atomic.Int64
			x.failing(func(string) error {
				if count.Add(1) == n {
					hit.Store(true)
					return store.ErrUnavailable
				}
				return nil
			})
			err := do(x.ctx())
			x.healthy()
			if !hit.Load() {
				require.NoError(t, err, name)
				break // every statement has failed once
			}
			if err != nil { // a lost answer of the commit leaves the work done
				require.ErrorIs(t, err, store.ErrUnavailable, "%s, statement %d", name, n)
				if len(x.events(runID)) == len(before) {
					require.Equal(t, before, x.events(runID))
					require.NoError(t, do(x.ctx()), "%s after statement %d failed", name, n)
				}
			}
			run := x.run(runID)
			x.check(&run)
			x.finishAll()
		}
	}
}

// finishAll terminates every open run, so that no poll of a later round meets it.
func (x *fixture) finishAll() {
	x.Helper()
	answer, err := x.ListWorkflows(x.ctx(), runtime.ListRequest{Namespace: "default", Status: "running", PageSize: 100})
	require.NoError(x, err)
	for _, run := range answer.Runs {
		x.terminate(run.WorkflowID)
	}
}

// testLoopGoesOn: faults of the database do not end the loop that does what is due (R31).
func testLoopGoesOn(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	run := x.begun("wf")
	x.step("w", timer(5), activity("act", func(c *command) { c.ScheduleToStartTimeout = ptr[int64](5) }))
	var failures atomic.Int64
	failed := make(chan struct{}, 1)
	x.failing(func(statement string) error {
		if statement == "TimerListDue" || statement == "ActivityUpdate" {
			if failures.Add(1) == 3 {
				failed <- struct{}{}
			}
			return store.ErrUnavailable
		}
		return nil
	})
	x.Clock.Advance(5 * time.Second)
	require.NoError(t, x.within(func(ctx context.Context) error {
		for len(failed) == 0 && ctx.Err() == nil {
			x.Clock.Elapse(time.Second)
		}
		return context.Cause(ctx)
	}))
	require.NotContains(t, x.history(run.RunID, 0), "TimerFired#1")
	x.healthy()
	require.NoError(t, x.within(func(ctx context.Context) error {
		for ctx.Err() == nil {
			history := x.history(run.RunID, 0)
			if contains(history, "TimerFired#1") && contains(history, "ActivityTimedOut#2") {
				return nil
			}
			x.Clock.Elapse(time.Second)
		}
		return context.Cause(ctx)
	}))
}

func contains(list []string, s string) bool {
	for _, v := range list {
		if v == s {
			return true
		}
	}
	return false
}

// testClaimFails: whichever statement of a claim fails, the task is there for the next poll, or leased under
// the poll's own id.
func testClaimFails(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	for n := int64(1); ; n++ {
		run := x.begun("")
		hit := atomic.Bool{}
		var count atomic.Int64
		x.failing(func(string) error {
			if count.Add(1) == n {
				hit.Store(true)
				return store.ErrUnavailable
			}
			return nil
		})
		result, err := x.PollWorkflowTask(x.ctx(), poll("w", named("X")))
		x.healthy()
		if err != nil {
			require.ErrorIs(t, err, store.ErrUnavailable, "statement %d", n)
			result, err = x.PollWorkflowTask(x.ctx(), poll("w", named("X")))
			require.NoError(t, err)
		}
		require.Equal(t, runtime.PollLeased, result.Status, "after statement %d failed", n)
		require.Equal(t, []any{run.RunID, int64(1), rules.TaskLeased}, []any{result.Workflow.Run.RunID,
			result.Workflow.Task.AttemptCount, result.Workflow.Task.Status})
		x.complete(result.Workflow, finish())
		if !hit.Load() {
			return // every statement has failed once
		}
	}
}
