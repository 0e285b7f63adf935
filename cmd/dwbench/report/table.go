package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// column is a value that a table shows.
type column struct {
	name  string
	title string
	span  bool // with the range over the repetitions
}

var (
	costs = []column{{ServerCPU, "server CPU s", false}, {DatabaseCPU, "database CPU s", false}, {WorkersCPU, "workers CPU s", false},
		{CPUPerStep, "CPU a step ms", false}, {Transactions, "transactions a step", false}, {Statements, "statements a step", false},
		{Commits, "commits a step", false}, {CompleteP50, "completion p50 ms", false}, {CompleteP99, "p99 ms", false},
		{ServerRSS, "server RSS MB", false}}
	lastClose = []column{{LastClose, "last close s", true}, {OfFloor, "of floor", false}, {OfNull, "of null", true}}
)

// tables are the columns of every workload's table.
var tables = map[string][]column{
	"five":   slices.Concat(lastClose, costs),
	"local":  slices.Concat(lastClose, costs),
	"fanout": slices.Concat(lastClose, costs),
	"burst":  slices.Concat([]column{{Throughput, "workflows/s", true}, {OfNull, "of null", false}}, costs, []column{{StartP50, "start p50 ms", false}, {StartP99, "p99 ms", false}}),
	"signals": slices.Concat([]column{{SignalRate, "signals/s", true}, {SignalP50, "signal p50 ms", false}, {SignalP99, "p99 ms", false},
		{LastClose, "last close s", false}}, costs),
	"timers": slices.Concat([]column{{FiredLateP50, "fired late p50 ms", true}, {FiredLateP99, "p99 ms", true}, {FiredLateMax, "max ms", true},
		{DeliveredP50, "delivered late p50 ms", false}, {DeliveredP99, "p99 ms", false}}, costs),
	"long": slices.Concat([]column{{LastClose, "last close s", true}, {StepStart, "step at event 100 ms", true}, {StepMiddle, "at event 10,000 ms", true},
		{StepEnd, "at the end ms", true}, {StepGrowth, "growth to event 10,000", true}}, costs),
	"idle":    {{HeldPolls, "held polls", false}, {ServerRSS, "server RSS MB", true}, {CPUPercent, "server CPU %", true}},
	"claims":  {{ClaimP50, "claim p50 ms", false}, {ClaimP99, "p99 ms", false}, {ClaimCPU, "CPU a claim ms", false}},
	"serving": {{ClaimP50, "claim p50 ms", false}, {ClaimP99, "p99 ms", false}, {ClaimCPU, "CPU a claim ms", false}, {AnswerSize, "answer KiB", false}},
	"floor":   {{StoreRate, "store transitions/s", true}, {BareRate, "bare loop transitions/s", true}, {StoreOfBareLoop, "store of bare loop", true}},
}

// row is one fleet on one engine: the values of its repetitions.
type row struct {
	fleet, engine string
	values        map[string][]float64
	skipped       string
}

// Tables writes a Markdown table per workload: medians over the repetitions, and ranges where they matter.
func Tables(w io.Writer, results []Result) error {
	var b strings.Builder
	for _, workload := range workloads(results) {
		rows := gather(results, workload)
		columns := slices.DeleteFunc(slices.Clone(tables[workload]), func(c column) bool {
			return !slices.ContainsFunc(rows, func(r row) bool { return len(r.values[c.name]) > 0 })
		})
		fmt.Fprintf(&b, "\n### %s\n\n| fleet | engine |", workload)
		for _, c := range columns {
			b.WriteString(" " + c.title + " |")
		}
		b.WriteString("\n|---|---|" + strings.Repeat("---|", len(columns)) + "\n")
		for _, r := range rows {
			fmt.Fprintf(&b, "| %s | %s |", r.fleet, r.engine)
			for _, c := range columns {
				b.WriteString(" " + cell(r.values[c.name], c.span) + " |")
			}
			if r.skipped != "" {
				b.WriteString(" " + r.skipped)
			}
			b.WriteString("\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func workloads(results []Result) []string {
	var names []string
	for i := range results {
		if !slices.Contains(names, results[i].Workload) {
			names = append(names, results[i].Workload)
		}
	}
	return names
}

func gather(results []Result, workload string) []row {
	var rows []row
	for i := range results {
		r := &results[i]
		if r.Workload != workload {
			continue
		}
		at := slices.IndexFunc(rows, func(x row) bool { return x.fleet == r.Fleet && x.engine == r.Engine })
		if at < 0 {
			at = len(rows)
			rows = append(rows, row{fleet: r.Fleet, engine: r.Engine, values: map[string][]float64{}})
		}
		rows[at].skipped = r.Skipped
		for name, v := range r.Values {
			rows[at].values[name] = append(rows[at].values[name], v)
		}
	}
	return rows
}

// cell is the median, with the range when it is asked for and there is one.
func cell(values []float64, span bool) string {
	if len(values) == 0 {
		return ""
	}
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	median := (sorted[(n-1)/2] + sorted[n/2]) / 2
	if !span || n == 1 {
		return Number(median)
	}
	return fmt.Sprintf("%s (%s–%s)", Number(median), Number(sorted[0]), Number(sorted[n-1]))
}
