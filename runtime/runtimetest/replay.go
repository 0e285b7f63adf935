package runtimetest

import (
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"dwserver/runtime"
	"dwserver/runtime/rules"
	"dwserver/runtime/store"
)

// Lost poll answers (R11): a second poll of the same id shows the same lease, another id gets nothing.
var replayCases = []testCase{
	{"Workflow", testReplayWorkflow}, {"Activity", testReplayActivity}, {"Restart", testReplayRestart},
	{"NeverExtends", testReplayNeverExtends}, {"AfterTheLease", testReplayAfterTheLease},
	{"OtherScope", testReplayOtherScope}, {"EmptyIsNotKept", testReplayEmptyIsNotKept},
	{"CallerGone", testReplayCallerGone}, {"Concurrent", testReplayConcurrent}, {"Pruned", testReplayPruned},
	{"PrunedAll", testReplayPrunedAll}, {"OldProtocol", testReplayOldProtocol}, {"NewRegistration", testReplayNewRegistration},
	{"Overtaken", testReplayOvertaken}, {"OvertakenCarried", testReplayOvertakenCarried},
}

func testReplayWorkflow(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	x.register("v")
	x.begun("wf")
	first := x.takeWorkflow("w", named("X"))
	x.Clock.Advance(5e9)
	again := x.takeWorkflow("w", named("X"))
	x.same(first, again, "the same task, attempt, deadline and history")
	result, err := x.PollWorkflowTask(x.ctx(), poll("w", named("Y")))
	require.NoError(t, err)
	require.Equal(t, runtime.PollEmpty, result.Status)
	result, err = x.PollWorkflowTask(x.ctx(), poll("v", named("X")))
	require.NoError(t, err)
	require.Equal(t, runtime.PollEmpty, result.Status, "another worker's id is another id")
	result, err = x.PollActivityTask(x.ctx(), poll("w", named("X")))
	require.NoError(t, err)
	require.Equal(t, runtime.PollEmpty, result.Status, "and so is the other kind's")
}

func testReplayActivity(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	run := x.begun("wf")
	x.step("w", activity("act"), activity("act"))
	first := x.takeActivity("w", named("X"))
	second := x.takeActivity("w", named("Y"))
	require.NotEqual(t, first.Task.TaskID, second.Task.TaskID)
	x.succeed(second) // history goes on; the replay still shows what the claim covered
	again := x.takeActivity("w", named("X"))
	x.same(first.Attempt, again.Attempt)
	require.Equal(t, first.Run.LastHistorySequence, again.Run.LastHistorySequence)
	require.Equal(t, first.Arguments, again.Arguments)
	started := 0
	for _, ev := range x.history(run.RunID, 0) {
		if ev == "ActivityStarted#1" {
			started++
		}
	}
	require.Equal(t, 1, started)
}

func testReplayRestart(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	x.begun("wf")
	first := x.takeWorkflow("w", named("X"))
	x.restart()
	x.same(first, x.takeWorkflow("w", named("X")))
	x.complete(first, activity("act"))
	act := x.takeActivity("w", named("X"))
	x.restart()
	again := x.takeActivity("w", named("X"))
	x.same(act, again)
	x.succeed(again)
}

// testReplayNeverExtends: a replay shows the lease as it now is.
func testReplayNeverExtends(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	x.begun("wf")
	first := x.takeWorkflow("w", named("X"))
	x.Clock.Advance(20e9)
	require.Equal(t, first.Task.LeaseExpiresAt, x.takeWorkflow("w", named("X")).Task.LeaseExpiresAt)
	renewed, err := x.HeartbeatWorkflowTask(x.ctx(), workflowFence(&first.Task))
	require.NoError(t, err)
	require.Equal(t, renewed.LeaseExpiresAt, x.takeWorkflow("w", named("X")).Task.LeaseExpiresAt)
	task, err := x.Store.ReadTask(x.ctx(), first.Task.TaskID)
	require.NoError(t, err)
	require.Equal(t, renewed.LeaseExpiresAt, task.LeaseExpiresAt)
}

func testReplayAfterTheLease(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	x.begun("wf")
	first := x.takeWorkflow("w", named("X"))
	x.due(60e9)
	second := x.takeWorkflow("w", named("X"))
	require.Equal(t, int64(2), second.Task.AttemptCount, "the poll runs anew")
	x.complete(second)
	result, err := x.PollWorkflowTask(x.ctx(), poll("w", named("X")))
	require.NoError(t, err)
	require.Equal(t, runtime.PollEmpty, result.Status, "a completed task is not shown again")
	require.Equal(t, first.Task.TaskID, second.Task.TaskID)
}

// testReplayOtherScope: queue and build are part of an id's scope.
func testReplayOtherScope(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	x.begun("wf")
	x.takeWorkflow("w", named("X"))
	result, err := x.PollWorkflowTask(x.ctx(), poll("w", named("X"), func(r *runtime.PollRequest) { r.BuildID = "b2" }))
	require.NoError(t, err)
	require.Equal(t, runtime.PollEmpty, result.Status)
}

