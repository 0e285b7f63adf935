package main

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"dwserver/cmd/dwserver/config"
	"dwserver/runtime/store"
	"dwserver/runtime/store/sqlite"
)

// openStore opens the database that the URL names, and returns the engine's name too. It is the one place
// that chooses between engines.
func openStore(ctx context.Context, cfg config.Config, log *slog.Logger) (store.Store, string, error) {
	options := store.Options{MigrateOnStart: cfg.MigrateOnStart, Logger: log}
	scheme, _, _ := strings.Cut(cfg.DatabaseURL, ":")
	switch scheme {
	case "sqlite":
		st, err := sqlite.Open(ctx, cfg.DatabaseURL, options)
		if err != nil {
			return nil, "", err
		}
		return st, scheme, nil
	default:
		return nil, "", usageError{fmt.Errorf("DW_DATABASE_URL: %s is not built into this server yet, only sqlite", scheme)}
	}
}
