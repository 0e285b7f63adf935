package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"dwserver/cmd/dwbench/database"
	"dwserver/cmd/dwbench/floor"
	"dwserver/cmd/dwbench/load"
	"dwserver/cmd/dwbench/report"
	"dwserver/cmd/dwbench/target"
)

// options are the flags of run.
type options struct {
	reps        int
	quick       bool
	workloads   string
	engineNames string
	fleets      string
	server      string
	dir         string
	json        string
	profileDir  string
}

func (o *options) parse(args []string) error {
	flags := flag.NewFlagSet("dwbench", flag.ContinueOnError)
	flags.IntVar(&o.reps, "reps", 3, "repetitions, each with a fresh database")
	flags.BoolVar(&o.quick, "quick", false, "small workloads, one repetition: shows that the benchmark works, not how fast anything is")
	flags.StringVar(&o.workloads, "workloads", "", "comma-separated workloads; all when empty")
	flags.StringVar(&o.engineNames, "engines", "", "comma-separated engines; all that are there when empty")
	flags.StringVar(&o.fleets, "fleets", "", "comma-separated fleets, or parts of their names; all when empty")
	flags.StringVar(&o.server, "server", "", "dwserver binary; built from this module when empty")
	flags.StringVar(&o.dir, "dir", "", "folder for the SQLite files; the system's temporary folder when empty")
	flags.StringVar(&o.json, "json", "", "file for the results as JSON")
	flags.StringVar(&o.profileDir, "cpuprofile-server", "", "folder for a CPU profile of the server per repetition")
	if err := flags.Parse(args); err != nil {
		return parsed(err)
	}
	if flags.NArg() > 0 {
		return usageError{fmt.Errorf("unexpected argument %q", flags.Arg(0))}
	}
	if o.quick {
		o.reps = 1
	}
	return nil
}

// selected reports whether a name is in a comma-separated list, which takes all when it is empty.
func selected(list, name string) bool {
	return list == "" || slices.Contains(strings.Split(list, ","), name)
}

// runBench measures every selected workload and prints the table.
func runBench(ctx context.Context, args []string) (err error) {
	var o options
	if err := o.parse(args); err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "dwbench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	if o.server == "" {
		o.server = filepath.Join(scratch, "dwserver")
		if err := build(ctx, o.server); err != nil {
			return err
		}
	}
	if o.profileDir != "" {
		if err := os.MkdirAll(o.profileDir, 0o755); err != nil {
			return err
		}
	}
	engines, err := openEngines(ctx, o)
	defer func() {
		for _, e := range engines {
			err = errors.Join(err, e.Close())
		}
	}()
	if err != nil {
		return err
	}
	b := bench{options: o, engines: engines}
	if err := b.measure(ctx); err != nil {
		return err
	}
	if err := b.floor(ctx); err != nil {
		return err
	}
	return b.publish()
}

// build makes the server's binary of the module that this program is in.
func build(ctx context.Context, path string) error {
	fmt.Fprintln(os.Stderr, "building dwserver")
	cmd := exec.CommandContext(ctx, "go", "build", "-o", path, "dwserver/cmd/dwserver")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building dwserver: %w\n%s", err, out)
	}
	return nil
}

// bench is one run of the benchmark.
type bench struct {
	options
	engines []database.Engine
	results []report.Result
}

func (b *bench) kinds(w *load.Workload) []*target.Kind {
	var kinds []*target.Kind
	if w.Null {
		kinds = append(kinds, &target.Kind{})
	}
	for _, e := range b.engines {
		kinds = append(kinds, &target.Kind{Engine: e, Binary: b.server})
	}
	return kinds
}

// measure runs the repetitions in turns: null and engines next to each other, so that what changes on the
// machine over time meets all of them.
func (b *bench) measure(ctx context.Context) error {
	for _, w := range load.All() {
		if !selected(b.workloads, w.Name) {
			continue
		}
		for _, fleet := range b.selectedFleets(&w) {
			reps := b.reps
			if w.Once {
				reps = 1
			}
			for rep := 1; rep <= reps; rep++ {
				for _, kind := range b.kinds(&w) {
					if err := b.one(ctx, &w, kind, fleet, rep); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// selectedFleets are those asked for; without a wish all, and in a quick pass as few as show that it works.
func (b *bench) selectedFleets(w *load.Workload) []load.Fleet {
	if b.quick && b.fleets == "" {
		return w.Shortest()
	}
	var fleets []load.Fleet
	for _, fleet := range w.Fleets {
		for part := range strings.SplitSeq(b.fleets, ",") {
			if strings.Contains(fleet.Name, part) {
				fleets = append(fleets, fleet)
				break
			}
		}
	}
	return fleets
}

func (b *bench) one(ctx context.Context, w *load.Workload, kind *target.Kind, fleet load.Fleet, rep int) error {
	settings := load.Settings{Rep: rep, Quick: b.quick, ProfileDir: b.profileDir}
	r, err := w.Measure(ctx, kind, fleet, settings)
	if err != nil {
		return fmt.Errorf("%s on %s with %s: %w", w.Name, kind.Name(), fleet.Name, err)
	}
	b.add(r)
	return nil
}

// floor compares the SQLite store with a bare loop.
func (b *bench) floor(ctx context.Context) error {
	if !selected(b.workloads, "floor") || !selected(b.engineNames, "sqlite") {
		return nil
	}
	each := 3 * time.Second
	if b.quick {
		each = 200 * time.Millisecond
	}
	for rep := 1; rep <= b.reps; rep++ {
		rates, err := floor.Measure(ctx, b.dir, each)
		if err != nil {
			return fmt.Errorf("floor: %w", err)
		}
		b.add(floorResult(rates, rep))
	}
	return nil
}

// add keeps a result and shows it.
func (b *bench) add(r report.Result) {
	b.results = append(b.results, r)
	fmt.Fprintln(os.Stderr, report.Line(&r))
}

// publish prints the tables and writes the JSON file.
func (b *bench) publish() error {
	report.Compare(b.results)
	machine := report.ThisMachine()
	fmt.Fprintf(os.Stdout, "%s\n", machine)
	if err := report.Tables(os.Stdout, b.results); err != nil {
		return err
	}
	if b.json == "" {
		return nil
	}
	return report.WriteJSON(b.json, report.Document{Machine: machine, Quick: b.quick, Results: b.results})
}
