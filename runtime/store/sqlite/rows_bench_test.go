package sqlite_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"dwserver/gen/sqlitedb"
	"dwserver/runtime/store"
	"dwserver/runtime/store/sqlite"
	"dwserver/runtime/store/sqlite/raw"
)

// BenchmarkRows measures what made the writer run one statement a row: events of a completion by a prepared
// statement that is run for each of them, by one for all of them, made for their number, and by one for all that is
// ready because it was made before (docs/decisions/0013).
func BenchmarkRows(b *testing.B) {
	for _, rows := range []int{1, 3, 15, 100} {
		b.Run(fmt.Sprintf("rows=%d/each", rows), func(b *testing.B) { benchRows(b, rows, 1, false) })
		b.Run(fmt.Sprintf("rows=%d/together", rows), func(b *testing.B) { benchRows(b, rows, rows, true) })
		b.Run(fmt.Sprintf("rows=%d/together-ready", rows), func(b *testing.B) { benchRows(b, rows, rows, false) })
	}
}

// benchRows inserts so many events an iteration, a number of them a statement, which may be prepared anew.
func benchRows(b *testing.B, rows, together int, anew bool) {
	path := filepath.Join(b.TempDir(), "dw.db")
	s, err := sqlite.Open(b.Context(), "sqlite://"+path, store.Options{})
	require.NoError(b, err)
	require.NoError(b, s.Close())
	c, err := raw.Open(path, raw.ReadWrite)
	require.NoError(b, err)
	defer func() { require.NoError(b, c.Close()) }()
	head, row, found := strings.Cut(sqlitedb.EventInsert, " VALUES (")
	require.True(b, found)
	text := head + " VALUES (" + row + strings.Repeat(", ("+row, together-1)
	stmt, err := c.Prepare(text)
	require.NoError(b, err)
	require.NoError(b, c.Exec("BEGIN IMMEDIATE"))
	b.ReportAllocs()
	b.ResetTimer()
	cpu, sequence := cpuTime(), int64(0)
	for range b.N {
		if anew {
			stmt, err = c.Prepare(text)
			require.NoError(b, err)
		}
		for range rows / together {
			for i := range together {
				sequence++
				bindEvent(stmt, i*8, sequence)
			}
			stmt.Next()
			require.NoError(b, stmt.End())
		}
	}
	b.ReportMetric(float64((cpuTime()-cpu).Nanoseconds())/float64(b.N*rows), "cpu-ns/row")
}

// bindEvent binds the columns of an event behind so many others.
func bindEvent(stmt *raw.Stmt, after int, sequence int64) {
	stmt.BindText(after+1, "01JBBBBBBBBBBBBBBBBBBBBBBB")
	stmt.BindInt64(after+2, sequence)
	stmt.BindText(after+3, "01JCCCCCCCCCCCCCCCCCCCCCCC")
	stmt.BindText(after+4, "ActivityCompleted")
	stmt.BindBlob(after+5, payload[:])
	stmt.BindText(after+6, "01JDDDDDDDDDDDDDDDDDDDDDDD")
	stmt.BindText(after+7, "")
	stmt.BindInt64(after+8, 1)
}
