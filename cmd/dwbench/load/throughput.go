package load

import (
	"context"
	"time"

	"dwserver/cmd/dwbench/program"
	"dwserver/cmd/dwbench/report"
	"dwserver/cmd/dwbench/worker"
)

// single and slots are the fleets of five and local: six workers, each with one place for a task of any
// kind, or with one place for a workflow task beside one for an activity.
func single(mode worker.Mode) Fleet {
	return Fleet{Name: "single-" + string(mode), Workers: 6, Mode: mode}
}

func slots(n int, mode worker.Mode) Fleet {
	name := "slots-"
	if n > 1 {
		name = "slots10-"
	}
	return Fleet{Name: name + string(mode), Workers: 6, Slots: n, Mode: mode}
}

// batch starts workflows and waits until they are closed.
type batch struct {
	program   program.Program
	workflows int
	clients   int
	places    int // how many activities the fleet can run at once, for the floor; 0 for no floor
}

// reduced is the batch of a quick pass.
func (b batch) reduced(t *trial) batch {
	if t.quick {
		b.workflows = max(b.workflows/20, 2)
	}
	return b
}

func (b batch) run(ctx context.Context, t *trial) error {
	b = b.reduced(t)
	c := newClients(t.server.Address, b.clients)
	steps := b.workflows * b.program.Steps
	_, last, err := t.run(ctx, b.program, b.workflows, steps, func(ctx context.Context) error {
		return c.start(ctx, b.program, b.workflows)
	})
	if err != nil {
		return err
	}
	t.set(report.LastClose, last.Seconds())
	t.set(report.Throughput, float64(b.workflows)/last.Seconds())
	t.set(report.StartP50, milliseconds(c.took.Quantile(0.5)))
	t.set(report.StartP99, milliseconds(c.took.Quantile(0.99)))
	if b.places > 0 {
		floor := time.Duration(steps) * b.program.Work / time.Duration(b.places)
		t.set(report.OfFloor, last.Seconds()/floor.Seconds())
	}
	return t.verify(ctx, b.workflows)
}

// five: 200 workflows started one after another, five sequential 20 ms activities each.
func five() Workload {
	b := batch{program.Program{Kind: program.Sequence, Steps: 5, Work: 20 * time.Millisecond}, 200, 1, 6}
	return Workload{Name: "five", Null: true, run: b.run, Fleets: []Fleet{
		slots(1, worker.Poll), slots(1, worker.Carry), single(worker.Poll), single(worker.Carry), single(worker.Continue)}}
}

// local: the same with local activities, so that a workflow is one task.
func local() Workload {
	b := batch{program.Program{Kind: program.Local, Steps: 5, Work: 20 * time.Millisecond}, 200, 1, 6}
	return Workload{Name: "local", Null: true, run: b.run, Needs: []string{"record_local_activity"},
		Fleets: []Fleet{slots(1, worker.Poll), single(worker.Carry)}}
}

// burst: 2,000 workflows of one activity that takes no time, started by eight clients.
func burst() Workload {
	b := batch{program.Program{Kind: program.Sequence, Steps: 1}, 2000, 8, 0}
	return Workload{Name: "burst", Null: true, run: b.run, Fleets: []Fleet{
		slots(10, worker.Poll), slots(10, worker.Carry), slots(10, worker.Continue)}}
}

// fanout: twenty workflows of 100 activities at once, 20 ms each, on 60 places.
func fanout() Workload {
	b := batch{program.Program{Kind: program.Parallel, Steps: 100, Work: 20 * time.Millisecond}, 20, 1, 60}
	return Workload{Name: "fanout", Null: true, run: b.run, Fleets: []Fleet{slots(10, worker.Poll), slots(10, worker.Carry)}}
}
