package sqlite

import (
	"context"
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"dwserver/gen/sqlitedb"
	"dwserver/runtime/store"
	"dwserver/runtime/store/storetest"
)

// recorder notes the one statement that a generated method runs on it.
type recorder struct {
	sqlitedb.DBTX
	db   *sql.DB
	text string
	args []any
}

func (r *recorder) taken() (string, []any) { return r.text, r.args }

func (r *recorder) ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error) {
	r.text, r.args = text, args
	return nil, sql.ErrConnDone
}

func (r *recorder) QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	r.text, r.args = text, args
	return nil, sql.ErrConnDone
}

func (r *recorder) QueryRowContext(ctx context.Context, text string, args ...any) *sql.Row {
	r.text, r.args = text, args
	return r.db.QueryRowContext(done(ctx), text)
}

// done is ctx, ended.
func done(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	return ctx
}

// TestNoScans: with 200,000 runs no query reads a whole table or index.
func TestNoScans(t *testing.T) {
	file := filepath.Join(t.TempDir(), "dw.db")
	s, err := Open(t.Context(), "sqlite://"+file, store.Options{})
	require.NoError(t, err)
	require.NoError(t, s.Close())
	db, err := sql.Open("sqlite", writerDSN(file)+"&_pragma=synchronous(OFF)")
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	for _, text := range storetest.Bulk(storetest.Dialect{
		ID: func(prefix string) string { return "printf('" + prefix + "%07d', n)" }, Empty: "x''"}) {
		_, err := db.ExecContext(t.Context(), text)
		require.NoError(t, err)
	}
	rec := &recorder{db: db}
	for _, c := range storetest.Calls(t, sqlitedb.New(rec), rec.taken) {
		for _, step := range plan(t, db, c) {
			if c.Name == "NamespaceList" || strings.Contains(step, "CONSTANT ROW") || strings.Contains(step, "VIRTUAL TABLE") || strings.HasPrefix(step, "SCAN (") {
				continue
			}
			require.NotRegexp(t, "^SCAN ", step, "%s: %s", c.Name, step)
			if inOrder[c.Name] {
				require.NotContains(t, step, "TEMP B-TREE", "%s sorts", c.Name)
			}
		}
	}
}

// inOrder are the queries whose order an index has to give, as they take the first of many rows.
var inOrder = map[string]bool{"TaskFindClaimable": true, "RunListPage": true, "EventList": true, "TimerListDue": true,
	"ActivityListDue": true, "RunListDue": true, "TaskListLeaseExpired": true, "TaskListDelayed": true}

func plan(t *testing.T, db *sql.DB, c storetest.Call) (steps []string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+c.Text, c.Args...)
	require.NoError(t, err, c.Name)
	defer rows.Close()
	for rows.Next() {
		var id, parent, unused int
		var detail string
		require.NoError(t, rows.Scan(&id, &parent, &unused, &detail))
		steps = append(steps, detail)
	}
	require.NoError(t, rows.Err())
	return steps
}
