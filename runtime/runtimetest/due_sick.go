package runtimetest

import (
	"testing"
	"time"

	"dwserver/runtime/rules"
	"dwserver/runtime/store/storetest"
)

// testSickWork: more due timers than one scan takes cannot fire, as their run's history is full. Others do, and
// these too when they can.
func testSickWork(t *testing.T, open Open) {
	const many = 300
	x := newFixture(t, open)
	x.register("w")
	full := x.begun("full")
	timers := make([]command, many)
	for i := range timers {
		timers[i] = timer(10)
	}
	x.step("w", timers...)
	well := x.begun("well")
	x.step("w", timer(11), timer(20))
	last := x.run(full.RunID).LastHistorySequence
	storetest.SetCounter(t, x.Store, full.RunID, rules.Never)
	x.Clock.Advance(11 * time.Second)
	if err := x.RunDue(x.ctx()); err != nil { // the loop may have met it already
		x.refusal("history_sequence_exhausted", err)
	}
	x.await(well, "TimerFired", 1)
	storetest.SetCounter(t, x.Store, full.RunID, last)
	x.due(9 * time.Second)
	x.await(well, "TimerFired", 2)
	x.await(full, "TimerFired", many)
}
