package runtimetest

import (
	"context"
	goruntime "runtime"
	"time"

	"github.com/stretchr/testify/require"

	"dwserver/runtime"
)

// held waits until n polls are held. A poll is held from before its first look for work, so what is
// made from here on wakes it.
func (x *fixture) held(n int) {
	x.Helper()
	require.NoError(x, x.within(func(ctx context.Context) error {
		for x.HeldPolls() < n && ctx.Err() == nil {
			goruntime.Gosched()
		}
		return context.Cause(ctx)
	}))
}

// asked is a poll that runs in the background.
type asked struct {
	x      *fixture
	result chan runtime.PollResult
	err    chan error
}

func (x *fixture) ask(poll func(context.Context, runtime.PollRequest) (runtime.PollResult, error), req runtime.PollRequest) *asked {
	a := &asked{x: x, result: make(chan runtime.PollResult, 1), err: make(chan error, 1)}
	go func() {
		result, err := poll(x.ctx(), req)
		a.result <- result
		a.err <- err
	}()
	return a
}

// answer is what the poll answered.
func (a *asked) answer() runtime.PollResult {
	a.x.Helper()
	select {
	case result := <-a.result:
		require.NoError(a.x, <-a.err)
		return result
	case <-time.After(patience):
		require.Fail(a.x, "the poll was never answered")
		return runtime.PollResult{}
	}
}

// holds reports that the poll has not been answered.
func (a *asked) holds() bool { return len(a.result) == 0 }

// passes lets seconds pass one by one; the poll must hold until the last has begun.
func (x *fixture) passes(a *asked, seconds int) {
	x.Helper()
	for range seconds {
		require.True(x, a.holds(), "nothing is delivered before its time")
		x.Clock.Advance(time.Second)
	}
	require.NoError(x, x.within(func(ctx context.Context) error {
		for a.holds() && ctx.Err() == nil { // whoever sleeps on the clock meanwhile sleeps at most a second
			x.Clock.Elapse(time.Second)
			goruntime.Gosched()
		}
		return context.Cause(ctx)
	}))
}
