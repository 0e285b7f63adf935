package main

import (
	"context"
	"errors"
	"net"
	"os"
	"os/signal"
	"syscall"

	"dwserver/cmd/dwserver/config"
)

// serve runs the server until SIGTERM or SIGINT.
func serve(ctx context.Context, p process) (err error) {
	cfg, err := config.Load("serve", p.args, p.getenv, p.stderr)
	if err != nil {
		return asUsage(err)
	}
	if err := cfg.Verify(); err != nil {
		return usageError{err}
	}
	setGC(p.getenv)
	log := newLogger(p.stderr, cfg)
	for _, w := range cfg.Warnings() {
		log.Warn(w)
	}
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	defer signal.Stop(signals)

	// The address is taken before the database is touched: a second server on it must change nothing.
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", cfg.Listen)
	if err != nil {
		return err
	}
	defer func() {
		if e := listener.Close(); !errors.Is(e, net.ErrClosed) {
			err = errors.Join(err, e)
		}
	}()
	a, err := open(ctx, cfg, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.close()) }()

	stopMetrics, err := serveMetrics(ctx, cfg.MetricsListen, a.metrics, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stopMetrics()) }()

	log.Info("serving", "listen", listener.Addr().String(), "version", version)
	s := newServer(listener, a.handler, log, cfg.ShutdownTimeout, a.drain)
	if err := s.run(ctx, signals); err != nil {
		return err
	}
	log.Info("stopped")
	return nil
}
