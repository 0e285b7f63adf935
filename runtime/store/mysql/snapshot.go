package mysql

import (
	"context"
	"errors"
	"strings"
	"time"

	"dwserver/runtime/store/snapshot"
)

// Snapshot opens one state of a database for reading only, whatever servers write meanwhile. Errors:
// store.ErrUnavailable, store.ErrSchema.
func Snapshot(ctx context.Context, dbURL string) (*snapshot.Snapshot, error) {
	cfg, err := config(dbURL)
	if err != nil {
		return nil, err
	}
	db, err := connect(cfg, lockWait*time.Second)
	if err != nil {
		return nil, err
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, errors.Join(classifyIn(ctx, err), db.Close())
	}
	var version string
	if err := conn.QueryRowContext(ctx, "SELECT VERSION()").Scan(&version); err != nil {
		return nil, errors.Join(classifyIn(ctx, err), conn.Close(), db.Close())
	}
	begin := []string{
		"SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
		"START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY",
	}
	if strings.Contains(version, "MariaDB") {
		// It has hash joins, but uses them only when told; MySQL uses them by itself.
		begin = append([]string{"SET SESSION join_cache_level = 8", "SET SESSION optimizer_switch = 'join_cache_hashed=on'"}, begin...)
	}
	return snapshot.Open(ctx, dialect, conn, begin, db.Close)
}
