package runtimetest

import (
	"testing"

	"dwserver/runtime/store"
)

// Open makes an empty database of the engine under test and returns how to connect to it. Every
// connection is closed by the suite; on engines that serve many processes two may be open at once.
type Open func(t *testing.T) (connect func(store.Options) store.Store)

// Exercise runs the suite. Every case has a database, an engine and a clock of its own.
func Exercise(t *testing.T, open Open) {
	for _, group := range []struct {
		name  string
		cases []testCase
	}{
		{"Start", startCases}, {"Poll", pollCases}, {"PollReplay", replayCases}, {"HeldPolls", heldCases},
		{"Workflow", workflowCases}, {"Continue", continueCases}, {"Fence", fenceCases}, {"Wake", wakeCases}, {"Activity", activityCases},
		{"ActivityEnds", activityEndCases}, {"Due", dueCases}, {"Signal", signalCases}, {"Close", closeCases},
		{"Register", registerCases}, {"History", historyCases}, {"Reads", readCases}, {"Faults", faultCases}, {"Crowd", crowdCases},
	} {
		t.Run(group.name, func(t *testing.T) {
			for _, c := range group.cases {
				t.Run(c.name, func(t *testing.T) { c.run(t, open) })
			}
		})
	}
}

type testCase struct {
	name string
	run  func(t *testing.T, open Open)
}
