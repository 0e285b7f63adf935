package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"syscall"
	"time"

	"dwserver/cmd/dwserver/config"
	"dwserver/vectors"
)

// vectorOptions are the flags that only vectors has.
type vectorOptions struct {
	target   string
	only     string
	parallel int
	json     bool
}

// replay replays the contract's vectors against a server: the one at --target, with the configured tokens,
// or one of its own on an empty database.
func replay(ctx context.Context, p process) (err error) {
	var o vectorOptions
	cfg, err := config.Load("vectors", p.args, p.getenv, p.stderr, func(set *flag.FlagSet) {
		set.StringVar(&o.target, "target", "", "base URL of the server, without /api; none starts one")
		set.StringVar(&o.only, "only", "", "regular expression for the names of the vectors to replay")
		set.IntVar(&o.parallel, "parallel", 8, "vectors at a time")
		set.BoolVar(&o.json, "json", false, "print the report as JSON")
	})
	if err != nil {
		return asUsage(err)
	}
	only, err := regexp.Compile(o.only)
	if err != nil {
		return usageError{fmt.Errorf("--only: %w", err)}
	}
	if o.target == "" {
		var stop func() error
		if o.target, stop, err = ownServer(ctx, &cfg, p.stderr); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, stop()) }()
	}
	report, err := vectors.Run(ctx, vectors.Options{
		Target: o.target, Only: only, Parallel: o.parallel,
		Tokens: vectors.Tokens{Any: cfg.Auth.Token, Worker: cfg.Auth.WorkerToken, Operator: cfg.Auth.OperatorToken, Admin: cfg.Auth.AdminToken},
	})
	if err != nil {
		return err
	}
	if err := printReport(p.stdout, report, o.json); err != nil {
		return err
	}
	if report.Failed > 0 || report.Passed == 0 {
		return fmt.Errorf("vectors: %d failed, %d passed", report.Failed, report.Passed)
	}
	return nil
}

func printReport(w io.Writer, report vectors.Report, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(w).Encode(report)
	}
	for _, r := range report.Results {
		if r.Detail == "" {
			continue
		}
		if _, err := fmt.Fprintf(w, "%s %s: %s\n", r.Outcome, r.Name, r.Detail); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "%d passed, %d failed, %d skipped\n", report.Passed, report.Failed, report.Skipped)
	return err
}

// ownLease is short enough to wait for and long enough for a slow machine to answer in.
const ownLease = 5 * time.Second

// ownServer serves an empty SQLite database on a free loopback port, with a token for each role and short
// leases, so that vectors about roles and about lost leases can be replayed. It sets them in cfg.
func ownServer(ctx context.Context, cfg *config.Config, stderr io.Writer) (target string, stop func() error, err error) {
	dir, err := os.MkdirTemp("", "dwserver-vectors")
	if err != nil {
		return "", nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	cfg.DatabaseURL = "sqlite://" + filepath.ToSlash(filepath.Join(dir, "vectors.db"))
	cfg.LogLevel = max(cfg.LogLevel, slog.LevelWarn)
	cfg.Auth = config.Auth{WorkerToken: rand.Text(), OperatorToken: rand.Text(), AdminToken: rand.Text()}
	cfg.Worker.WorkflowTaskTimeout, cfg.Worker.ActivityTaskTimeout = ownLease, ownLease
	log := newLogger(stderr, *cfg)
	a, err := open(ctx, *cfg, log)
	if err != nil {
		return "", nil, err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, errors.Join(err, a.close())
	}
	signals, done := make(chan os.Signal), make(chan error, 1)
	go func() { done <- newServer(listener, a.handler, log, cfg.ShutdownTimeout, a.drain).run(ctx, signals) }()
	return "http://" + listener.Addr().String(), func() error {
		signals <- syscall.SIGINT
		return errors.Join(<-done, a.close(), os.RemoveAll(dir))
	}, nil
}
