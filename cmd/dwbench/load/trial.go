// Package load holds the benchmark's workloads and measures them.
package load

import (
	"context"
	"fmt"
	"time"

	"dwserver/cmd/dwbench/fleet"
	"dwserver/cmd/dwbench/program"
	"dwserver/cmd/dwbench/report"
	"dwserver/cmd/dwbench/target"
	"dwserver/cmd/dwbench/usage"
	"dwserver/cmd/dwbench/worker"
)

// queue is the task queue of every workload.
const queue = "bench"

// Fleet is a kind of fleet.
type Fleet struct {
	Name    string
	Workers int
	Slots   int // per worker and kind; 0 is single capacity
	Mode    worker.Mode
	Cached  bool
}

// trial is one repetition of a workload against a running server.
type trial struct {
	server *target.Server
	fleet  Fleet
	result *report.Result
	quick  bool
}

// set records a value.
func (t *trial) set(name string, value float64) { t.result.Values[name] = value }

func milliseconds(d time.Duration) float64 { return d.Seconds() * 1000 }

// startFleet starts the workers of a program.
func (t *trial) startFleet(ctx context.Context, p program.Program) (*fleet.Fleet, error) {
	options := make([]worker.Options, t.fleet.Workers)
	for i := range options {
		options[i] = worker.Options{
			Address: t.server.Address, ID: fmt.Sprintf("worker-%d", i+1), Queue: queue, Program: p,
			Mode: t.fleet.Mode, Slots: t.fleet.Slots, Cached: t.fleet.Cached,
		}
	}
	return fleet.Start(ctx, options)
}

// run starts the fleet, lets drive make its load, waits until n workflows are closed and records what that
// took. Steps are what costs are shared out over. It returns the workers' report and the time of the last
// close, counted from the start of the load.
func (t *trial) run(ctx context.Context, p program.Program, n, steps int, drive func(context.Context) error) (*worker.Report, time.Duration, error) {
	f, err := t.startFleet(ctx, p)
	if err != nil {
		return nil, 0, err
	}
	before, err := t.read(ctx)
	if err != nil {
		f.Kill()
		return nil, 0, err
	}
	began := time.Now()
	var last time.Time
	if err = drive(ctx); err == nil {
		last, err = f.Closed(ctx, int64(n))
	}
	if err != nil {
		f.Kill()
		return nil, 0, err
	}
	after, err := t.read(ctx)
	if err != nil {
		f.Kill()
		return nil, 0, err
	}
	sum, err := f.Stop()
	if err != nil {
		return nil, 0, err
	}
	t.costs(before, after, sum, steps)
	return sum, last.Sub(began), nil
}

// reading is what server and database have taken, and counted, so far.
type reading struct {
	server, database usage.Process
	counters         target.Counters
}

func (t *trial) read(ctx context.Context) (r reading, err error) {
	if r.server, r.database, err = t.server.Usage(); err != nil {
		return r, err
	}
	r.counters, err = t.server.Counters(ctx)
	return r, err
}

// counted names the server's counters that are reported per step, when the server has them.
var counted = map[string]string{
	report.Transactions: `dwserver_transitions_total{outcome="committed"}`, // what wrote
	report.Statements:   "dwserver_statements_total",
	report.Commits:      "dwserver_commits_total",
}

func (t *trial) costs(before, after reading, workers *worker.Report, steps int) {
	server, db := after.server.Since(before.server), after.database.Since(before.database)
	t.set(report.ServerCPU, server.Seconds())
	t.set(report.ServerRSS, megabytes(after.server.RSS))
	t.set(report.CPUPerStep, milliseconds(server+db)/float64(steps))
	if after.database.CPU > 0 {
		t.set(report.DatabaseCPU, db.Seconds())
	}
	if after.database.RSS > 0 {
		t.set(report.DatabaseRSS, megabytes(after.database.RSS))
	}
	grown := after.counters.Since(before.counters)
	for name, counter := range counted {
		if n, ok := grown.Sum(counter); ok {
			t.set(name, n/float64(steps))
		}
	}
	t.result.Counters = grown
	t.set(report.WorkersCPU, workers.CPU.Seconds())
	t.completions(workers)
	t.result.Counts = workers.Counts
}

// completions records the latency of workflow and activity completions together.
func (t *trial) completions(workers *worker.Report) {
	both := merged(workers, "complete_workflow_task", "complete_activity_task")
	t.set(report.CompleteP50, milliseconds(both.Quantile(0.5)))
	t.set(report.CompleteP99, milliseconds(both.Quantile(0.99)))
}

func megabytes(n int64) float64 { return float64(n) / (1 << 20) }
