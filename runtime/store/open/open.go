// Package open chooses the engine by the scheme of a database URL. It is the only place in the
// server that does.
package open

import (
	"context"
	"fmt"
	"strings"

	"dwserver/runtime/store"
	"dwserver/runtime/store/mysql"
	"dwserver/runtime/store/postgres"
	"dwserver/runtime/store/schema"
	"dwserver/runtime/store/snapshot"
	"dwserver/runtime/store/sqlite"
)

// Store opens the database of a URL, ready to serve: its schema is created when it is empty and
// upgraded where that is allowed. Errors: store.ErrSchema (a *store.SchemaError), store.ErrInUse,
// store.ErrUnavailable.
func Store(ctx context.Context, url string, opt store.Options) (store.Store, error) {
	switch scheme(url) {
	case "sqlite":
		return opened(sqlite.Open(ctx, url, opt))
	case "postgres", "postgresql":
		return opened(postgres.Open(ctx, url, opt))
	case "mysql":
		return opened(mysql.Open(ctx, url, opt))
	}
	return nil, unknown(url)
}

// opened keeps a nil pointer from becoming a store that is not nil.
func opened[S store.Store](s S, err error) (store.Store, error) {
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Schema opens the database of a URL only to migrate it.
func Schema(ctx context.Context, url string) (*schema.Manager, error) {
	switch scheme(url) {
	case "sqlite":
		return sqlite.Schema(ctx, url)
	case "postgres", "postgresql":
		return postgres.Schema(ctx, url)
	case "mysql":
		return mysql.Schema(ctx, url)
	}
	return nil, unknown(url)
}

// Snapshot opens one state of the database of a URL, to read all of it. Errors: store.ErrSchema,
// store.ErrUnavailable.
func Snapshot(ctx context.Context, url string) (*snapshot.Snapshot, error) {
	switch scheme(url) {
	case "sqlite":
		return sqlite.Snapshot(ctx, url)
	case "postgres", "postgresql":
		return postgres.Snapshot(ctx, url)
	case "mysql":
		return mysql.Snapshot(ctx, url)
	}
	return nil, unknown(url)
}

func scheme(url string) string {
	name, _, _ := strings.Cut(url, ":")
	return name
}

// unknown names the scheme only: the rest may hold a password.
func unknown(url string) error {
	return fmt.Errorf("database URL: unknown scheme %q (sqlite, postgres and mysql are known)", scheme(url))
}
