package main

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"dwserver/cmd/dwserver/config"
	"dwserver/handlers"
	"dwserver/handlers/avro"
	"dwserver/runtime"
	"dwserver/runtime/rules"
	"dwserver/runtime/store"
	opener "dwserver/runtime/store/open"
)

// app is the opened server without its listeners.
type app struct {
	handler http.Handler
	metrics prometheus.Gatherer
	drain   func()       // readiness off, held polls answered; returns at once
	close   func() error // after the last request: stops the engine and closes the database
}

// open opens the database, starts the engine on it and builds the API.
func open(ctx context.Context, cfg config.Config, log *slog.Logger) (*app, error) {
	options := store.Options{MigrateOnStart: cfg.MigrateOnStart, MaxConns: int(cfg.MaxConnections), Logger: log}
	metrics := newRegistry()
	if cfg.MetricsListen != "" {
		options.Count = statementCounter(metrics)
	}
	st, err := opener.Store(ctx, cfg.DatabaseURL, options)
	if err != nil {
		return nil, err
	}
	if cfg.MetricsListen != "" {
		st = newMeteredStore(st, metrics)
	}
	engine := runtime.New(st, engineOptions(cfg, log))
	meterEngine(metrics, engine)
	handler, err := handlers.New(handlers.Options{Config: edgeConfig(cfg, engine.Options()), Engine: engine, Logger: log})
	if err == nil {
		err = engine.Start(ctx)
	}
	if err != nil {
		engine.Close()
		return nil, errors.Join(err, st.Close())
	}
	return &app{
		handler: handler,
		metrics: metrics,
		drain:   engine.Drain,
		close: func() error {
			engine.Close()
			return st.Close()
		},
	}, nil
}

func engineOptions(cfg config.Config, log *slog.Logger) runtime.Options {
	structural := limits(cfg.Limits)
	return runtime.Options{
		Logger:              log,
		Limits:              &structural,
		PollTimeout:         cfg.Worker.PollTimeout,
		WorkflowTaskTimeout: cfg.Worker.WorkflowTaskTimeout,
		ActivityTaskTimeout: cfg.Worker.ActivityTaskTimeout,
		WorkerStaleAfter:    cfg.Worker.EffectiveStaleAfter(),
		DefaultNamespace:    cfg.DefaultNamespace,
		SignalValue:         avro.SignalValue,
	}
}

// edgeConfig takes the times from the engine, so that what clients are shown is what is in force.
func edgeConfig(cfg config.Config, engine runtime.Options) handlers.Config {
	driver, _, _ := strings.Cut(cfg.DatabaseURL, ":")
	auth := handlers.AuthNone
	if cfg.Auth.TokenAuth() {
		auth = handlers.AuthToken
	}
	return handlers.Config{
		ServerID: cfg.ServerID, Version: version, Driver: driver,
		AuthDriver: auth, AuthToken: cfg.Auth.Token, WorkerToken: cfg.Auth.WorkerToken,
		OperatorToken: cfg.Auth.OperatorToken, AdminToken: cfg.Auth.AdminToken,
		AuthBackwardCompatible: cfg.Auth.BackwardCompatible,
		DefaultNamespace:       engine.DefaultNamespace,
		MaxRequestBytes:        cfg.Limits.RequestBytes,
		MaxCompletionBytes:     cfg.Limits.CompletionBytes,
		PollTimeout:            engine.PollTimeout,
		WorkflowTaskTimeout:    engine.WorkflowTaskTimeout,
		ActivityTaskTimeout:    engine.ActivityTaskTimeout,
		WorkerStaleAfter:       engine.WorkerStaleAfter,
		HeartbeatInterval:      engine.HeartbeatInterval,
		Limits:                 engine.Limits,
	}
}

func limits(l config.Limits) rules.Limits {
	return rules.Limits{
		PendingActivities: l.PendingActivities, PendingChildren: l.PendingChildren, PendingTimers: l.PendingTimers,
		PendingSignals: l.PendingSignals, PendingUpdates: l.PendingUpdates, CommandBatchSize: l.CommandBatchSize,
		PayloadBytes: l.PayloadBytes, MemoBytes: l.MemoBytes, SearchAttributeBytes: l.SearchAttributeBytes,
		HistoryTransactionSize: l.HistoryTransaction, CompletionMaxEvents: l.CompletionMaxEvents,
		CompletionMaxRows: l.CompletionMaxRows, CompletionMaxBytes: l.CompletionMaxBytes,
	}
}
