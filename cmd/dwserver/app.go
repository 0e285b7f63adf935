package main

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"

	"dwserver/cmd/dwserver/config"
)

// app is the opened server without its listeners.
type app struct {
	handler http.Handler
	metrics prometheus.Gatherer
	drain   func()       // readiness off, held polls answered; returns at once
	close   func() error // after the last request: stops the engine and closes the database
}

func open(ctx context.Context, cfg config.Config, log *slog.Logger) (*app, error) {
	panic("to be wired")
}
