package load

import (
	"context"
	"time"

	"dwserver/cmd/dwbench/program"
	"dwserver/cmd/dwbench/report"
	"dwserver/cmd/dwbench/worker"
)

// signals: eight clients send ten signals to each of 200 workflows, which wait for them one by one.
func signals() Workload {
	return Workload{Name: "signals", Needs: []string{"open_signal_wait"}, run: runSignals,
		Fleets: []Fleet{slots(10, worker.Carry)}}
}

func runSignals(ctx context.Context, t *trial) error {
	workflows, each := 200, 10
	if t.quick {
		workflows = 10
	}
	p := program.Program{Kind: program.Signals, Steps: each}
	starters, senders := newClients(t.server.Address, 8), newClients(t.server.Address, 8)
	var began, sent time.Time
	_, last, err := t.run(ctx, p, workflows, workflows*each, func(ctx context.Context) error {
		if err := starters.start(ctx, p, workflows); err != nil {
			return err
		}
		began = time.Now()
		defer func() { sent = time.Now() }()
		return senders.signal(ctx, workflows, workflows*each)
	})
	if err != nil {
		return err
	}
	t.set(report.LastClose, last.Seconds())
	t.set(report.SignalRate, float64(workflows*each)/sent.Sub(began).Seconds())
	t.set(report.SignalP50, milliseconds(senders.took.Quantile(0.5)))
	t.set(report.SignalP99, milliseconds(senders.took.Quantile(0.99)))
	return t.verify(ctx, workflows)
}
