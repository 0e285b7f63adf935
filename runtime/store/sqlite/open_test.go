package sqlite_test

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"dwserver/runtime/store"
	"dwserver/runtime/store/sqlite"
)

func TestPath(t *testing.T) {
	for url, want := range map[string]string{
		"sqlite:///var/lib/dw.db": "/var/lib/dw.db", "sqlite://dw.db": "dw.db", "sqlite:dw.db": "dw.db",
		"sqlite:///a%20b/dw.db": "/a b/dw.db", "sqlite://./x/dw.db": "./x/dw.db",
	} {
		got, err := sqlite.Path(url)
		require.NoError(t, err, url)
		require.Equal(t, want, got)
	}
	for _, url := range []string{"sqlite:", "sqlite://", "sqlite:///dir/", "sqlite::memory:", "sqlite:///a?mode=ro", "postgres://x", "sqlite:///%zz"} {
		_, err := sqlite.Path(url)
		require.Error(t, err, url)
	}
}

// TestOddFileNames: characters that mean something in SQLite's file URIs.
func TestOddFileNames(t *testing.T) {
	for _, name := range []string{"a b.db", "a%3fb.db", "ä😀.db", "a#b.db", "a'b.db"} {
		file := filepath.Join(t.TempDir(), "new folder", name)
		s, err := sqlite.Open(t.Context(), "sqlite://"+escape(file), store.Options{})
		require.NoError(t, err, name)
		require.FileExists(t, file)
		require.NoError(t, s.Close())
	}
}

func escape(path string) (out string) {
	for _, r := range path {
		if r == '%' {
			out += "%25"
		} else {
			out += string(r)
		}
	}
	return out
}

func TestOneServerPerFile(t *testing.T) {
	url := "sqlite://" + filepath.Join(t.TempDir(), "dw.db")
	first, err := sqlite.Open(t.Context(), url, store.Options{})
	require.NoError(t, err)
	_, err = sqlite.Open(t.Context(), url, store.Options{})
	require.ErrorIs(t, err, store.ErrInUse)
	_, err = sqlite.Schema(t.Context(), url)
	require.ErrorIs(t, err, store.ErrInUse, "nor a migration meanwhile")
	require.NoError(t, first.Close())
	second, err := sqlite.Open(t.Context(), url, store.Options{})
	require.NoError(t, err)
	require.NoError(t, second.Close())
}

// TestDurability: what the manual promises is how the file is.
func TestDurability(t *testing.T) {
	file := filepath.Join(t.TempDir(), "dw.db")
	writer, reader := sqlite.Settings(t, file)
	require.Equal(t, map[string]string{"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1", "query_only": "0", "busy_timeout": "10000"}, writer)
	require.Equal(t, "1", reader["query_only"])
	require.Equal(t, "10000", reader["busy_timeout"])
}

// TestBackupReaderDoesNotBlock: another process may hold a read transaction open for long.
func TestBackupReaderDoesNotBlock(t *testing.T) {
	file := filepath.Join(t.TempDir(), "dw.db")
	s, err := sqlite.Open(t.Context(), "sqlite://"+file, store.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	backup, err := sql.Open("sqlite", "file:"+file)
	require.NoError(t, err)
	defer backup.Close()
	tx, err := backup.BeginTx(t.Context(), &sql.TxOptions{ReadOnly: true})
	require.NoError(t, err)
	var n int
	require.NoError(t, tx.QueryRow("SELECT COUNT(*) FROM workflow_run_inputs").Scan(&n))
	for i := range 50 {
		require.NoError(t, s.Transition(t.Context(), put(string(rune('a'+i)))))
	}
	require.NoError(t, tx.QueryRow("SELECT COUNT(*) FROM workflow_run_inputs").Scan(&n))
	require.Zero(t, n)
	require.NoError(t, tx.Rollback())
}
