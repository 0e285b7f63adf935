package sqlite

import (
	"database/sql"
	"testing"

	"github.com/stretchr/testify/require"
)

// Settings are the pragmas in force on a writing and on a reading connection.
func Settings(t *testing.T, file string) (writer, reader map[string]string) {
	t.Helper()
	read := func(dsn string) map[string]string {
		db, err := sql.Open("sqlite", dsn)
		require.NoError(t, err)
		defer db.Close()
		out := map[string]string{}
		for _, name := range []string{"journal_mode", "synchronous", "foreign_keys", "query_only", "busy_timeout"} {
			var v string
			require.NoError(t, db.QueryRow("PRAGMA "+name).Scan(&v))
			out[name] = v
		}
		return out
	}
	return read(writerDSN(file)), read(readerDSN(file))
}
