package runtimetest

import (
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"dwserver/runtime"
	"dwserver/runtime/rules"
)

// meanwhile does something once, before the first statement that looks for a task.
func (x *fixture) meanwhile(do func()) {
	var once atomic.Bool
	x.watch(func(statement string) {
		looks := statement == "TaskFindClaimable" || statement == "TaskFindHead" || statement == "TaskFindHeads"
		if looks && once.CompareAndSwap(false, true) {
			do()
		}
	})
}

// leases counts the tasks of a kind that a worker has.
func (x *fixture) leases(worker string) int {
	x.Helper()
	tasks, err := x.Store.DueLeases(x.ctx(), rules.Never-1, 100)
	require.NoError(x, err)
	n := 0
	for i := range tasks {
		if tasks[i].LeaseOwner == worker {
			n++
		}
	}
	return n
}

// testReplayOvertaken: two processes poll under one id at one moment, with a task for each. One id gets one
// lease, also when the id was used before.
func testReplayOvertaken(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	other := runtime.New(x.Store, x.options) // as another process: it does not know the other's polls
	for _, id := range []string{"wf1", "wf2"} {
		x.begun(id + "a")
		x.begun(id + "b")
		var first *runtime.WorkflowTaskAnswer
		x.meanwhile(func() { first = x.takeWorkflow("w", named("X")) })
		result, err := other.PollWorkflowTask(x.ctx(), poll("w", named("X")))
		require.NoError(t, err)
		x.healthy()
		require.Equal(t, runtime.PollLeased, result.Status)
		x.same(first, result.Workflow)
		require.Equal(t, 1, x.leases("w"))
		x.complete(first, finish())
		x.complete(x.takeWorkflow("w"), finish()) // the other task is there, under no id
	}
}

// testReplayOvertakenCarried: the same of a carried poll and one of another process.
func testReplayOvertakenCarried(t *testing.T, open Open) {
	x := newFixture(t, open)
	if strings.Contains(t.Name(), "/sqlite/") {
		t.Skip("a database that one process has to itself")
	}
	x.register("w")
	other := runtime.New(x.Store, x.options)
	x.begun("wf")
	task := x.takeWorkflow("w")
	x.begun("a")
	x.begun("b")
	var first *runtime.WorkflowTaskAnswer
	x.meanwhile(func() { first = x.takeWorkflow("w", named("X")) })
	req := completion(&task.Task, finish())
	req.WorkflowPoll = &runtime.CarriedPoll{PollRequest: poll("w", named("X"))}
	result, err := other.CompleteWorkflowTask(x.ctx(), req)
	require.NoError(t, err)
	x.healthy()
	require.True(t, result.Recorded)
	require.NotNil(t, result.WorkflowPoll.Lease)
	x.same(first, result.WorkflowPoll.Lease.Workflow)
	require.Equal(t, 1, x.leases("w"))
}
