package main

import (
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"dwserver/cmd/dwbench/load"
	"dwserver/cmd/dwbench/report"
)

// TestMain lets the test binary be the worker and server processes that the benchmark starts.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && (os.Args[1] == "worker" || os.Args[1] == "null" || os.Args[1] == "hold") {
		main()
		return
	}
	os.Exit(m.Run())
}

// TestQuickPass measures one workload of every shape against real processes: it shows that the benchmark
// works, and says nothing about speed.
func TestQuickPass(t *testing.T) {
	file := filepath.Join(t.TempDir(), "results.json")
	require.NoError(t, runBench(t.Context(), []string{"--quick", "--engines", "sqlite", "--workloads", "five,signals,idle,serving,floor",
		"--fleets", "single-continue,slots10-carry,1000-polls,5000-events", "--json", file}))
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	var d report.Document
	require.NoError(t, json.Unmarshal(text, &d))
	values := map[string]map[string]float64{}
	for _, r := range d.Results {
		require.Empty(t, r.Skipped)
		values[r.Workload+"/"+r.Engine] = r.Values
	}
	require.Greater(t, values["five/sqlite"][report.OfFloor], 1.0)
	require.Positive(t, values["five/sqlite"][report.OfNull])
	require.Positive(t, values["five/sqlite"][report.Transactions])
	require.Positive(t, values["signals/sqlite"][report.SignalRate])
	require.Positive(t, values["idle/sqlite"][report.HeldPolls])
	require.Greater(t, values["serving/sqlite"][report.AnswerSize], 10.0)
	require.Positive(t, values["floor/sqlite"][report.StoreOfBareLoop])
}

func TestCommandLine(t *testing.T) {
	for _, args := range [][]string{{"nonsense"}, {"--nonsense"}, {"run", "extra"}, {"worker"}, {"hold", "a", "b"}, {"null", "--x"}} {
		err := dispatch(t.Context(), args, io.Discard)
		_, usage := errors.AsType[usageError](err)
		require.True(t, usage, "%v: %v", args, err)
		require.Equal(t, exitUsage, exitStatus(err))
	}
	require.Equal(t, 0, exitStatus(flag.ErrHelp))
	require.Equal(t, exitFailure, exitStatus(io.EOF))
}

func TestEveryWorkloadIsNamedOnce(t *testing.T) {
	seen := map[string]bool{}
	for _, w := range load.All() {
		require.False(t, seen[w.Name], w.Name)
		seen[w.Name] = true
		require.NotEmpty(t, w.Fleets)
	}
}
