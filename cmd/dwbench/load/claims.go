package load

import (
	"context"
	"fmt"

	"dwserver/cmd/dwbench/fill"
	"dwserver/cmd/dwbench/latency"
	"dwserver/cmd/dwbench/program"
	"dwserver/cmd/dwbench/report"
	"dwserver/cmd/dwbench/worker"
)

// claims: what a claim of a ready workflow task costs in a small database, in one with 200,000 closed runs,
// and in one with 50,000 ready tasks on a hundred other queues.
func claims() Workload {
	return Workload{Name: "claims", Once: true, prepare: fillForClaims, run: runClaims,
		Fleets: []Fleet{{Name: "10-closed"}, {Name: "200000-closed"}, {Name: "50000-elsewhere"}}}
}

func fillForClaims(fleet Fleet, quick bool) func(context.Context, string) error {
	return func(ctx context.Context, url string) error {
		n := 10
		make := fill.Closed(queue)
		switch fleet.Name {
		case "200000-closed":
			n = 200_000
		case "50000-elsewhere":
			n = 50_000
			make = fill.Ready(2, func(i int) string { return fmt.Sprintf("other-%d", i%100) })
		}
		if quick {
			n = max(n/100, 10)
		}
		return fill.Runs(ctx, url, n, make)
	}
}

func runClaims(ctx context.Context, t *trial) error {
	n := 1000
	if t.quick {
		n = 100
	}
	c := newClients(t.server.Address, 8)
	if err := c.start(ctx, program.Program{Kind: program.Sequence}, n); err != nil {
		return err
	}
	took, _, err := t.claimAll(ctx, n)
	if err != nil {
		return err
	}
	t.set(report.ClaimP50, milliseconds(took.Quantile(0.5)))
	t.set(report.ClaimP99, milliseconds(took.Quantile(0.99)))
	return nil
}

// serving: what handing out a workflow task costs with a history of 20, of 500 (one page) and of 5,000 events.
func serving() Workload {
	return Workload{Name: "serving", Once: true, prepare: fillForServing, run: runServing,
		Fleets: []Fleet{{Name: "20-events", Slots: 20}, {Name: "500-events", Slots: 500}, {Name: "5000-events", Slots: 5000}}}
}

// servedRuns is how many runs of each length are claimed.
const servedRuns = 50

func fillForServing(fleet Fleet, quick bool) func(context.Context, string) error {
	return func(ctx context.Context, url string) error {
		return fill.Runs(ctx, url, served(quick), fill.Ready(fleet.Slots, func(int) string { return queue }))
	}
}

func served(quick bool) int {
	if quick {
		return servedRuns / 10
	}
	return servedRuns
}

func runServing(ctx context.Context, t *trial) error {
	took, bytes, err := t.claimAll(ctx, served(t.quick))
	if err != nil {
		return err
	}
	t.set(report.ClaimP50, milliseconds(took.Quantile(0.5)))
	t.set(report.ClaimP99, milliseconds(took.Quantile(0.99)))
	t.set(report.AnswerSize, float64(bytes)/float64(took.Total)/1024)
	return nil
}

// claimAll claims n workflow tasks, one after the other, and returns what each took and the bytes of all answers.
func (t *trial) claimAll(ctx context.Context, n int) (*latency.Histogram, int64, error) {
	w := worker.New(worker.Options{Address: t.server.Address, ID: "claimer", Queue: queue, Slots: n,
		Program: program.Program{Kind: program.Sequence}})
	if err := w.Register(); err != nil {
		return nil, 0, err
	}
	before, err := t.read(ctx)
	if err != nil {
		return nil, 0, err
	}
	took, bytes, err := w.Claims(ctx, n)
	if err != nil {
		return nil, 0, err
	}
	after, err := t.read(ctx)
	if err != nil {
		return nil, 0, err
	}
	cpu := after.server.Since(before.server) + after.database.Since(before.database)
	t.set(report.ClaimCPU, milliseconds(cpu)/float64(n))
	return took, bytes, nil
}
