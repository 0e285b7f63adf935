// Package storetest is the conformance suite of a store: every engine runs it, and a change of the
// store starts here. It executes every method of the interface, and by Every the suite itself is
// held to execute every named query.
package storetest

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"dwserver/runtime/rules"
	"dwserver/runtime/store"
)

// Open opens an empty database of the engine under test and closes it when t ends.
type Open func(t *testing.T, opt store.Options) store.Store

// Exercise runs the suite. Cases share one database unless they count or list all of it.
func Exercise(t *testing.T, open Open) { exercise(t, open, store.Options{}) }

func exercise(t *testing.T, open Open, opt store.Options) {
	x := &suite{Store: open(t, opt), fresh: func(t *testing.T) *suite {
		return &suite{Store: open(t, opt)}
	}}
	x.Notify(func(store.Wake) {}) // no engine minds being listened to
	for _, c := range []struct {
		name string
		run  func(*testing.T, *suite)
	}{
		{"Rows", testRows}, {"Upserts", testUpserts}, {"Workers", testWorkers}, {"Commands", testCommands},
		{"Text", testText}, {"Numbers", testNumbers}, {"Blobs", testBlobs}, {"Batches", testBatches}, {"Many", testMany},
		{"Locks", testLocks}, {"Owners", testOwners}, {"Missing", testMissing}, {"LockOrder", testLockOrder}, {"Guard", testGuard},
		{"Refusals", testRefusals}, {"Savepoints", testSavepoints}, {"Contexts", testContexts}, {"Panics", testPanics},
		{"ReadYourWrites", testReadYourWrites}, {"Visibility", testVisibility},
		{"ClaimOrder", testClaimOrder}, {"ClaimFilters", testClaimFilters}, {"ClaimSkips", testClaimSkips},
		{"ClaimRace", testClaimRace}, {"Expected", testExpected}, {"ExpectedClaim", testExpectedClaim}, {"ClaimFanout", testClaimFanout}, {"ClaimFound", testClaimFound}, {"ClaimTaken", testClaimTaken},
		{"ReadPoll", testReadPoll}, {"StartedDefinition", testStartedDefinition},
		{"FairOrder", testFairOrder},
		{"OpenRows", testOpenRows}, {"Steps", testSteps}, {"RunActivities", testRunActivities}, {"Leases", testLeases}, {"Events", testEvents},
		{"Due", testDue}, {"Delayed", testDelayed}, {"Workflows", testWorkflows}, {"Prune", testPrune},
		{"Close", testClose},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, x) })
	}
}

// suite is a store and the ids already used in it.
type suite struct {
	store.Store
	fresh func(t *testing.T) *suite
	last  atomic.Int64
}

// id is a new id, larger than all before.
func (x *suite) id(prefix string) string { return fmt.Sprintf("%s-%08d", prefix, x.last.Add(1)) }

// apply commits effects.
func (x *suite) apply(t *testing.T, e *rules.Effects) {
	t.Helper()
	require.NoError(t, x.try(t, e))
}

// try commits effects and returns the outcome.
func (x *suite) try(t *testing.T, e *rules.Effects) error {
	t.Helper()
	return x.do(t, func(ctx context.Context, tx store.Tx) error { return tx.Apply(ctx, e) })
}

func (x *suite) do(t *testing.T, fn func(context.Context, store.Tx) error) error {
	t.Helper()
	return x.Transition(t.Context(), fn)
}

// inside runs fn in a transition that must commit.
func (x *suite) inside(t *testing.T, fn func(context.Context, store.Tx)) {
	t.Helper()
	require.NoError(t, x.do(t, func(ctx context.Context, tx store.Tx) error { fn(ctx, tx); return nil }))
}

// newRun stores a running run with its instance and returns it.
func (x *suite) newRun(t *testing.T) rules.Run {
	t.Helper()
	r := rules.Run{
		RunID: x.id("run"), WorkflowID: x.id("wf"), Namespace: "default", RunNumber: 1, WorkflowType: "type",
		TaskQueue: "queue", Status: rules.RunRunning, StartedAt: 1, ExecutionDeadlineAt: rules.Never,
		RunDeadlineAt: rules.Never, DeadlineAt: rules.Never,
	}
	x.apply(t, &rules.Effects{
		NewInstance: &rules.Instance{WorkflowID: r.WorkflowID, Namespace: r.Namespace, CurrentRunID: r.RunID, RunCount: 1},
		NewRuns:     []rules.Run{r},
	})
	return r
}

// ready is a ready workflow task of a run.
func (x *suite) ready(r rules.Run, queue string) rules.Task {
	return rules.Task{
		TaskID: x.id("task"), RunID: r.RunID, WorkflowID: r.WorkflowID, Namespace: r.Namespace,
		Kind: rules.KindWorkflow, TaskQueue: queue, TypeName: r.WorkflowType, Status: rules.TaskReady,
		Priority: 5, OrderAt: 100, AvailableAt: 100, LeaseExpiresAt: rules.Never, CreatedAt: 100,
	}
}

// activity is a pending activity of a run with its ready task.
func (x *suite) activity(r rules.Run, queue string) (rules.Activity, rules.Task) {
	task := x.ready(r, queue)
	task.Kind, task.ActivityExecutionID = rules.KindActivity, x.id("act")
	return rules.Activity{
		ExecutionID: task.ActivityExecutionID, RunID: r.RunID, Namespace: r.Namespace, ActivityType: task.TypeName,
		TaskQueue: queue, Status: rules.ActivityPending, TaskID: task.TaskID, ScheduleDeadlineAt: rules.Never,
		ScheduleToCloseAt: rules.Never, CloseDeadlineAt: rules.Never, HeartbeatDeadlineAt: rules.Never,
		NextDeadlineAt: rules.Never,
	}, task
}

func ids[T any](list []T, id func(T) string) []string {
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = id(v)
	}
	return out
}

func taskID(t rules.Task) string { return t.TaskID }
