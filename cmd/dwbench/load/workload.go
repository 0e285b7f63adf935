package load

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"dwserver/cmd/dwbench/report"
	"dwserver/cmd/dwbench/target"
	"dwserver/cmd/dwbench/worker"
)

// Workload is one thing that is measured.
type Workload struct {
	Name   string
	Fleets []Fleet
	Null   bool     // also measured against the null server
	Needs  []string // capabilities of the server
	Once   bool     // one repetition says enough: it is made of many samples, and takes long

	prepare func(fleet Fleet, quick bool) func(ctx context.Context, databaseURL string) error
	run     func(ctx context.Context, t *trial) error
}

// Shortest are the fleets of a quick pass: the last one, which does most, and of the first workload also the
// plain one.
func (w *Workload) Shortest() []Fleet {
	last := len(w.Fleets) - 1
	if w.Name == "five" {
		return []Fleet{w.Fleets[0], w.Fleets[last]}
	}
	return w.Fleets[last:]
}

// Settings of a measurement.
type Settings struct {
	Rep        int
	Quick      bool
	ProfileDir string // where CPU profiles of the servers go; "" for none
}

// trialTime bounds one repetition.
const trialTime = 5 * time.Minute

// profileSeconds is how long a server is profiled from the start of a workload. A profile has no samples of
// a server that waits, so one that outlasts the workload shows nothing else.
const profileSeconds = 8

// Measure runs one repetition on a server of its own.
func (w *Workload) Measure(ctx context.Context, kind *target.Kind, fleet Fleet, s Settings) (r report.Result, err error) {
	ctx, cancel := context.WithTimeout(ctx, trialTime)
	defer cancel()
	r = report.Result{Workload: w.Name, Engine: kind.Name(), Fleet: fleet.Name, Rep: s.Rep, Values: map[string]float64{}}
	var prepare func(context.Context, string) error
	if w.prepare != nil {
		prepare = w.prepare(fleet, s.Quick)
	}
	server, err := kind.Start(ctx, prepare)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, server.Stop(context.WithoutCancel(ctx))) }()
	if r.Skipped, err = w.missing(server, fleet); r.Skipped != "" || err != nil {
		return r, err
	}
	t := &trial{server: server, fleet: fleet, result: &r, quick: s.Quick}
	profiled := w.profile(ctx, t, s)
	err = w.run(ctx, t)
	return r, errors.Join(err, <-profiled)
}

// profile takes a CPU profile beside the workload when that is asked for.
func (w *Workload) profile(ctx context.Context, t *trial, s Settings) <-chan error {
	done := make(chan error, 1)
	if s.ProfileDir == "" || t.server.Engine == target.Null {
		done <- nil
		return done
	}
	file := filepath.Join(s.ProfileDir, fmt.Sprintf("%s-%s-%s-%d.pprof", w.Name, t.server.Engine, t.fleet.Name, s.Rep))
	go func() { done <- t.server.Profile(ctx, profileSeconds, file) }()
	return done
}

// needs are the capabilities that a way of polling needs.
var needs = map[worker.Mode][]string{
	worker.Carry: {"workflow_task_completion_activity_poll", "workflow_task_completion_workflow_poll", "activity_task_completion_polls"},
	worker.Continue: {"workflow_task_completion_activity_poll", "workflow_task_completion_workflow_poll",
		"activity_task_completion_polls", "activity_workflow_continuation"},
}

// missing says what the server cannot do that the workload needs; "" when nothing.
func (w *Workload) missing(server *target.Server, fleet Fleet) (string, error) {
	if server.Engine == target.Null {
		return "", nil
	}
	can, err := server.Capabilities()
	if err != nil {
		return "", err
	}
	for _, name := range append(needs[fleet.Mode], w.Needs...) {
		if !can[name] {
			return "the server does not offer " + name, nil
		}
	}
	return "", nil
}
