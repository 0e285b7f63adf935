package mysql

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"dwserver/gen/mysqldb"
	"dwserver/runtime/store"
	"dwserver/runtime/store/storetest"
	"dwserver/runtime/store/storetest/cluster"
)

func TestMain(m *testing.M) { os.Exit(cluster.Run(m)) }

// noter notes the one statement that a generated method runs on it.
type noter struct {
	link
	text string
	args []any
}

var errNoted = errors.New("noted")

func (n *noter) ExecContext(_ context.Context, text string, args ...any) (sql.Result, error) {
	n.text, n.args = text, args
	return nil, errNoted
}

func (n *noter) QueryContext(_ context.Context, text string, args ...any) (*sql.Rows, error) {
	n.text, n.args = text, args
	return nil, errNoted
}

func (n *noter) QueryRowContext(ctx context.Context, text string, args ...any) *sql.Row {
	n.text, n.args = text, args
	return n.stmts.db.QueryRowContext(failed{Context: ctx, err: errNoted}, text)
}

// TestNoScans: with 200,000 runs no query reads a whole table, and none sorts documents.
func TestNoScans(t *testing.T) {
	s, err := Open(t.Context(), cluster.URL(t, cluster.MySQL), store.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	for _, text := range storetest.Bulk(storetest.Dialect{
		ID: func(prefix string) string { return "CONCAT('" + prefix + "', LPAD(n, 7, '0'))" }, Empty: "''"}) {
		_, err := s.db.ExecContext(t.Context(), text)
		require.NoError(t, err)
	}
	_, err = s.db.ExecContext(t.Context(), "ANALYZE TABLE workflow_instances, workflow_runs, tasks, activities")
	require.NoError(t, err)
	n := &noter{link: link{stmts: &s.stmts}}
	for _, c := range storetest.Calls(t, mysqldb.New(n), func() (string, []any) { return n.text, n.args }) {
		if strings.Contains(c.Text, "\nINSERT ") || c.Name == "NamespaceList" {
			continue
		}
		for _, step := range plan(t, s.db, c) {
			if strings.HasPrefix(step["table"], "<") { // what a subquery or union found
				continue
			}
			require.NotEqual(t, "ALL", step["type"], "%s: %v", c.Name, step)
			require.NotEqual(t, "index", step["type"], "%s reads a whole index: %v", c.Name, step)
			if !strings.Contains(step["Extra"], "Using index;") && c.Name != "TaskListFresh" { // keys and names of queues may be sorted
				require.NotContains(t, step["Extra"], "filesort", "%s: %v", c.Name, step)
			}
		}
	}
}

func plan(t *testing.T, db *sql.DB, c storetest.Call) (steps []map[string]string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), "EXPLAIN "+c.Text, c.Args...)
	require.NoError(t, err, c.Name)
	defer rows.Close()
	names, err := rows.Columns()
	require.NoError(t, err)
	for rows.Next() {
		values, to := make([]sql.NullString, len(names)), make([]any, len(names))
		for i := range values {
			to[i] = &values[i]
		}
		require.NoError(t, rows.Scan(to...))
		step := map[string]string{}
		for i, name := range names {
			step[name] = values[i].String
		}
		steps = append(steps, step)
	}
	require.NoError(t, rows.Err())
	return steps
}
