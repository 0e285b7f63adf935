package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"dwserver/cmd/dwbench/floor"
	"dwserver/cmd/dwbench/report"
)

// sqliteFloor prints what the store reaches of a bare loop's rate on this disk.
func sqliteFloor(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("dwbench sqlite-floor", flag.ContinueOnError)
	reps := flags.Int("reps", 3, "repetitions")
	each := flags.Duration("time", 3*time.Second, "how long each of the two runs")
	dir := flags.String("dir", "", "folder for the files; the system's temporary folder when empty")
	if err := flags.Parse(args); err != nil {
		return parsed(err)
	}
	for rep := range *reps {
		r, err := floor.Measure(ctx, *dir, *each)
		if err != nil {
			return err
		}
		if rep == 0 {
			fmt.Fprintf(os.Stdout, "%d callers; a transition: %s\n", floor.Callers, strings.Join(r.Statements, ", "))
		}
		result := floorResult(r, rep+1)
		fmt.Fprintln(os.Stdout, report.Line(&result))
	}
	return nil
}

func floorResult(r floor.Rates, rep int) report.Result {
	return report.Result{Workload: "floor", Engine: "sqlite", Fleet: fmt.Sprintf("%d-callers", floor.Callers), Rep: rep,
		Values: map[string]float64{report.StoreRate: r.Store, report.BareRate: r.Bare, report.StoreOfBareLoop: r.Store / r.Bare}}
}
