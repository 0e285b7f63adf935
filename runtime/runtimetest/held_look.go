package runtimetest

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"dwserver/runtime"
	"dwserver/runtime/store"
)

// watch calls fn before every statement.
func (x *fixture) watch(fn func(statement string)) {
	probe := store.Probe(func(_ context.Context, statement string) error {
		fn(statement)
		return nil
	})
	x.probe.Store(&probe)
	x.Cleanup(x.healthy)
}

// crowd is a store in which others hold every task, for so many claims.
type crowd struct {
	store.Store
	claims atomic.Int64
}

type crowdTx struct {
	store.Tx
	of *crowd
}

func (c *crowd) Transition(ctx context.Context, fn func(context.Context, store.Tx) error) error {
	return c.Store.Transition(ctx, func(ctx context.Context, tx store.Tx) error { return fn(ctx, &crowdTx{tx, c}) })
}

func (t *crowdTx) Claim(ctx context.Context, c store.Claim) (*store.Locked, error) {
	if t.of.claims.Add(-1) >= 0 {
		return nil, store.ErrCrowded
	}
	return t.Tx.Claim(ctx, c)
}

// testHeldCrowded: a poll whose claim met tasks in others' hands only looks again soon, and not when its
// fallback says so: nobody tells when one is given up.
func testHeldCrowded(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	x.begun("wf")
	crowded := &crowd{Store: x.Store}
	crowded.claims.Store(2)
	far, waits := x.apart(crowded)
	a := x.ask(far.PollWorkflowTask, poll("w", held))
	<-waits // the poll's own time
	for range 2 {
		again := <-waits
		require.LessOrEqual(t, again, time.Second)
		require.True(t, a.holds())
		x.Clock.Elapse(again)
	}
	require.Equal(t, "wf", a.answer().Workflow.Task.WorkflowID)
}

// testHeldEmptyLooks: a poll that finds nothing opens no write transaction, neither when it comes nor when
// it looks again; one that is woken opens one.
func testHeldEmptyLooks(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	var begun, asked atomic.Int64
	x.watch(func(statement string) {
		switch statement {
		case "WorkerShare": // first in every claim
			begun.Add(1)
		case "TaskFindClaimable", "TaskFindHead", "TaskFindHeads":
			asked.Add(1)
		}
	})
	result, err := x.PollWorkflowTask(x.ctx(), poll("w"))
	require.NoError(t, err)
	require.Equal(t, runtime.PollEmpty, result.Status)
	require.Zero(t, begun.Load())
	require.Equal(t, int64(1), asked.Load())
	a := x.ask(x.PollWorkflowTask, poll("w", held))
	x.held(1)
	x.begun("wf")
	require.Equal(t, "wf", a.answer().Workflow.Task.WorkflowID)
	require.Equal(t, int64(1), begun.Load())
}

// testHeldRegisteredElsewhere: a registration that this process does not hear of ends a held poll when it
// looks again, also where there is nothing to lease.
func testHeldRegisteredElsewhere(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	a := x.ask(x.PollWorkflowTask, poll("w", held))
	x.held(1)
	deaf := runtime.New(x.Store, x.options) // as another process that cannot tell this one
	_, err := deaf.Register(x.ctx(), registration("w"))
	require.NoError(t, err)
	x.passes(a, int(x.Store.WakeInterval()/1_000_000))
	require.Equal(t, runtime.PollStaleRegistration, a.answer().Status)
}

// testHeldRegisteredMeanwhile: a registration between a poll's admission and its wait is noticed at once.
func testHeldRegisteredMeanwhile(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	x.Clock.Advance(time.Minute) // the worker has not been heard of for long enough that this is stored
	var once atomic.Bool
	x.watch(func(statement string) { // each is the first of its engine that a poll runs when it is admitted and not yet waiting
		if (statement == "ReceiptGet" || statement == "WorkerSeen") && once.CompareAndSwap(false, true) {
			_, err := x.Register(x.ctx(), registration("w"))
			require.NoError(t, err)
		}
	})
	a := x.ask(x.PollWorkflowTask, poll("w", held, named("X")))
	require.Equal(t, runtime.PollStaleRegistration, a.answer().Status)
}
