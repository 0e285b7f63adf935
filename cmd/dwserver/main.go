// Command dwserver is a Durable Workflow server. Without a subcommand it serves.
//
// Exit statuses: 0 success, 1 failure, 2 a command line or configuration that cannot be run.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

const (
	exitOK      = 0
	exitFailure = 1
	exitUsage   = 2
)

// process is what a subcommand needs of the process it runs in.
type process struct {
	args   []string // after the subcommand's name
	getenv func(string) string
	stdout io.Writer
	stderr io.Writer
}

// command is one subcommand.
type command struct {
	name  string
	short string
	run   func(context.Context, process) error
}

func commands() []command {
	return []command{
		{"serve", "serve the API; the default", serve},
		{"migrate", "bring the database schema up, down, or show it", migrate},
		{"check", "read the database and verify that what is stored is sound", checkDatabase},
		{"health", "ask the configured address for its health", health},
		{"vectors", "replay the contract's vectors against a server", replay},
		{"version", "print the version", printVersion},
	}
}

// usageError is a mistake on the command line or in the configuration: exit status 2.
type usageError struct{ error }

func main() {
	p := process{args: os.Args[1:], getenv: os.Getenv, stdout: os.Stdout, stderr: os.Stderr}
	os.Exit(run(context.Background(), p))
}

// run carries out the subcommand that the first argument names and returns the exit status.
func run(ctx context.Context, p process) int {
	name := "serve"
	if len(p.args) > 0 && !strings.HasPrefix(p.args[0], "-") {
		name, p.args = p.args[0], p.args[1:]
	}
	if name == "help" {
		printHelp(p.stdout)
		return exitOK
	}
	for _, c := range commands() {
		if c.name == name {
			return exitStatus(p.stderr, c.run(ctx, p))
		}
	}
	fmt.Fprintf(p.stderr, "dwserver: unknown subcommand %q\n\n", name)
	printHelp(p.stderr)
	return exitUsage
}

func exitStatus(stderr io.Writer, err error) int {
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return exitOK
	}
	fmt.Fprintln(stderr, "dwserver:", err)
	if _, ok := errors.AsType[usageError](err); ok {
		return exitUsage
	}
	return exitFailure
}

func printHelp(w io.Writer) {
	fmt.Fprint(w, "Usage: dwserver [subcommand] [flags]\n\nSubcommands:\n")
	for _, c := range commands() {
		fmt.Fprintf(w, "  %-9s %s\n", c.name, c.short)
	}
	fmt.Fprint(w, "\nThe flags of a subcommand: dwserver <subcommand> --help\n")
}
