package sqlite_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"dwserver/runtime/rules"
	"dwserver/runtime/store"
	"dwserver/runtime/store/sqlite"
)

// The history counter of a run is an integer whatever is written to it: tables are STRICT, so a statement that
// would store anything else is refused, and what was there stays (write-path.md 3).
func TestCounterIsAnInteger(t *testing.T) {
	path := filepath.Join(t.TempDir(), "dw.db")
	s, err := sqlite.Open(t.Context(), "sqlite://"+path, store.Options{})
	require.NoError(t, err)
	require.NoError(t, s.Transition(t.Context(), func(ctx context.Context, tx store.Tx) error {
		return tx.Apply(ctx, &rules.Effects{NewRuns: []rules.Run{{RunID: "r", LastHistorySequence: 7, DeadlineAt: rules.Never}}})
	}))
	require.NoError(t, s.Close())

	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	defer db.Close()
	for _, value := range []string{"'text'", "''", "'7x'", "x'07'", "7.5", "9223372036854775808", "NULL"} {
		_, err := db.ExecContext(t.Context(), "UPDATE workflow_runs SET last_history_sequence = "+value)
		require.Error(t, err, value)
		var kind string
		var stored int64
		require.NoError(t, db.QueryRowContext(t.Context(), "SELECT typeof(last_history_sequence), last_history_sequence FROM workflow_runs").
			Scan(&kind, &stored))
		require.Equal(t, []any{"integer", int64(7)}, []any{kind, stored}, value)
	}
}
