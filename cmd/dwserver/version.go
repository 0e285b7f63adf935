package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"runtime"
)

// version is the release, set by the linker: -ldflags "-X main.version=1.2.3".
var version = "0.1.0-dev"

// printVersion writes the version, with --json as an object.
func printVersion(_ context.Context, p process) error {
	flags := flag.NewFlagSet("version", flag.ContinueOnError)
	flags.SetOutput(p.stderr)
	asJSON := flags.Bool("json", false, "print a JSON object")
	if err := flags.Parse(p.args); err != nil {
		return asUsage(err)
	}
	if *asJSON {
		return json.NewEncoder(p.stdout).Encode(map[string]string{"version": version, "go": runtime.Version()})
	}
	_, err := fmt.Fprintf(p.stdout, "dwserver %s (%s)\n", version, runtime.Version())
	return err
}

// asUsage marks a flag mistake as the caller's; a request for help stays what it is.
func asUsage(err error) error {
	if errors.Is(err, flag.ErrHelp) {
		return err
	}
	return usageError{err}
}
