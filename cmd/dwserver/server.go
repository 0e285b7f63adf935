package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute
	// requestTimeout bounds a request from its first byte to its last answer byte. It has to outlast the
	// longest held poll (60 s) and a large completion over a slow line.
	requestTimeout = 5 * time.Minute
	maxHeaderBytes = 64 << 10
	// finishTimeout is what requests still in flight get when the drain time is over.
	finishTimeout = 5 * time.Second
)

var errForced = errors.New("stopped at once by a second signal")

// server is the API's listener and the order in which it stops.
type server struct {
	http      *http.Server
	listener  net.Listener
	log       *slog.Logger
	drainTime time.Duration
	drain     func() // readiness off, held polls answered; returns at once
	draining  atomic.Bool
}

func newServer(l net.Listener, h http.Handler, log *slog.Logger, drainTime time.Duration, drain func()) *server {
	s := &server{listener: l, log: log, drainTime: drainTime, drain: drain}
	s.http = &http.Server{
		Handler:           s.closeWhileDraining(h),
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       requestTimeout,
		WriteTimeout:      requestTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	return s
}

// closeWhileDraining tells clients with every answer to come back on another connection, so that they
// reach another server. Closing idle connections instead could cut a request that is on its way.
func (s *server) closeWhileDraining(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.draining.Load() {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}

// run serves until a signal, then stops in order. It returns nil after an orderly stop and errForced when
// a second signal cut it short.
func (s *server) run(ctx context.Context, signals <-chan os.Signal) error {
	failed := make(chan error, 1)
	go func() { failed <- s.http.Serve(s.listener) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serving: %w", err)
	case sig := <-signals:
		return s.stop(ctx, sig, signals)
	}
}

// stop turns readiness off and answers held polls at once. After SIGTERM, which an orchestrator sends
// while traffic may still be on its way here, new requests are served until the drain time ends; after
// SIGINT, a person at a terminal, only what is in flight is waited for.
func (s *server) stop(ctx context.Context, sig os.Signal, signals <-chan os.Signal) error {
	s.log.Info("draining", "signal", sig.String(), "drain_time", s.drainTime.String())
	s.draining.Store(true)
	s.drain()
	ctx, force := context.WithCancelCause(ctx)
	defer force(nil)
	go func() {
		select {
		case <-signals:
			force(errForced)
		case <-ctx.Done():
		}
	}()
	finish := s.drainTime
	if sig == syscall.SIGTERM {
		finish = finishTimeout
		wait, cancel := context.WithTimeout(ctx, s.drainTime)
		<-wait.Done()
		cancel()
	}
	return s.shutdown(ctx, finish)
}

func (s *server) shutdown(ctx context.Context, finish time.Duration) error {
	bounded, cancel := context.WithTimeout(ctx, finish)
	defer cancel()
	err := s.http.Shutdown(bounded)
	if err == nil {
		return nil
	}
	closeErr := s.http.Close()
	if cause := context.Cause(ctx); cause != nil {
		return errors.Join(cause, closeErr)
	}
	s.log.Warn("requests were cut at the end of the drain", "error", err)
	return closeErr
}