func testReplayEmptyIsNotKept(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	result, err := x.PollWorkflowTask(x.ctx(), poll("w", named("X")))
	require.NoError(t, err)
	require.Equal(t, runtime.PollEmpty, result.Status)
	x.begun("wf")
	x.takeWorkflow("w", named("X"))
}

// testReplayCallerGone: the caller of a held poll goes away just as its task comes. Either the task
// is leased under its id or it is still there for the next; it is never lost.
func testReplayCallerGone(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	for i := range 30 {
		ctx, cancel := context.WithCancel(x.ctx())
		done := make(chan error, 1)
		go func() {
			_, err := x.PollWorkflowTask(ctx, poll("w", named("X"), held))
			done <- err
		}()
		x.held(1)
		run := x.begun("")
		if i%2 == 0 {
			cancel()
		} else {
			go cancel()
		}
		err := <-done
		require.True(t, err == nil || errors.Is(err, context.Canceled), "%v", err)
		task := x.takeWorkflow("w", named("X"))
		require.Equal(t, run.RunID, task.Run.RunID)
		require.Equal(t, int64(1), task.Task.AttemptCount, "delivered once")
		x.complete(task, finish())
		cancel()
	}
}

// testReplayConcurrent: concurrent polls of one id wait for the first and all get its lease.
func testReplayConcurrent(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	const n = 10
	answers := make(chan runtime.PollResult, n)
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			result, err := x.PollWorkflowTask(x.ctx(), poll("w", named("X"), held))
			if err == nil {
				answers <- result
			}
		})
	}
	x.held(1) // the first holds, the others wait for it
	x.begun("one")
	x.begun("two")
	wg.Wait()
	close(answers)
	var first *runtime.WorkflowTaskAnswer
	count := 0
	for answer := range answers {
		require.Equal(t, runtime.PollLeased, answer.Status)
		if first == nil {
			first = answer.Workflow
		}
		require.Equal(t, first.Task, answer.Workflow.Task, "one id, one live lease")
		count++
	}
	require.Equal(t, n, count)
	x.takeWorkflow("w", named("Y"))
}

// testReplayPruned: receipts are kept 120 s past the lease, and as long as the lease lives.
func testReplayPruned(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	x.begun("wf")
	task := x.takeWorkflow("w", named("X"))
	for range 10 {
		x.Clock.Advance(50e9)
		_, err := x.HeartbeatWorkflowTask(x.ctx(), workflowFence(&task.Task))
		require.NoError(t, err)
	}
	_, err := x.Store.PrunePollReceipts(x.ctx(), x.now(), 100)
	require.NoError(t, err)
	require.Equal(t, int64(1), x.takeWorkflow("w", named("X")).Task.AttemptCount)
	x.complete(task, finish())
	_, err = x.Store.PrunePollReceipts(x.ctx(), x.now(), 100)
	require.NoError(t, err)
	_, err = x.Store.ReadPollReceipt(x.ctx(), "default", "w", rules.KindWorkflow, "X")
	require.ErrorIs(t, err, store.ErrNotFound)
}

func testReplayOldProtocol(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	x.begun("wf")
	x.step("w", condition("k", func(c *command) { c.ConditionWaitOccurrenceID = ptr("o") }))
	x.signal("wf", "any")
	x.takeWorkflow("w", named("X"))
	result, err := x.PollWorkflowTask(x.ctx(), poll("w", named("X"), func(r *runtime.PollRequest) { r.ProtocolMinor = 16 }))
	require.NoError(t, err)
	require.Equal(t, runtime.PollEmpty, result.Status, "a replayed poll has the floor of the history too")
}

// testReplayNewRegistration: a re-registration took the lease back, so the id gets a new one.
func testReplayNewRegistration(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	x.begun("wf")
	x.takeWorkflow("w", named("X"))
	x.register("w")
	again := x.takeWorkflow("w", named("X"))
	require.Equal(t, int64(2), again.Task.AttemptCount)
	require.Equal(t, rules.TaskLeased, again.Task.Status)
}

// testReplayPrunedAll: however many receipts are over, the next pruning drops them all.
func testReplayPrunedAll(t *testing.T, open Open) {
	x := newFixture(t, open)
	const n = 1300
	e := &rules.Effects{}
	for i := range n {
		e.PollReceipts = append(e.PollReceipts, rules.PollReceipt{
			Namespace: "default", WorkerID: "w", Kind: rules.KindWorkflow, PollRequestID: fmt.Sprint(i), PruneAt: x.now() + int64(i),
		})
	}
	require.NoError(t, x.Store.Transition(x.ctx(), func(ctx context.Context, tx store.Tx) error { return tx.Apply(ctx, e) }))
	x.Clock.Advance(31 * time.Second)
	require.NoError(t, x.within(func(ctx context.Context) error {
		for i := range n {
			for ctx.Err() == nil {
				_, err := x.Store.ReadPollReceipt(ctx, "default", "w", rules.KindWorkflow, fmt.Sprint(i))
				if errors.Is(err, store.ErrNotFound) {
					break
				}
				if err != nil {
					return err
				}
				x.Clock.Elapse(time.Second)
				goruntime.Gosched()
			}
		}
		return context.Cause(ctx)
	}))
}
