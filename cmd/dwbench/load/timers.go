package load

import (
	"context"
	"time"

	"dwserver/cmd/dwbench/program"
	"dwserver/cmd/dwbench/report"
	"dwserver/cmd/dwbench/worker"
)

// timers: 5,000 workflows whose timers are due in the same second.
func timers() Workload {
	return Workload{Name: "timers", Once: true, Needs: []string{"start_timer"}, run: runTimers, Fleets: []Fleet{slots(10, worker.Poll)}}
}

func runTimers(ctx context.Context, t *trial) error {
	workflows, lead := 5000, 12*time.Second
	if t.quick {
		workflows, lead = 200, 3*time.Second
	}
	p := program.Program{Kind: program.Timer, Steps: 1, DueAt: time.Now().Add(lead).Unix() + 1}
	c := newClients(t.server.Address, 8)
	workers, _, err := t.run(ctx, p, workflows, workflows, func(ctx context.Context) error {
		return c.start(ctx, p, workflows)
	})
	if err != nil {
		return err
	}
	fired, delivered := merged(workers, "timer_fired_late"), merged(workers, "timer_delivered_late")
	t.set(report.FiredLateP50, milliseconds(fired.Quantile(0.5)))
	t.set(report.FiredLateP99, milliseconds(fired.Quantile(0.99)))
	t.set(report.FiredLateMax, milliseconds(fired.Max))
	t.set(report.DeliveredP50, milliseconds(delivered.Quantile(0.5)))
	t.set(report.DeliveredP99, milliseconds(delivered.Quantile(0.99)))
	return t.verify(ctx, workflows)
}
