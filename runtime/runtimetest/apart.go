package runtimetest

import (
	"time"

	"dwserver/runtime"
	"dwserver/runtime/store"
)

// apart is an engine as another process has it: nothing tells it of what the fixture's engine does, and it
// does nothing by itself. waits are the times for which it has begun to wait.
func (x *fixture) apart(st store.Store) (far *runtime.Engine, waits <-chan time.Duration) {
	c := &toldClock{Clock: x.Clock, waits: make(chan time.Duration, 16)}
	opt := x.options
	opt.Clock = c
	return runtime.New(st, opt), c.waits
}

// toldClock tells of every wait once it has begun.
type toldClock struct {
	*Clock
	waits chan time.Duration
}

// After is the clock's.
func (c *toldClock) After(d time.Duration) (<-chan time.Time, func()) {
	due, stop := c.Clock.After(d)
	c.waits <- d
	return due, stop
}
