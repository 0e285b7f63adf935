package main

import (
	"io"
	"log/slog"

	"dwserver/cmd/dwserver/config"
)

func newLogger(w io.Writer, cfg config.Config) *slog.Logger {
	options := &slog.HandlerOptions{Level: cfg.LogLevel}
	var handler slog.Handler = slog.NewJSONHandler(w, options)
	if cfg.LogFormat == "text" {
		handler = slog.NewTextHandler(w, options)
	}
	return slog.New(handler).With("server_id", cfg.ServerID)
}
