package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	sqlite3 "modernc.org/sqlite/lib"

	"dwserver/runtime/store"
	"dwserver/runtime/store/sqlite/raw"
)

// classify maps a statement's error to the store's sentinels. Outcomes are never unknown here:
// a statement that failed is undone with its transaction.
func classify(err error) error {
	switch {
	case err == nil, store.Classified(err):
		return err
	case errors.Is(err, sql.ErrNoRows):
		return store.ErrNotFound
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	}
	switch code, _ := resultCode(err); code {
	case sqlite3.SQLITE_CONSTRAINT:
		return fmt.Errorf("%w: %w", store.ErrConflict, err)
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return fmt.Errorf("%w: %w", store.ErrContention, err)
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY,
		sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_PROTOCOL, sqlite3.SQLITE_INTERRUPT:
		return fmt.Errorf("%w: %w", store.ErrUnavailable, err)
	}
	return fmt.Errorf("%w: %w", store.ErrBroken, err)
}

// resultCode is SQLite's primary code for an error.
func resultCode(err error) (code int, ok bool) {
	var re *raw.Error
	if errors.As(err, &re) {
		return re.Code & 0xff, true
	}
	return 0, false
}

// classifyCommit maps an error of COMMIT. SQLite rolls back what it refuses to commit, except
// that a failed write or sync of the log may have reached the disk all the same.
func classifyCommit(err error) error {
	if store.Classified(err) {
		return err
	}
	if code, ok := resultCode(err); ok && code == sqlite3.SQLITE_IOERR {
		return fmt.Errorf("%w: %w", store.ErrOutcomeUnknown, err)
	}
	if errors.Is(classify(err), store.ErrContention) {
		return classify(err)
	}
	return fmt.Errorf("%w: commit: %w", store.ErrUnavailable, err)
}

// hard reports an error after which SQLite may have rolled the whole transaction back.
func hard(err error) bool {
	return errors.Is(err, store.ErrUnavailable) || errors.Is(err, store.ErrBroken) || errors.Is(err, store.ErrContention)
}
