// Package carriertest is the acceptance of carried polls and continuations on a store: every engine runs
// it (carried-polls.md 7). It drives the runtime, counts and fails the statements that reach the
// database, and compares what is stored with what the ordinary path leaves.
package carriertest

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"dwserver/runtime/store"
	"dwserver/runtime/store/open"
)

// Empty makes an empty database of the engine under test, until t ends, and returns its URL.
type Empty func(t testing.TB) string

// open opens an empty database until t ends.
func (e Empty) open(t *testing.T, opt store.Options) (st store.Store, url string) {
	t.Helper()
	url = e(t)
	st, err := open.Store(t.Context(), url, opt)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	return st, url
}

// Exercise runs the suite.
func Exercise(t *testing.T, empty Empty) {
	for _, c := range []struct {
		name string
		run  func(*testing.T, Empty)
	}{
		{"OneTransaction", testOneTransaction}, {"SameAnswer", testSameAnswer}, {"NoCarrier", testNoCarrier},
		{"Declines", testDeclines}, {"OtherWorker", testOtherWorker},
		{"Fence", testFence}, {"Copies", testCopies}, {"Savepoint", testSavepoint}, {"PollInFlight", testPollInFlight},
		{"Faults", testFaults}, {"Recovery", testRecovery}, {"Corruption", testCorruption}, {"Impossible", testImpossible},
		{"ContinuedStep", testContinuedStep}, {"ContinuationDeclines", testContinuationDeclines},
		{"SignalRace", testSignalRace}, {"Cost", testCost}, {"Load", testLoad},
	} {
		t.Run(c.name, func(t *testing.T) {
			if (c.name == "Faults" || c.name == "Load") && os.Getenv("DW_TEST_SOAK") == "" && !strings.HasPrefix(empty(t), "sqlite:") {
				t.Skip("minutes long on an engine with a network in between, and sensitive to its pace: make soak runs it")
			}
			c.run(t, empty)
		})
	}
}
