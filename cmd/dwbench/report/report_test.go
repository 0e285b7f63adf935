package report

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func results() []Result {
	var list []Result
	for rep, seconds := range []float64{4, 5, 6} {
		list = append(list,
			Result{Workload: "five", Engine: "null", Fleet: "single-poll", Rep: rep, Values: map[string]float64{LastClose: 2}},
			Result{Workload: "five", Engine: "sqlite", Fleet: "single-poll", Rep: rep, Values: map[string]float64{LastClose: seconds, ServerCPU: 123.4}})
	}
	return append(list, Result{Workload: "local", Engine: "sqlite", Fleet: "x", Skipped: "the server does not offer it"})
}

func TestRatiosAreOfTheSameRepetition(t *testing.T) {
	list := results()
	Compare(list)
	require.Equal(t, 1.0, list[0].Values[OfNull])
	require.Equal(t, 3.0, list[5].Values[OfNull])
}

func TestTables(t *testing.T) {
	list := results()
	Compare(list)
	var b strings.Builder
	require.NoError(t, Tables(&b, list))
	require.Contains(t, b.String(), "| fleet | engine | last close s | of null | server CPU s |\n")
	require.Contains(t, b.String(), "| single-poll | sqlite | 5.00 (4.00–6.00) | 2.50 (2.00–3.00) | 123 |\n")
	require.Contains(t, b.String(), "the server does not offer it")
}

func TestEveryWorkloadValueHasATitle(t *testing.T) {
	for workload, columns := range tables {
		for _, c := range columns {
			require.NotEmpty(t, c.title, "%s %s", workload, c.name)
		}
	}
}

func TestNumbersAndLines(t *testing.T) {
	require.Equal(t, []string{"0.123", "1.23", "12.3", "123"}, []string{Number(0.1234), Number(1.234), Number(12.34), Number(123.4)})
	list := results()
	require.Contains(t, Line(&list[1]), "last_close_s=4.00 server_cpu_s=123")
	require.Contains(t, Line(&list[6]), "skipped: the server")
}

func TestJSON(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.json")
	require.NoError(t, WriteJSON(file, Document{Machine: ThisMachine(), Results: results()}))
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	var d Document
	require.NoError(t, json.Unmarshal(text, &d))
	require.Equal(t, results(), d.Results)
	require.Positive(t, d.Machine.Cores)
}
