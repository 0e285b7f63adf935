package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"dwserver/runtime/store/schema"
)

// dialect runs all missing migrations in one transaction, under a lock that starters queue at.
var dialect = schema.Dialect{
	Engine: "postgres",
	Exists: "SELECT COUNT(*) FROM information_schema.tables " +
		"WHERE table_schema = current_schema() AND table_name = 'schema_migrations'",
	Tables: "SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema()",
	Create: "CREATE TABLE IF NOT EXISTS schema_migrations (version BIGINT PRIMARY KEY, name TEXT NOT NULL, " +
		"checksum TEXT NOT NULL, applied_at BIGINT NOT NULL)",
	Record:   "INSERT INTO schema_migrations (version, name, checksum, applied_at) VALUES ($1, $2, $3, $4)",
	Forget:   "DELETE FROM schema_migrations WHERE version = $1",
	Begin:    "BEGIN",
	Commit:   "COMMIT",
	Rollback: "ROLLBACK",
	Lock:     lock,
}

// migrationLock is any number that other users of the database do not take.
const migrationLock = 0x64775f6d6967 // "dw_mig"

// lock keeps other starters out for the time of a migration. It is the only advisory lock there is,
// and nothing on the way of a request takes it.
func lock(ctx context.Context, conn *sql.Conn) (func() error, error) {
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock($1)", migrationLock); err != nil {
		return nil, err
	}
	return func() error {
		_, err := conn.ExecContext(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock($1)", migrationLock)
		return err
	}, nil
}

// Schema opens a database only to migrate it.
func Schema(ctx context.Context, dbURL string) (*schema.Manager, error) {
	cfg, err := pgx.ParseConfig(dbURL)
	if err != nil {
		return nil, fmt.Errorf("postgres: database URL: %w", err)
	}
	if cfg.ConnectTimeout == 0 {
		cfg.ConnectTimeout = connectTimeout
	}
	cfg.RuntimeParams["application_name"] = "dwserver migrate"
	db := stdlib.OpenDB(*cfg)
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, errors.Join(classifyIn(ctx, err), db.Close())
	}
	m, err := schema.New(dialect, conn, db.Close)
	if err != nil {
		return nil, errors.Join(err, conn.Close(), db.Close())
	}
	return m, nil
}

// ensure is what a starting server does about the schema.
func ensure(ctx context.Context, dbURL string, upgrade bool) error {
	m, err := Schema(ctx, dbURL)
	if err != nil {
		return err
	}
	if err := errors.Join(m.Ensure(ctx, upgrade), m.Close()); err != nil {
		return fmt.Errorf("postgres: %w", err)
	}
	return nil
}
