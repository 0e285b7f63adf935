// Package writetest is the acceptance of the write path on a store: every engine runs it (write-path.md 6). It
// counts what a transition sends, reads what is stored, and lets two processes meet on one run.
package writetest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"dwserver/runtime/store"
	"dwserver/runtime/store/open"
)

// Empty makes an empty database of the engine under test, until t ends, and returns its URL.
type Empty func(t testing.TB) string

// Exercise runs the suite.
func Exercise(t *testing.T, empty Empty) {
	for _, c := range []struct {
		name string
		run  func(*testing.T, Empty)
	}{
		{"Counts", testCounts}, {"RoundTrips", testRoundTrips}, {"Order", testOrder},
		{"SplitByCount", testSplitByCount}, {"SplitByBytes", testSplitByBytes}, {"Settling", testSettling},
		{"Exhausted", testExhausted}, {"ExhaustedByAClaim", testExhaustedByAClaim}, {"MissingRun", testMissingRun},
		{"Budgets", testBudgets}, {"Overlap", testOverlap}, {"Killed", testKilled},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, empty) })
	}
}

// openStore opens a database until t ends.
func openStore(t *testing.T, url string, opt store.Options) store.Store {
	t.Helper()
	s, err := open.Store(t.Context(), url, opt)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// Engines, by the scheme of their URLs.
const (
	sqliteEngine   = "sqlite"
	postgresEngine = "postgres"
	mysqlEngine    = "mysql"
)

func engineOf(url string) string {
	scheme, _, _ := strings.Cut(url, ":")
	return scheme
}
