package check

import (
	"context"
	"database/sql"
	"fmt"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	driver "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib" // driver "pgx"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dwserver/handlers"
	"dwserver/handlers/avro"
	"dwserver/handlers/handlertest"
	"dwserver/runtime"
	"dwserver/runtime/store"
	"dwserver/runtime/store/open"
	"dwserver/runtime/store/snapshot"
	"dwserver/runtime/store/storetest/cluster"
	"dwserver/vectors"
)

func TestMain(m *testing.M) { os.Exit(cluster.Run(m)) }

// What the vectors leave behind is sound on every engine, and each invariant is found broken when it is.
func TestCheck(t *testing.T) {
	cluster.Each(t, func(t *testing.T, engine string) {
		dbURL := cluster.URL(t, engine)
		populate(t, engine, dbURL)
		t.Run("sound", func(t *testing.T) { sound(t, dbURL) })
		db := connect(t, engine, dbURL)
		for _, c := range corruptions {
			t.Run(c.invariant, func(t *testing.T) { c.try(t, engine, db) })
		}
	})
}

// populate replays vectors against a server on the database.
func populate(t *testing.T, engine, dbURL string) {
	t.Helper()
	st, err := open.Store(t.Context(), dbURL, store.Options{})
	require.NoError(t, err)
	const lease = 2 * time.Second // vectors wait for lost ones
	e := runtime.New(st, runtime.Options{WorkflowTaskTimeout: lease, ActivityTaskTimeout: lease, SignalValue: avro.SignalValue})
	h, err := handlers.New(handlers.Options{Engine: e, Config: handlers.Config{Driver: engine,
		WorkflowTaskTimeout: lease, ActivityTaskTimeout: lease}})
	require.NoError(t, err)
	require.NoError(t, e.Start(t.Context()))
	s := httptest.NewServer(h)
	// Whether they pass is others' business: here they are a way to have rows of every sort.
	report, err := vectors.Run(t.Context(), vectors.Options{Target: s.URL, Parallel: 8})
	require.NoError(t, err)
	require.NotZero(t, report.Passed)
	leaveOpen(t, handlertest.Dial(t, s.URL))
	s.Close()
	e.Close()
	require.NoError(t, st.Close())
}

// leaveOpen leaves a run with a wait, its timeout and a leased activity.
func leaveOpen(t *testing.T, c *handlertest.Client) {
	t.Helper()
	c.Post("/worker/register", `{"worker_id":"left","task_queue":"left","runtime":"go","capability_manifest":{},
	 "supported_workflow_types":["left"],"supported_activity_types":["left"]}`).Expect(201)
	c.Post("/workflows", `{"workflow_id":"left","workflow_type":"left","task_queue":"left"}`).Expect(201)
	task := c.Post("/worker/workflow-tasks/poll", `{"worker_id":"left","task_queue":"left"}`).Expect(200).Text("task.task_id")
	c.Post("/worker/workflow-tasks/"+task+"/complete", `{"lease_owner":"left","workflow_task_attempt":1,"commands":[
	 {"type":"open_signal_wait","signal_name":"never","timeout_seconds":3600},{"type":"schedule_activity","activity_type":"left"}]}`).Expect(200)
	c.Post("/worker/activity-tasks/poll", `{"worker_id":"left","task_queue":"left"}`).Expect(200).Text("task.task_id")
}

func sound(t *testing.T, dbURL string) {
	db, err := open.Snapshot(t.Context(), dbURL)
	require.NoError(t, err)
	defer db.Close()
	sum, err := Run(t.Context(), db, time.Now().UnixMicro(), func(v Violation) error {
		t.Errorf("%+v", v)
		return nil
	})
	require.NoError(t, err)
	t.Logf("%+v", sum)
	require.NotZero(t, sum.Runs)
	require.NotZero(t, sum.Events)
}

// connect opens a connection that may write.
func connect(t *testing.T, engine, dbURL string) *sql.DB {
	t.Helper()
	name, dsn := "pgx", dbURL
	switch engine {
	case cluster.SQLite:
		name, dsn = "sqlite", strings.TrimPrefix(dbURL, "sqlite://")
	case cluster.MySQL:
		u, err := url.Parse(dbURL)
		require.NoError(t, err)
		cfg := driver.NewConfig()
		cfg.Net, cfg.Addr, cfg.User, cfg.DBName = "tcp", u.Host, u.User.Username(), strings.TrimPrefix(u.Path, "/")
		cfg.Passwd, _ = u.User.Password()
		name, dsn = "mysql", cfg.FormatDSN()
	}
	db, err := sql.Open(name, dsn)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

// inTransaction reads inside a transaction that a test corrupts rows in.
type inTransaction struct{ tx *sql.Tx }

func (d inTransaction) Each(ctx context.Context, text string, fn func(snapshot.Row) error) error {
	rows, err := d.tx.QueryContext(ctx, text)
	if err != nil {
		return err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	for rows.Next() {
		if err := fn(snapshot.Row{Columns: columns, Scan: rows.Scan}); err != nil {
			return err
		}
	}
	return rows.Err()
}

// try corrupts a row and expects the invariant, alone, to find it.
func (c corruption) try(t *testing.T, engine string, db *sql.DB) {
	tx, err := db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, tx.Rollback()) }()
	require.Empty(t, found(t, inTransaction{tx}, c.invariant), "before")
	var id string
	require.NoError(t, tx.QueryRowContext(t.Context(), c.pick).Scan(&id), "%s: the vectors left nothing like it", c.pick)
	blob := `X'7B'`
	if engine == cluster.Postgres {
		blob = `'\x7B'`
	}
	literals := strings.NewReplacer(":id", "'"+id+"'", ":blob", blob, ":empty", strings.Replace(blob, "7B", "", 1))
	for _, statement := range c.statements {
		text := literals.Replace(statement)
		result, err := tx.ExecContext(t.Context(), text)
		require.NoError(t, err, text)
		n, err := result.RowsAffected()
		require.NoError(t, err)
		require.NotZero(t, n, "%s changed nothing", text)
	}
	list := found(t, inTransaction{tx}, c.invariant)
	require.NotEmpty(t, list, "%s with %s", c.statements, id)
	if !c.others {
		assert.Contains(t, fmt.Sprint(list), id)
	}
}

// found is what one invariant finds.
func found(t *testing.T, db Database, invariant string) (list []Violation) {
	t.Helper()
	keep := func(v Violation) error {
		if v.Invariant == invariant {
			list = append(list, v)
		}
		return nil
	}
	statements, err := Statements()
	require.NoError(t, err)
	for _, s := range statements {
		if s.Name == invariant {
			require.NoError(t, s.run(t.Context(), db, time.Now().UnixMicro(), keep), invariant)
			return list
		}
	}
	w := walk{report: keep, sum: &Summary{}}
	require.NoError(t, w.run(t.Context(), db))
	return list
}

// Each invariant has a name of its own and a corruption that breaks it.
func TestEveryInvariantIsTried(t *testing.T) {
	list, err := Invariants()
	require.NoError(t, err)
	tried := map[string]bool{}
	for _, c := range corruptions {
		tried[c.invariant] = true
	}
	names := map[string]bool{}
	for _, i := range list {
		assert.False(t, names[i.Name], "%s twice", i.Name)
		names[i.Name] = true
		assert.True(t, tried[i.Name], "%s is not tried", i.Name)
		assert.NotEmpty(t, i.Says)
	}
	for name := range tried {
		assert.True(t, names[name], "%s is no invariant", name)
	}
}
