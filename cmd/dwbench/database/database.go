// Package database makes a fresh database for every repetition.
package database

import (
	"context"
	"os"
	"path/filepath"

	"dwserver/cmd/dwbench/usage"
)

// Engine is a kind of database.
type Engine interface {
	// Name is what reports call it: sqlite, postgres, mysql.
	Name() string
	// Fresh makes an empty database.
	Fresh(ctx context.Context) (Database, error)
	// Close gives back what the engine holds.
	Close() error
}

// Database is one database.
type Database interface {
	// URL is the server's DW_DATABASE_URL.
	URL() string
	// Usage is what the database's own processes have taken; zero when they are the server's.
	Usage() (usage.Process, error)
	// Drop deletes it.
	Drop(ctx context.Context) error
}

// SQLite makes files in a folder.
type SQLite struct {
	Dir string // "" is the system's folder for temporary files
}

// Name implements Engine.
func (SQLite) Name() string { return "sqlite" }

// Fresh implements Engine.
func (s SQLite) Fresh(context.Context) (Database, error) {
	dir, err := os.MkdirTemp(s.Dir, "dwbench-sqlite-")
	return sqliteFile(dir), err
}

// Close implements Engine.
func (SQLite) Close() error { return nil }

// sqliteFile is the folder of one database file.
type sqliteFile string

func (f sqliteFile) URL() string { return "sqlite://" + filepath.Join(string(f), "dw.db") }

func (f sqliteFile) Usage() (usage.Process, error) { return usage.Process{}, nil }

func (f sqliteFile) Drop(context.Context) error { return os.RemoveAll(string(f)) }
