package runtimetest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dwserver/runtime"
	"dwserver/runtime/rules"
)

var heldCases = []testCase{
	{"Timeout", testHeldTimeout}, {"Woken", testHeldWoken}, {"OneWakeATask", testHeldOneWakeATask},
	{"Delayed", testHeldDelayed}, {"Drain", testHeldDrain}, {"Context", testHeldContext},
	{"Reregistered", testHeldReregistered}, {"Deregistered", testHeldDeregistered}, {"Heartbeat", testHeldHeartbeat},
	{"NoTypes", testHeldNoTypes}, {"OtherBuild", testHeldOtherBuild}, {"Fallback", testHeldFallback}, {"Crowded", testHeldCrowded},
	{"SupersededWake", testHeldSupersededWake}, {"EmptyLooks", testHeldEmptyLooks},
	{"RegisteredElsewhere", testHeldRegisteredElsewhere}, {"RegisteredMeanwhile", testHeldRegisteredMeanwhile},
}

func testHeldTimeout(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	a := x.ask(x.PollWorkflowTask, poll("w", func(r *runtime.PollRequest) { r.Timeout = 7 * time.Second }))
	b := x.ask(x.PollActivityTask, poll("w", func(r *runtime.PollRequest) { r.Timeout = -1 }))
	x.held(2)
	x.Clock.Advance(7*time.Second - 1)
	require.True(t, a.holds())
	x.Clock.Advance(1)
	require.Equal(t, runtime.PollEmpty, a.answer().Status)
	require.True(t, b.holds(), "without a time of its own it has the configured 30 s")
	x.Clock.Advance(23 * time.Second)
	require.Equal(t, runtime.PollEmpty, b.answer().Status)
	require.Zero(t, x.HeldPolls())
}

func testHeldWoken(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	a := x.ask(x.PollWorkflowTask, poll("w", held))
	b := x.ask(x.PollActivityTask, poll("w", held))
	x.held(2)
	x.begun("wf")
	task := a.answer().Workflow
	require.Equal(t, "wf", task.Task.WorkflowID)
	x.complete(task, activity("act"))
	require.Equal(t, "act", b.answer().Activity.Activity.ActivityType)
}

// testHeldOneWakeATask: no task lies there while a poll that takes it waits, however polls of various
// types race for tasks of various types.
func testHeldOneWakeATask(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("narrow")
	x.register("wide", func(r *runtime.RegisterRequest) { r.WorkflowTypes = []string{"flow", "other"} })
	const n = 40
	for range 5 {
		ctx, cancel := context.WithCancel(x.ctx())
		var polls, starts sync.WaitGroup
		leased := make(chan *runtime.WorkflowTaskAnswer, n)
		for i := range 2 * n { // n of the wide ones: enough for every task
			worker := []string{"narrow", "wide"}[i%2]
			polls.Go(func() {
				if result, err := x.PollWorkflowTask(ctx, poll(worker, held)); err == nil {
					leased <- result.Workflow
				}
			})
		}
		for i := range n {
			starts.Go(func() {
				_, err := x.StartWorkflow(x.ctx(), startRequest("", func(r *runtime.StartRequest) {
					r.WorkflowType = []string{"flow", "flow", "flow", "other"}[i%4]
				}))
				assert.NoError(t, err)
			})
		}
		starts.Wait()
		for i := range n {
			select {
			case task := <-leased:
				x.complete(task, finish())
			case <-time.After(patience):
				require.Fail(t, "a task that nobody was woken for", "%d of %d came", i, n)
			}
		}
		cancel()
		polls.Wait()
	}
}

// testHeldDelayed: a retry that falls due wakes the poll that waits.
func testHeldDelayed(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	x.begun("wf")
	x.step("w", activity("act", retrying(2, 3)))
	x.failed(x.takeActivity("w"))
	a := x.ask(x.PollActivityTask, poll("w", held))
	x.held(1)
	x.passes(a, 3)
	require.Equal(t, int64(2), a.answer().Activity.Attempt.AttemptNumber)

	x.failed(x.takeActivityOf("w", "again", retrying(2, 3)))
	x.restart() // what is delayed is known again from the database alone
	a = x.ask(x.PollActivityTask, poll("w", held))
	x.held(1)
	x.passes(a, 3)
	require.Equal(t, int64(2), a.answer().Activity.Attempt.AttemptNumber)
}

// takeActivityOf starts a workflow with one activity and takes that.
func (x *fixture) takeActivityOf(worker, id string, change ...func(*command)) *runtime.ActivityTaskAnswer {
	x.Helper()
	x.begun(id)
	x.step(worker, activity("act", change...))
	return x.takeActivity(worker)
}

func testHeldDrain(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	a := x.ask(x.PollWorkflowTask, poll("w", held))
	b := x.ask(x.PollActivityTask, poll("w", held, named("X")))
	x.held(2)
	x.Drain()
	require.Equal(t, runtime.PollEmpty, a.answer().Status)
	require.Equal(t, runtime.PollEmpty, b.answer().Status)
	require.True(t, x.Draining())
	late := x.ask(x.PollWorkflowTask, poll("w", held))
	x.passes(late, 1)
	require.Equal(t, runtime.PollEmpty, late.answer().Status, "from now on too, after a moment")
	x.begun("wf")
	x.step("w", finish()) // requests that do work go on
}

