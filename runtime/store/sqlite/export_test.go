package sqlite

import (
	"testing"

	"github.com/stretchr/testify/require"

	"dwserver/runtime/store/sqlite/raw"
)

// Settings are the pragmas in force on a writing and on a reading connection.
func Settings(t *testing.T, file string) (writer, reader map[string]string) {
	t.Helper()
	read := func(path string, flags int32, settings []string) map[string]string {
		conn, err := openSession(path, flags, settings)
		require.NoError(t, err)
		defer func() { require.NoError(t, conn.Close()) }()
		out := map[string]string{}
		for _, name := range []string{"journal_mode", "synchronous", "foreign_keys", "query_only", "busy_timeout"} {
			stmt, err := conn.Prepare("PRAGMA " + name)
			require.NoError(t, err)
			require.True(t, stmt.Next())
			out[name] = stmt.Text(0)
			require.NoError(t, stmt.End())
		}
		return out
	}
	return read(file, raw.ReadWrite, writerSettings), read(file, raw.ReadOnly, readerSettings)
}
