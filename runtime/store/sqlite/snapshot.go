package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"dwserver/runtime/store/snapshot"
)

// Snapshot opens one state of a database for reading only, beside a running server or without one:
// it takes no lock of the file. Errors: store.ErrSchema.
func Snapshot(ctx context.Context, dbURL string) (*snapshot.Snapshot, error) {
	path, err := Path(dbURL)
	if err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", readerDSN(path))
	if err != nil {
		return nil, fmt.Errorf("sqlite: open: %w", err)
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("sqlite: open %s: %w", path, err), db.Close())
	}
	// The first read inside the transaction takes the snapshot.
	return snapshot.Open(ctx, dialect, conn, []string{"BEGIN"}, db.Close)
}
