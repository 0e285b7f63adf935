package raw_test

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite" // reads what is on disk with SQLite's own file layer

	"dwserver/runtime/store/sqlite/raw"
)

// TestLogsAreWhole: what a commit has returned for is in the files, for other connections and for whoever finds
// the files as they are then; what was rolled back is not, however much of it SQLite spilled to its log.
func TestLogsAreWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "dw.db")
	c := open(t, path, raw.ReadWrite)
	for _, setting := range []string{"journal_mode(WAL)", "synchronous(FULL)", "cache_size(8)", "wal_autocheckpoint(300)"} {
		require.NoError(t, c.Exec("PRAGMA "+setting))
	}
	require.NoError(t, c.Exec("CREATE TABLE rows (id INTEGER PRIMARY KEY, part INTEGER, body TEXT)"))
	in := prepare(t, c, "INSERT INTO rows (part, body) VALUES (?, ?)")
	body := strings.Repeat("x", 1500)
	part := func(n int64, rows int, end string) {
		require.NoError(t, c.Exec("BEGIN IMMEDIATE"))
		for range rows {
			in.BindInt64(1, n)
			in.BindText(2, body)
			in.Next()
			require.NoError(t, in.End())
		}
		require.NoError(t, c.Exec(end))
	}
	reader := open(t, path, raw.ReadOnly)
	count := prepare(t, reader, "SELECT COUNT(*), COALESCE(SUM(part < 0), 0) FROM rows")
	total := int64(0)
	for n := range int64(40) {
		part(-1, []int{1, 300}[n%2], "ROLLBACK")
		rows := []int{1, 2, 7, 60, 400}[n%5]
		part(n, rows, "COMMIT")
		total += int64(rows)

		require.True(t, count.Next())
		seen, undone := count.Int64(0), count.Int64(1)
		require.NoError(t, count.End())
		require.Equal(t, total, seen)
		require.Zero(t, undone)
		found(t, path, total)
	}
}

// found opens a copy of the files, as after the end of the process, with SQLite's own layer.
func found(t *testing.T, path string, want int64) {
	t.Helper()
	copied := filepath.Join(t.TempDir(), "copy.db")
	for _, suffix := range []string{"", "-wal"} {
		data, err := os.ReadFile(path + suffix)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(copied+suffix, data, 0o600))
	}
	db, err := sql.Open("sqlite", copied)
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	var rows int64
	require.NoError(t, db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM rows").Scan(&rows))
	require.Equal(t, want, rows)
	var verdict string
	require.NoError(t, db.QueryRowContext(t.Context(), "PRAGMA integrity_check").Scan(&verdict))
	require.Equal(t, "ok", verdict)
}

// TestLogsOfManyConnections: connections come and go, each with a log of its own.
func TestLogsOfManyConnections(t *testing.T) {
	dir := t.TempDir()
	for i := range 20 {
		c, err := raw.Open(filepath.Join(dir, fmt.Sprint(i%3)), raw.ReadWrite)
		require.NoError(t, err)
		require.NoError(t, c.Exec("PRAGMA journal_mode(WAL)"))
		require.NoError(t, c.Exec("PRAGMA synchronous(FULL)"))
		require.NoError(t, c.Exec(fmt.Sprintf("CREATE TABLE t%d (id INTEGER PRIMARY KEY)", i)))
		require.NoError(t, c.Exec("BEGIN"))
		require.NoError(t, c.Exec("CREATE TABLE undone (id INTEGER PRIMARY KEY)"))
		require.NoError(t, c.Close())
	}
	c, err := raw.Open(filepath.Join(dir, "0"), raw.ReadWrite)
	require.NoError(t, err)
	s := prepare(t, c, "SELECT COUNT(*) FROM sqlite_master")
	require.True(t, s.Next())
	require.Equal(t, int64(7), s.Int64(0))
	require.NoError(t, s.End())
	require.NoError(t, c.Close())
}
