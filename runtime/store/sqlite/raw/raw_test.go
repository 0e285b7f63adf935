package raw_test

import (
	"bytes"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	sqlite3 "modernc.org/sqlite/lib"

	"dwserver/runtime/store/sqlite/raw"
)

func open(t *testing.T, path string, flags int32) *raw.Conn {
	t.Helper()
	c, err := raw.Open(path, flags)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return c
}

func things(t *testing.T) (*raw.Conn, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a b%3f#.db")
	c := open(t, path, raw.ReadWrite)
	require.NoError(t, c.Exec("CREATE TABLE things (id INTEGER PRIMARY KEY, name TEXT UNIQUE, body BLOB) STRICT"))
	require.FileExists(t, path)
	return c, path
}

func prepare(t *testing.T, c *raw.Conn, text string) *raw.Stmt {
	t.Helper()
	s, err := c.Prepare(text)
	require.NoError(t, err)
	return s
}

func insert(s *raw.Stmt, id int64, name string, body []byte) error {
	s.BindInt64(1, id)
	s.BindText(2, name)
	s.BindBlob(3, body)
	s.Next()
	return s.End()
}

const insertThing, readThing = "INSERT INTO things VALUES (?, ?, ?)", "SELECT id, name, body FROM things WHERE id = ?"

// TestValues: every value comes back as it was, whatever its size, and the next statement's too.
func TestValues(t *testing.T) {
	c, _ := things(t)
	in, out := prepare(t, c, insertThing), prepare(t, c, readThing)
	for _, v := range []struct {
		id   int64
		name string
		body []byte
	}{
		{0, "", []byte{0}}, {1, "a\x00b", []byte("x")}, {-1, "ä😀", []byte{0xff, 0}}, {math.MaxInt64, "not UTF-8 \xff", bytes.Repeat([]byte("y"), 4095)},
		{math.MinInt64, strings.Repeat("long", 1<<20), bytes.Repeat([]byte("z"), 5<<20)}, {2, strings.Repeat("é", 4096), bytes.Repeat([]byte("w"), 8192)}, {3, "short", []byte("s")},
	} {
		require.NoError(t, insert(in, v.id, v.name, v.body))
		out.BindInt64(1, v.id)
		require.True(t, out.Next())
		id, name, body := out.Int64(0), out.Text(1), out.Blob(2)
		require.False(t, out.Next(), "one row")
		require.NoError(t, out.End())
		require.Equal(t, v.id, id)
		require.True(t, v.name == name, "text of %d bytes", len(v.name))
		require.True(t, bytes.Equal(v.body, body), "%d bytes", len(v.body))
	}
	require.NoError(t, insert(in, 9, "empty", []byte{}))
	out.BindInt64(1, 9)
	require.True(t, out.Next())
	require.Nil(t, out.Blob(2))
	require.NoError(t, out.End())
}

// TestNull: nil is stored as NULL, and NULL is never read as a value.
func TestNull(t *testing.T) {
	c, _ := things(t)
	require.NoError(t, insert(prepare(t, c, insertThing), 1, "n", nil))
	out := prepare(t, c, "SELECT body, NULL, NULL FROM things WHERE id = ? AND body IS NULL")
	for _, read := range []func(){func() { out.Blob(0) }, func() { out.Text(1) }, func() { out.Int64(2) }} {
		out.BindInt64(1, 1)
		require.True(t, out.Next())
		read()
		require.ErrorIs(t, out.End(), raw.ErrNull)
	}
}

// TestErrors: codes are extended, an error ends the statement, and the statement can run again.
func TestErrors(t *testing.T) {
	c, path := things(t)
	in := prepare(t, c, insertThing)
	require.NoError(t, insert(in, 1, "one", nil))
	requireCode(t, sqlite3.SQLITE_CONSTRAINT_UNIQUE, insert(in, 2, "one", nil))
	requireCode(t, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY, insert(in, 1, "two", nil))
	in.BindInt64(4, 1)
	require.False(t, in.Next())
	require.Zero(t, in.Changes())
	requireCode(t, sqlite3.SQLITE_RANGE, in.End())
	require.NoError(t, insert(in, 2, "two", nil))

	_, err := c.Prepare("SELECT nix")
	requireCode(t, sqlite3.SQLITE_ERROR, err)
	require.ErrorContains(t, err, "no such column: nix")
	_, err = c.Prepare("-- nothing")
	requireCode(t, sqlite3.SQLITE_MISUSE, err)
	_, err = raw.Open(filepath.Join(t.TempDir(), "none", "dw.db"), raw.ReadOnly)
	requireCode(t, sqlite3.SQLITE_CANTOPEN, err)

	requireCode(t, sqlite3.SQLITE_READONLY, open(t, path, raw.ReadOnly).Exec("DELETE FROM things"))
	require.NoError(t, c.Exec("BEGIN IMMEDIATE"))
	requireCode(t, sqlite3.SQLITE_BUSY, open(t, path, raw.ReadWrite).Exec("DELETE FROM things"))
}

func requireCode(t *testing.T, want int, err error) {
	t.Helper()
	var e *raw.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, want, e.Code, e.Error())
}

func TestChanges(t *testing.T) {
	c, _ := things(t)
	in := prepare(t, c, insertThing)
	require.NoError(t, insert(in, 1, "one", nil))
	require.NoError(t, insert(in, 2, "two", nil))
	change := prepare(t, c, "UPDATE things SET name = name || '!' WHERE id < ?")
	for limit, want := range map[int64]int64{0: 0, 2: 1, 3: 2} {
		change.BindInt64(1, limit)
		require.False(t, change.Next())
		require.Equal(t, want, change.Changes())
		require.NoError(t, change.End())
	}
	params, columns := in.Shape()
	require.Equal(t, [2]int{3, 0}, [2]int{params, columns})
	params, columns = prepare(t, c, readThing).Shape()
	require.Equal(t, [2]int{1, 3}, [2]int{params, columns})
}

// TestClose: it ends the transaction and statements that are half read, and twice is once.
func TestClose(t *testing.T) {
	c, path := things(t)
	in, out := prepare(t, c, insertThing), prepare(t, c, "SELECT id FROM things")
	require.NoError(t, insert(in, 1, "kept", nil))
	require.NoError(t, c.Exec("BEGIN IMMEDIATE"))
	require.NoError(t, insert(in, 2, "lost", nil))
	require.True(t, out.Next())
	require.NoError(t, c.Close())
	require.NoError(t, c.Close())
	count := prepare(t, open(t, path, raw.ReadWrite), "SELECT COUNT(*) FROM things")
	require.True(t, count.Next())
	require.EqualValues(t, 1, count.Int64(0))
	require.NoError(t, count.End())
}
