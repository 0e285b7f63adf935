package mysql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"dwserver/runtime/store/schema"
)

// dialect has no transaction around migrations, as DDL commits by itself here: each statement can be
// repeated, and a migration is recorded when all of it is done.
var dialect = schema.Dialect{
	Engine: "mysql",
	Exists: "SELECT COUNT(*) FROM information_schema.tables " +
		"WHERE table_schema = DATABASE() AND table_name = 'schema_migrations'",
	Tables: "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE()",
	Create: "CREATE TABLE IF NOT EXISTS schema_migrations (version BIGINT PRIMARY KEY, name VARCHAR(255) NOT NULL, " +
		"checksum VARCHAR(64) NOT NULL, applied_at BIGINT NOT NULL) ENGINE = InnoDB",
	Record: "INSERT INTO schema_migrations (version, name, checksum, applied_at) VALUES (?, ?, ?, ?)",
	Forget: "DELETE FROM schema_migrations WHERE version = ?",
	Lock:   lock,
}

// lockWait bounds how long a starter waits for another's migration, in seconds.
const lockWait = 300

// lock keeps other starters of this database out for the time of a migration. Its name is the
// database's, as named locks are the whole server's.
func lock(ctx context.Context, conn *sql.Conn) (func() error, error) {
	var got sql.NullInt64
	err := conn.QueryRowContext(ctx, "SELECT GET_LOCK(CONCAT('dw_', LEFT(SHA2(DATABASE(), 256), 32)), ?)", lockWait).Scan(&got)
	if err != nil {
		return nil, err
	}
	if got.Int64 != 1 {
		return nil, fmt.Errorf("another process has been migrating for %d s", lockWait)
	}
	return func() error {
		_, err := conn.ExecContext(context.WithoutCancel(ctx), "DO RELEASE_LOCK(CONCAT('dw_', LEFT(SHA2(DATABASE(), 256), 32)))")
		return err
	}, nil
}

// Schema opens a database only to migrate it.
func Schema(ctx context.Context, dbURL string) (*schema.Manager, error) {
	cfg, err := config(dbURL)
	if err != nil {
		return nil, err
	}
	db, err := connect(cfg, time.Minute)
	if err != nil {
		return nil, err
	}
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
		return fmt.Errorf("mysql: %w", err)
	}
	return nil
}
