// Package sqlite is the store on one SQLite file: one writer goroutine that commits queued
// transitions in groups, and a pool of readers that never wait for it.
//
// The file is in write-ahead-log mode with synchronous=FULL: a transition is answered after its
// commit is on disk. One server process owns the file (a lock on a side file), so locks and
// notifications between processes do not exist here.
package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	driver "modernc.org/sqlite" // also registers itself with database/sql as "sqlite"

	"dwserver/gen/sqliteraw"
	"dwserver/runtime/store"
)

const readers = 4

// Store implements store.Store.
type Store struct {
	reads
	writer *writer
	pool   *pool
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
	if err := s.open(ctx, f.path, opt); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Store) open(ctx context.Context, path string, opt store.Options) (err error) {
	if err = syncData(); err != nil {
		return err
	}
	if err = upgrade(ctx, path); err != nil {
		return err
	}
	if s.writer, err = startWriter(path, opt.Watched(), opt.Probe == nil); err != nil {
		return err
	}
	if s.pool, err = openPool(path, readers, opt.Watched()); err != nil {
		return err
	}
	s.reads = reads{q: sqliteraw.New(s.pool)}
	return nil
}

// syncData makes SQLite sync with fdatasync where there is one, as its own builds for Linux do: with the data goes
// what is needed to find it, the file's size above all, but not its times, which a journaling file system would
// make every commit wait for.
func syncData() error {
	if _, err := driver.Fdatasync(true); err != nil && !errors.Is(err, driver.ErrFdatasyncUnavailable) {
		return fmt.Errorf("sqlite: %w", err)
	}
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
		errs = append(errs, s.pool.close())
	}
	return append(errs, s.unlock())
}

// Ping implements store.Store.
func (s *Store) Ping(ctx context.Context) error { return classify(s.pool.ping(ctx)) }

// Notify implements store.Store; no other process makes work in this file.
func (s *Store) Notify(func(store.Wake)) {}

// WakeInterval implements store.Store: a fallback only, in microseconds.
func (s *Store) WakeInterval() int64 { return 60_000_000 }

var _ store.Store = (*Store)(nil)
