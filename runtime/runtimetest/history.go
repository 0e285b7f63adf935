package runtimetest

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"dwserver/runtime"
)

var historyCases = []testCase{
	{"Pages", testHistoryPages}, {"WaitForEvent", testHistoryWait}, {"WaitForClose", testHistoryClosed},
	{"WaitEnds", testHistoryWaitEnds}, {"Refusals", testHistoryRefusals},
	{"Elsewhere", testHistoryElsewhere},
}

// reading is a history request in the background.
func (x *fixture) reading(req runtime.HistoryRequest) chan runtime.HistoryAnswer {
	answers := make(chan runtime.HistoryAnswer, 1)
	go func() {
		defer close(answers)
		if answer, err := x.Engine.History(x.ctx(), req); err == nil {
			answers <- answer
		}
	}()
	return answers
}

func testHistoryPages(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	run := x.begun("wf")
	x.step("w", sideEffect(), sideEffect(), sideEffect(), finish())
	var pages []int
	for after := int64(0); after >= 0; {
		page, err := x.History(x.ctx(), runtime.HistoryRequest{Target: runTarget(run), After: after, PageSize: 4})
		require.NoError(t, err)
		pages = append(pages, len(page.Events))
		after = page.NextAfter
	}
	require.Equal(t, []int{4, 2}, pages)
	page, err := x.History(x.ctx(), runtime.HistoryRequest{Target: runTarget(run), After: 6})
	require.NoError(t, err)
	require.Empty(t, page.Events)
	require.Equal(t, int64(-1), page.NextAfter)
}

// testHistoryWait: without an event after the token it waits for the next commit of the run, and of no other.
func testHistoryWait(t *testing.T, open Open) {
	x := newFixture(t, open)
	run := x.begun("wf")
	other := x.begun("other")
	first, err := x.History(x.ctx(), runtime.HistoryRequest{Target: runTarget(run), Wait: true})
	require.NoError(t, err)
	require.Len(t, first.Events, 2, "what is there is answered at once")
	require.Equal(t, int64(2), first.NextAfter, "an open run has more to come")
	answers := x.reading(runtime.HistoryRequest{Target: runTarget(run), After: 2, Wait: true, Timeout: time.Hour})
	x.signal("other", "go")
	require.Empty(t, answers)
	x.signal("wf", "go")
	answer := <-answers
	require.Len(t, answer.Events, 1)
	require.Equal(t, "SignalReceived", answer.Events[0].EventType)
	require.Equal(t, int64(3), answer.NextAfter)
	require.Len(t, x.events(other.RunID), 3)
	x.terminate("wf")
	answer, err = x.History(x.ctx(), runtime.HistoryRequest{Target: runTarget(run), After: 3, Wait: true})
	require.NoError(t, err)
	require.Equal(t, int64(-1), answer.NextAfter, "a closed run has not")
	answer, err = x.History(x.ctx(), runtime.HistoryRequest{Target: runTarget(run), After: x.run(run.RunID).LastHistorySequence, Wait: true})
	require.NoError(t, err)
	require.Empty(t, answer.Events)
}

func testHistoryClosed(t *testing.T, open Open) {
	x := newFixture(t, open)
	run := x.begun("wf")
	req := runtime.HistoryRequest{Target: runTarget(run), Wait: true, Closed: true, Timeout: time.Hour}
	answers := x.reading(req)
	x.signal("wf", "go") // an event, but not the end
	x.terminate("wf")
	answer := <-answers
	require.Len(t, answer.Events, 1)
	require.Equal(t, "WorkflowTerminated", answer.Events[0].EventType)
	require.Equal(t, int64(-1), answer.NextAfter)
	again, err := x.History(x.ctx(), req)
	require.NoError(t, err)
	require.Equal(t, answer, again)
}

func testHistoryWaitEnds(t *testing.T, open Open) {
	x := newFixture(t, open)
	run := x.begun("wf")
	req := runtime.HistoryRequest{Target: runTarget(run), After: 2, Wait: true, Timeout: 5 * time.Second}
	answers := x.reading(req)
	require.NoError(t, x.within(func(ctx context.Context) error {
		for len(answers) == 0 && ctx.Err() == nil {
			x.Clock.Elapse(5 * time.Second)
		}
		return context.Cause(ctx)
	}))
	answer := <-answers
	require.Empty(t, answer.Events)
	require.Equal(t, int64(2), answer.NextAfter, "the same place again")

	ctx, cancel := context.WithCancel(x.ctx())
	cancel()
	_, err := x.History(ctx, req)
	require.ErrorIs(t, err, context.Canceled)

	answers = x.reading(req)
	x.Drain()
	answer = <-answers
	require.Empty(t, answer.Events)
	require.Empty(t, (<-x.reading(req)).Events, "from now on too")
}

func testHistoryRefusals(t *testing.T, open Open) {
	x := newFixture(t, open)
	run, other := x.begun("wf"), x.begun("other")
	for _, target := range []runtime.Target{
		{Namespace: "default", WorkflowID: "wf", RunID: "none"},
		{Namespace: "default", WorkflowID: "none", RunID: run.RunID},
		{Namespace: "elsewhere", WorkflowID: "wf", RunID: run.RunID},
		{Namespace: "default", WorkflowID: "wf", RunID: other.RunID},
	} {
		_, err := x.History(x.ctx(), runtime.HistoryRequest{Target: target, Wait: true})
		x.refusal("run_not_found", err)
	}
}

// testHistoryElsewhere: events that another process wrote are seen within a second, as nothing tells of them.
func testHistoryElsewhere(t *testing.T, open Open) {
	x := newFixture(t, open)
	run := x.begun("wf")
	far, waits := x.apart(x.Store)
	answers := make(chan runtime.HistoryAnswer, 1)
	go func() {
		answer, _ := far.History(x.ctx(), runtime.HistoryRequest{Target: runTarget(run), After: 2, Wait: true, Timeout: time.Hour})
		answers <- answer
	}()
	require.Equal(t, time.Hour, <-waits)
	again := <-waits
	require.LessOrEqual(t, again, time.Second)
	x.signal("wf", "go")
	x.Clock.Elapse(again)
	answer := <-answers
	require.Len(t, answer.Events, 1)
	require.Equal(t, "SignalReceived", answer.Events[0].EventType)
}
