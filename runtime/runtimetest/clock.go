// Package runtimetest is the conformance suite of the engine: every store runs it, and a change of the
// engine starts here. It knows the engine from outside and the database through the store's interface.
package runtimetest

import (
	"sync"
	"time"
)

// Clock is a clock that tests move. The wall clock and the monotonic clock are two things, as on a
// real machine: Step moves one without the other.
type Clock struct {
	mu      sync.Mutex
	wall    time.Time
	mono    time.Duration
	waiters map[*waiter]struct{}
}

type waiter struct {
	at time.Duration
	c  chan time.Time
}

// NewClock makes a clock that stands at some instant of 2026.
func NewClock() *Clock {
	return &Clock{wall: time.UnixMicro(1_790_000_000_000_000).UTC(), waiters: map[*waiter]struct{}{}}
}

// Now is the wall clock.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.wall
}

// After delivers once the monotonic clock has moved by d; stop releases it early.
func (c *Clock) After(d time.Duration) (<-chan time.Time, func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := &waiter{at: c.mono + d, c: make(chan time.Time, 1)}
	if d <= 0 {
		w.c <- c.wall
		return w.c, func() {}
	}
	c.waiters[w] = struct{}{}
	return w.c, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.waiters, w)
	}
}

// Advance lets time pass, on both clocks.
func (c *Clock) Advance(d time.Duration) { c.move(d, d) }

// Step sets the wall clock, as an operator or a time server does.
func (c *Clock) Step(d time.Duration) { c.move(d, 0) }

// Elapse lets time pass that the wall clock does not show, as after a step back.
func (c *Clock) Elapse(d time.Duration) { c.move(0, d) }

func (c *Clock) move(wall, mono time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wall = c.wall.Add(wall)
	c.mono += mono
	for w := range c.waiters {
		if w.at <= c.mono {
			w.c <- c.wall
			delete(c.waiters, w)
		}
	}
}
