// Package sqlite is the store on one SQLite file: one writer goroutine that commits queued
// transitions in groups, and a pool of readers that never wait for it.
//
// The file is in write-ahead-log mode with synchronous=FULL: a transition is answered after its
// commit is on disk. One server process owns the file (a lock on a side file), so locks and
// notifications between processes do not exist here.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	_ "modernc.org/sqlite" // driver "sqlite"

	"dwserver/runtime/store"
)

const readers = 4

// Store implements store.Store.
type Store struct {
	reads
	writer *writer
	pool   *sql.DB
	unlock func() error
	closed sync.Once
}

// Open opens or creates the database of a URL (see Path) and upgrades its schema. Errors:
// store.ErrInUse, store.ErrSchema, and anything the file system says.
func Open(ctx context.Context, dbURL string, opt store.Options) (*Store, error) {
	f, err := openFile(dbURL)
	if err != nil {
		return nil, err
	}
	s := &Store{unlock: f.unlock}
	if err := s.open(ctx, f.path, opt.Probe); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Store) open(ctx context.Context, path string, probe store.Probe) error {
	db, conn, err := openWriter(ctx, path)
	if err != nil {
		return err
	}
	if err := upgrade(ctx, conn); err != nil {
		return errors.Join(err, conn.Close(), db.Close())
	}
	if s.writer, err = startWriter(ctx, db, conn, probe); err != nil {
		return errors.Join(err, conn.Close(), db.Close())
	}
	if s.pool, err = sql.Open("sqlite", readerDSN(path)); err != nil {
		return fmt.Errorf("sqlite: open readers: %w", err)
	}
	s.pool.SetMaxOpenConns(readers)
	s.pool.SetMaxIdleConns(readers)
	q, err := queries(ctx, s.pool, probe)
	if err != nil {
		return fmt.Errorf("sqlite: prepare reads: %w", err)
	}
	s.reads = reads{q: q}
	return nil
}

type databaseFile struct {
	path   string
	unlock func() error
}

// openFile refuses a network file system and takes the lock of the file.
func openFile(dbURL string) (*databaseFile, error) {
	path, err := Path(dbURL)
	if err != nil {
		return nil, err
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("sqlite: database folder: %w", err)
	}
	fs, err := networkFS(dir)
	if err != nil {
		return nil, err
	}
	if fs != "" {
		return nil, fmt.Errorf("sqlite: %s is on a network file system (%s), where SQLite loses data; "+
			"use a local disk, PostgreSQL or MySQL", dir, fs)
	}
	unlock, err := lockFile(path)
	if err != nil {
		return nil, err
	}
	return &databaseFile{path: path, unlock: unlock}, nil
}

func openWriter(ctx context.Context, path string) (*sql.DB, *sql.Conn, error) {
	db, err := sql.Open("sqlite", writerDSN(path))
	if err != nil {
		return nil, nil, fmt.Errorf("sqlite: open: %w", err)
	}
	db.SetMaxOpenConns(1)
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("sqlite: open %s: %w", path, err), db.Close())
	}
	return db, conn, nil
}

// Close ends the writer after the transitions already queued, then everything else.
func (s *Store) Close() error {
	var errs []error
	s.closed.Do(func() { errs = s.close() })
	return errors.Join(errs...)
}

func (s *Store) close() (errs []error) {
	if s.writer != nil {
		errs = append(errs, s.writer.close())
	}
	if s.pool != nil {
		errs = append(errs, s.pool.Close())
	}
	return append(errs, s.unlock())
}

// Ping implements store.Store.
func (s *Store) Ping(ctx context.Context) error { return classify(s.pool.PingContext(ctx)) }

// Notify implements store.Store; no other process makes work in this file.
func (s *Store) Notify(func(store.Wake)) {}

// WakeInterval implements store.Store: a fallback only, in microseconds.
func (s *Store) WakeInterval() int64 { return 60_000_000 }

var _ store.Store = (*Store)(nil)
