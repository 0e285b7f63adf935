// Package carriertest is the acceptance of carried polls and continuations on a store: every engine runs
// it (carried-polls.md 7). It drives the runtime, counts and fails the statements that reach the
// database, and compares what is stored with what the ordinary path leaves.
package carriertest

import (
	"testing"

	"dwserver/runtime/store"
)

// Open opens an empty database of the engine under test and closes it when t ends.
type Open func(t *testing.T, opt store.Options) store.Store

// Exercise runs the suite.
func Exercise(t *testing.T, open Open) {
	for _, c := range []struct {
		name string
		run  func(*testing.T, Open)
	}{
		{"OneTransaction", testOneTransaction}, {"SameAnswer", testSameAnswer}, {"NoCarrier", testNoCarrier},
		{"Declines", testDeclines}, {"OtherWorker", testOtherWorker},
		{"Fence", testFence}, {"Savepoint", testSavepoint}, {"PollInFlight", testPollInFlight},
		{"Faults", testFaults}, {"Recovery", testRecovery}, {"Corruption", testCorruption}, {"Impossible", testImpossible},
		{"ContinuedStep", testContinuedStep}, {"ContinuationDeclines", testContinuationDeclines},
		{"SignalRace", testSignalRace}, {"Cost", testCost},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, open) })
	}
}
