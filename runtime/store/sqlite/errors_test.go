package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	sqlite3 "modernc.org/sqlite/lib"

	"dwserver/runtime/store"
	"dwserver/runtime/store/sqlite/raw"
)

func TestClassify(t *testing.T) {
	code := func(code int) error { return fmt.Errorf("prepared: %w", &raw.Error{Code: code}) }
	for _, c := range []struct{ err, statement, commit error }{
		{sql.ErrNoRows, store.ErrNotFound, store.ErrUnavailable},
		{context.Canceled, context.Canceled, store.ErrUnavailable},
		{errors.New("of another kind"), store.ErrBroken, store.ErrUnavailable},
		{raw.ErrNull, store.ErrBroken, store.ErrUnavailable},
		{code(sqlite3.SQLITE_CONSTRAINT_UNIQUE), store.ErrConflict, store.ErrUnavailable},
		{code(sqlite3.SQLITE_BUSY_SNAPSHOT), store.ErrContention, store.ErrContention},
		{code(sqlite3.SQLITE_LOCKED_SHAREDCACHE), store.ErrContention, store.ErrContention},
		{code(sqlite3.SQLITE_FULL), store.ErrUnavailable, store.ErrUnavailable},
		{code(sqlite3.SQLITE_IOERR_FSYNC), store.ErrUnavailable, store.ErrOutcomeUnknown},
		{code(sqlite3.SQLITE_CORRUPT_VTAB), store.ErrBroken, store.ErrUnavailable},
		{code(sqlite3.SQLITE_MISUSE), store.ErrBroken, store.ErrUnavailable},
		{store.ErrOutcomeUnknown, store.ErrOutcomeUnknown, store.ErrOutcomeUnknown},
	} {
		require.ErrorIs(t, classify(c.err), c.statement, c.err)
		if !errors.Is(c.err, sql.ErrNoRows) {
			require.ErrorIs(t, classify(c.err), c.err, "for the log")
		}
		require.ErrorIs(t, classifyCommit(c.err), c.commit, c.err)
	}
}
