package load

import (
	"context"

	"dwserver/cmd/dwbench/program"
	"dwserver/cmd/dwbench/report"
	"dwserver/cmd/dwbench/worker"
)

// long: one run of 10,000 activities on one worker that remembers the run, and what a step costs along it.
// A step writes three events, so event 10,000 comes with step 3,333.
func long() Workload {
	return Workload{Name: "long", Once: true, run: runLong, Fleets: []Fleet{
		{Name: "one-continue", Workers: 1, Mode: worker.Continue, Cached: true}}}
}

func runLong(ctx context.Context, t *trial) error {
	p := program.Program{Kind: program.Sequence, Steps: 10_000}
	if t.quick {
		p.Steps = 500
	}
	c := newClients(t.server.Address, 1)
	workers, last, err := t.run(ctx, p, 1, p.Steps, func(ctx context.Context) error { return c.start(ctx, p, 1) })
	if err != nil {
		return err
	}
	t.set(report.LastClose, last.Seconds())
	windows := worker.Along(p.Steps)
	for name, window := range map[string]int{report.StepStart: windows.First, report.StepMiddle: windows.Middle, report.StepEnd: windows.Last} {
		t.set(name, milliseconds(merged(workers, worker.AlongName(window)).Quantile(0.5)))
	}
	t.set(report.StepGrowth, t.result.Values[report.StepMiddle]/t.result.Values[report.StepStart])
	return t.verify(ctx, 1)
}
