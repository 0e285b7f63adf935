package postgres

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"dwserver/gen/pgdb"
	"dwserver/runtime/store"
	"dwserver/runtime/store/storetest"
	"dwserver/runtime/store/storetest/cluster"
)

func TestMain(m *testing.M) { os.Exit(cluster.Run(m)) }

// TestNoScans: with 200,000 runs no query reads a whole table, as planned for the settings that the
// store's connections have, with statistics and without.
func TestNoScans(t *testing.T) {
	s, err := Open(t.Context(), cluster.URL(t, cluster.Postgres), store.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	conn, err := s.pool.Acquire(t.Context())
	require.NoError(t, err)
	defer conn.Release()
	exec := func(text string) {
		t.Helper()
		_, err := conn.Exec(t.Context(), text)
		require.NoError(t, err)
	}
	exec("SET statement_timeout = 0")
	for _, table := range []string{"workflow_instances", "workflow_runs", "tasks", "activities"} {
		exec("ALTER TABLE " + table + " SET (autovacuum_enabled = off)")
	}
	for _, text := range storetest.Bulk(storetest.Dialect{
		ID: func(prefix string) string { return "'" + prefix + "' || lpad(n::text, 7, '0')" }, Empty: "''::bytea"}) {
		exec(text)
	}
	rec := &recorder{}
	calls := storetest.Calls(t, pgdb.New(rec), func() (string, []any) { return rec.sql, rec.args })
	t.Run("without statistics", func(t *testing.T) { requirePlans(t, conn, calls) })
	exec("ANALYZE")
	t.Run("with statistics", func(t *testing.T) { requirePlans(t, conn, calls) })
}

// inOrder are the queries whose order an index has to give, as they take the first of many rows.
var inOrder = map[string]bool{"TaskFindClaimable": true, "RunListPage": true, "EventList": true, "TimerListDue": true,
	"ActivityListDue": true, "RunListDue": true, "TaskListLeaseExpired": true, "TaskListDelayed": true}

func requirePlans(t *testing.T, conn *pgxpool.Conn, calls []storetest.Call) {
	for _, c := range calls {
		text := plan(t, conn, c)
		if c.Name != "NamespaceList" {
			require.NotContains(t, text, "Seq Scan", "%s\n%s", c.Name, text)
		}
		if inOrder[c.Name] {
			require.NotContains(t, text, "Sort", "%s sorts\n%s", c.Name, text)
		}
	}
}

// plan is the generic plan of a prepared statement, which is what the store runs.
func plan(t *testing.T, conn *pgxpool.Conn, c storetest.Call) string {
	t.Helper()
	ctx := t.Context()
	simple := func(text string) [][][]byte {
		results, err := conn.Conn().PgConn().Exec(ctx, text).ReadAll()
		require.NoError(t, err, "%s: %s", c.Name, text)
		return results[len(results)-1].Rows
	}
	simple("PREPARE explained AS " + c.Text)
	defer func() {
		_, err := conn.Conn().PgConn().Exec(context.WithoutCancel(ctx), "DEALLOCATE explained").ReadAll()
		require.NoError(t, err)
	}()
	args := ""
	if n := len(c.Args); n > 0 {
		args = "(" + strings.Repeat("NULL, ", n-1) + "NULL)"
	}
	var b strings.Builder
	for _, row := range simple("EXPLAIN EXECUTE explained" + args) {
		fmt.Fprintln(&b, string(row[0]))
	}
	return b.String()
}
