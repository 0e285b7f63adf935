package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"time"

	"dwserver/cmd/dwserver/config"
	opener "dwserver/runtime/store/open"
	"dwserver/runtime/store/schema"
)

// migrateOptions are the flags that only migrate has.
type migrateOptions struct {
	steps int
	json  bool
}

var migrateActions = map[string]func(context.Context, *schema.Manager, migrateOptions, io.Writer) error{
	"up": func(ctx context.Context, m *schema.Manager, o migrateOptions, w io.Writer) error {
		done, err := m.Up(ctx)
		return errors.Join(err, printMigrations(w, "applied", done, o))
	},
	"down": func(ctx context.Context, m *schema.Manager, o migrateOptions, w io.Writer) error {
		done, err := m.Down(ctx, o.steps)
		return errors.Join(err, printMigrations(w, "reverted", done, o))
	},
	"status": func(ctx context.Context, m *schema.Manager, o migrateOptions, w io.Writer) error {
		states, err := m.Status(ctx)
		return errors.Join(err, printStates(w, states, o))
	},
	"validate": func(ctx context.Context, m *schema.Manager, _ migrateOptions, w io.Writer) error {
		if err := m.Validate(ctx); err != nil {
			return err
		}
		_, err := fmt.Fprintln(w, "the schema is up to date")
		return err
	},
}

// migrate changes or shows the schema of the configured database. Its first argument says which.
func migrate(ctx context.Context, p process) (err error) {
	if len(p.args) == 0 {
		return usageError{errors.New("migrate: say up, down, status or validate")}
	}
	action, known := migrateActions[p.args[0]]
	if !known {
		return usageError{fmt.Errorf("migrate: %q is not one of up, down, status, validate", p.args[0])}
	}
	var o migrateOptions
	cfg, err := config.Load("migrate "+p.args[0], p.args[1:], p.getenv, p.stderr, func(set *flag.FlagSet) {
		set.BoolVar(&o.json, "json", false, "print JSON")
		set.IntVar(&o.steps, "steps", 1, "how many migrations down reverts; their data is lost")
	})
	if err != nil {
		return asUsage(err)
	}
	if err := cfg.VerifyDatabase(); err != nil {
		return usageError{err}
	}
	m, err := opener.Schema(ctx, cfg.DatabaseURL)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	return action(ctx, m, o, p.stdout)
}

// migrationLine is one migration as --json shows it.
type migrationLine struct {
	Version   int64  `json:"version"`
	Name      string `json:"name"`
	State     string `json:"state"` // applied, reverted or pending
	AppliedAt string `json:"applied_at,omitempty"`
}

func printMigrations(w io.Writer, state string, done []schema.Migration, o migrateOptions) error {
	lines := make([]migrationLine, 0, len(done))
	for _, m := range done {
		lines = append(lines, migrationLine{Version: m.Version, Name: m.Name, State: state})
	}
	return printLines(w, lines, o)
}

func printStates(w io.Writer, states []schema.State, o migrateOptions) error {
	lines := make([]migrationLine, 0, len(states))
	for _, s := range states {
		line := migrationLine{Version: s.Version, Name: s.Name, State: "pending"}
		if s.Applied {
			line.State, line.AppliedAt = "applied", time.UnixMicro(s.AppliedAt).UTC().Format(time.RFC3339)
		}
		lines = append(lines, line)
	}
	return printLines(w, lines, o)
}

func printLines(w io.Writer, lines []migrationLine, o migrateOptions) error {
	if o.json {
		return json.NewEncoder(w).Encode(map[string]any{"migrations": lines})
	}
	if len(lines) == 0 {
		_, err := fmt.Fprintln(w, "nothing to do")
		return err
	}
	for _, l := range lines {
		if _, err := fmt.Fprintf(w, "%04d %-24s %-8s %s\n", l.Version, l.Name, l.State, l.AppliedAt); err != nil {
			return err
		}
	}
	return nil
}
