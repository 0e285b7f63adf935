// Command dwbench measures dwserver on this machine: real worker processes over HTTP, a fresh database for
// every repetition, default durability. docs/benchmarks.md says what it measures and how.
//
// Exit statuses: 0 success, 1 failure, 2 a command line that cannot be run.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"dwserver/cmd/dwbench/holder"
	"dwserver/cmd/dwbench/worker"
)

const (
	exitFailure = 1
	exitUsage   = 2
)

// command is one subcommand.
type command struct {
	name  string
	short string
	run   func(ctx context.Context, args []string) error
}

func commands() []command {
	return []command{
		{"run", "measure the workloads; the default", runBench},
		{"null", "serve the null API: grant and forget", serveNull},
		{"sqlite-floor", "compare the SQLite store with a bare loop of its statements", sqliteFloor},
		{"worker", "be one worker process; run starts these itself", func(ctx context.Context, args []string) error {
			if len(args) != 1 {
				return usageError{errors.New("worker takes its options as one JSON argument")}
			}
			return worker.Process(ctx, args[0], os.Stdin, os.Stdout)
		}},
		{"hold", "hold many polls; run starts this itself", func(ctx context.Context, args []string) error {
			if len(args) != 1 {
				return usageError{errors.New("hold takes its options as one JSON argument")}
			}
			return holder.Process(ctx, args[0], os.Stdin, os.Stdout)
		}},
	}
}

// usageError is a mistake on the command line.
type usageError struct{ error }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := dispatch(ctx, os.Args[1:], os.Stderr)
	stop()
	os.Exit(exitStatus(err))
}

func dispatch(ctx context.Context, args []string, stderr io.Writer) error {
	name := "run"
	if len(args) > 0 && args[0] != "" && args[0][0] != '-' {
		name, args = args[0], args[1:]
	}
	for _, c := range commands() {
		if c.name == name {
			return c.run(ctx, args)
		}
	}
	fmt.Fprint(stderr, "Usage: dwbench [subcommand] [flags]\n\nSubcommands:\n")
	for _, c := range commands() {
		fmt.Fprintf(stderr, "  %-13s %s\n", c.name, c.short)
	}
	return usageError{fmt.Errorf("unknown subcommand %q", name)}
}

func exitStatus(err error) int {
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return 0
	}
	fmt.Fprintln(os.Stderr, "dwbench:", err)
	if _, ok := errors.AsType[usageError](err); ok {
		return exitUsage
	}
	return exitFailure
}
