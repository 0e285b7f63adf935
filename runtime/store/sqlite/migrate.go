package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"dwserver/runtime/store/schema"
)

// dialect needs no lock of its own: the process holds the file's lock.
var dialect = schema.Dialect{
	Engine: "sqlite",
	Exists: "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = 'schema_migrations'",
	Tables: "SELECT name FROM sqlite_master WHERE type = 'table'",
	Create: "CREATE TABLE IF NOT EXISTS schema_migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, " +
		"checksum TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT",
	Record:   "INSERT INTO schema_migrations (version, name, checksum, applied_at) VALUES (?, ?, ?, ?)",
	Forget:   "DELETE FROM schema_migrations WHERE version = ?",
	Begin:    "BEGIN IMMEDIATE",
	Commit:   "COMMIT",
	Rollback: "ROLLBACK",
	Lock: func(context.Context, *sql.Conn) (func() error, error) {
		return func() error { return nil }, nil
	},
}

// Schema opens a database only to migrate it. It takes the file's lock, so it fails with
// store.ErrInUse while a server runs on the file.
func Schema(ctx context.Context, dbURL string) (*schema.Manager, error) {
	f, err := openFile(dbURL)
	if err != nil {
		return nil, err
	}
	m, err := manager(ctx, f.path, f.unlock)
	if err != nil {
		return nil, errors.Join(err, f.unlock())
	}
	return m, nil
}

// upgrade brings the schema up to date before the server serves.
func upgrade(ctx context.Context, path string) error {
	m, err := manager(ctx, path, func() error { return nil })
	if err != nil {
		return err
	}
	if err := errors.Join(m.Ensure(ctx, true), m.Close()); err != nil {
		return fmt.Errorf("sqlite: %w", err)
	}
	return nil
}

// manager migrates the file at path on a connection of database/sql. Its Close also calls then.
func manager(ctx context.Context, path string, then func() error) (*schema.Manager, error) {
	db, err := sql.Open("sqlite", writerDSN(path))
	if err != nil {
		return nil, fmt.Errorf("sqlite: open: %w", err)
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("sqlite: open %s: %w", path, err), db.Close())
	}
	m, err := schema.New(dialect, conn, func() error { return errors.Join(db.Close(), then()) })
	if err != nil {
		return nil, errors.Join(err, conn.Close(), db.Close())
	}
	return m, nil
}
