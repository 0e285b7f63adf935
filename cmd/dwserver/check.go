package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"dwserver/cmd/dwserver/config"
	"dwserver/runtime/check"
	opener "dwserver/runtime/store/open"
)

// checkDatabase reads the configured database and verifies what has to hold of it: one line for each
// violation, a summary at the end, and an error when there was a violation.
func checkDatabase(ctx context.Context, p process) (err error) {
	var asJSON, list bool
	cfg, err := config.Load("check", p.args, p.getenv, p.stderr, func(set *flag.FlagSet) {
		set.BoolVar(&asJSON, "json", false, "print a JSON object a line")
		set.BoolVar(&list, "list", false, "print what is verified, and verify nothing")
	})
	if err != nil {
		return asUsage(err)
	}
	out := bufio.NewWriter(p.stdout)
	defer func() { err = errors.Join(err, out.Flush()) }()
	if list {
		return listInvariants(out)
	}
	if err := cfg.VerifyDatabase(); err != nil {
		return usageError{err}
	}
	db, err := opener.Snapshot(ctx, cfg.DatabaseURL)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	print := printViolation
	if asJSON {
		print = encodeViolation
	}
	sum, err := check.Run(ctx, db, time.Now().UnixMicro(), func(v check.Violation) error { return print(out, v) })
	if err != nil {
		return err
	}
	if err := printSummary(out, sum, asJSON); err != nil {
		return err
	}
	if sum.Violations > 0 {
		return fmt.Errorf("the database breaks an invariant %d times", sum.Violations)
	}
	return nil
}

func listInvariants(w io.Writer) error {
	list, err := check.Invariants()
	if err != nil {
		return err
	}
	for _, i := range list {
		if _, err := fmt.Fprintf(w, "%-26s %s\n", i.Name, i.Says); err != nil {
			return err
		}
	}
	return nil
}

func printViolation(w io.Writer, v check.Violation) error {
	var line strings.Builder
	line.WriteString(v.Invariant)
	for _, f := range v.Fields {
		line.WriteString(" " + f.Name + "=" + quoted(f.Value))
	}
	_, err := fmt.Fprintln(w, line.String())
	return err
}

// quoted is a value as one word.
func quoted(value string) string {
	if value == "" || strings.ContainsFunc(value, func(r rune) bool { return r <= ' ' || r == '"' || !strconv.IsPrint(r) }) {
		return strconv.Quote(value)
	}
	return value
}

func encodeViolation(w io.Writer, v check.Violation) error {
	fields := make(map[string]string, len(v.Fields))
	for _, f := range v.Fields {
		fields[f.Name] = f.Value
	}
	return json.NewEncoder(w).Encode(map[string]any{"invariant": v.Invariant, "fields": fields})
}

func printSummary(w io.Writer, sum check.Summary, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(w).Encode(map[string]any{"summary": sum})
	}
	_, err := fmt.Fprintf(w, "%d invariants of %d runs and %d events: %d violations\n",
		sum.Invariants, sum.Runs, sum.Events, sum.Violations)
	return err
}
