package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"dwserver/runtime/store/snapshot"
)

// Snapshot opens one state of a database for reading only, whatever servers write meanwhile. Errors:
// store.ErrUnavailable, store.ErrSchema.
func Snapshot(ctx context.Context, dbURL string) (*snapshot.Snapshot, error) {
	cfg, err := pgx.ParseConfig(dbURL)
	if err != nil {
		return nil, fmt.Errorf("postgres: database URL: %w", err)
	}
	if cfg.ConnectTimeout == 0 {
		cfg.ConnectTimeout = connectTimeout
	}
	cfg.RuntimeParams["application_name"] = "dwserver check"
	db := stdlib.OpenDB(*cfg)
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, errors.Join(classifyIn(ctx, err), db.Close())
	}
	return snapshot.Open(ctx, dialect, conn, []string{"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"}, db.Close)
}