func testHeldContext(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	ctx, cancel := context.WithCancel(x.ctx())
	done := make(chan error, 1)
	go func() {
		_, err := x.PollWorkflowTask(ctx, poll("w", held))
		done <- err
	}()
	x.held(1)
	cancel()
	require.ErrorIs(t, <-done, context.Canceled)
	require.Zero(t, x.HeldPolls())
}

// testHeldReregistered: held polls of the earlier registration end at once (R33).
func testHeldReregistered(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	x.register("v")
	a := x.ask(x.PollWorkflowTask, poll("w", held))
	b := x.ask(x.PollActivityTask, poll("w", held, named("X")))
	other := x.ask(x.PollWorkflowTask, poll("v", held))
	x.held(3)
	x.register("w")
	require.Equal(t, runtime.PollStaleRegistration, a.answer().Status)
	require.Equal(t, runtime.PollStaleRegistration, b.answer().Status)
	require.True(t, other.holds())
	x.begun("wf")
	require.Equal(t, runtime.PollLeased, other.answer().Status)
}

func testHeldDeregistered(t *testing.T, open Open) {
	x := newFixture(t, open)
	for _, fenced := range []bool{false, true} {
		token := x.register("w").RegistrationToken
		a := x.ask(x.PollWorkflowTask, poll("w", held))
		x.held(1)
		var err error
		if fenced {
			_, err = x.DeregisterFenced(x.ctx(), "default", "w", token)
		} else {
			_, err = x.Deregister(x.ctx(), "default", "w")
		}
		require.NoError(t, err)
		require.Equal(t, runtime.PollStaleRegistration, a.answer().Status, "also of a worker that held no lease")
	}
}

// testHeldHeartbeat: a heartbeat alone never ends a held poll.
func testHeldHeartbeat(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	a := x.ask(x.PollWorkflowTask, poll("w", held))
	x.held(1)
	x.Clock.Advance(10 * time.Second)
	_, err := x.HeartbeatWorker(x.ctx(), runtime.HeartbeatWorkerRequest{
		Namespace: "default", WorkerID: "w", TaskSlots: []byte(`{"workflow_available":1}`), HeartbeatInterval: 20,
	})
	require.NoError(t, err)
	x.begun("wf")
	require.Equal(t, runtime.PollLeased, a.answer().Status)
}

// testHeldNoTypes: a poll of a kind that the worker did not register is held for a second at most.
func testHeldNoTypes(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w", func(r *runtime.RegisterRequest) { r.ActivityTypes = nil })
	a := x.ask(x.PollActivityTask, poll("w", held))
	x.held(1)
	require.True(t, a.holds())
	x.Clock.Advance(time.Second)
	require.Equal(t, runtime.PollNoActivityTypes, a.answer().Status)
	a = x.ask(x.PollActivityTask, poll("w", held))
	x.held(1)
	x.register("w")
	require.Equal(t, runtime.PollStaleRegistration, a.answer().Status)
}

// testHeldOtherBuild: a wake goes to a poll that may take the task, not to the first in line.
func testHeldOtherBuild(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("plain")
	x.register("b1", func(r *runtime.RegisterRequest) { r.BuildID = "b1" })
	first := x.ask(x.PollWorkflowTask, poll("plain", held))
	x.held(1)
	second := x.ask(x.PollWorkflowTask, poll("b1", held))
	x.held(2)
	x.begun("wf", func(r *runtime.StartRequest) { r.Compatibility = "b1" })
	require.Equal(t, runtime.PollLeased, second.answer().Status)
	require.True(t, first.holds())
	x.begun("any")
	require.Equal(t, runtime.PollLeased, first.answer().Status)
}

// testHeldFallback: work that this process does not hear of is found by looking again.
func testHeldFallback(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	a := x.ask(x.PollWorkflowTask, poll("w", held))
	x.held(1)
	deaf := runtime.New(x.Store, x.options) // as another process that cannot tell this one
	_, err := deaf.StartWorkflow(x.ctx(), startRequest("wf"))
	require.NoError(t, err)
	x.passes(a, int(x.Store.WakeInterval()/1_000_000))
	require.Equal(t, "wf", a.answer().Workflow.Task.WorkflowID)
}

// testHeldSupersededWake: a worker that is superseded just as it is woken does not take the wake along.
func testHeldSupersededWake(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	x.register("v")
	for range 40 {
		first := x.ask(x.PollWorkflowTask, poll("w", held))
		x.held(1)
		second := x.ask(x.PollWorkflowTask, poll("v", held))
		x.held(2)
		var wg sync.WaitGroup
		wg.Go(func() { _, _ = x.StartWorkflow(x.ctx(), startRequest("")) })
		wg.Go(func() { _, _ = x.Register(x.ctx(), registration("w")) })
		wg.Wait()
		first.answer() // stale; or leased before, and then the registration took the lease back
		task := second.answer().Workflow
		require.NotNil(t, task)
		require.Equal(t, rules.TaskLeased, task.Task.Status)
		x.complete(task, finish())
	}
}
