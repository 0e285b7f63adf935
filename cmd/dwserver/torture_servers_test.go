package main

import (
	"database/sql"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dwserver/runtime/store/storetest/cluster"
)

// tortured is a server that is killed and started again at the same address.
type tortured struct {
	listen   string
	settings []string
	now      *instance
}

// startServers starts as many server processes as the engine takes.
func (x *torture) startServers(t *testing.T) {
	t.Helper()
	n := tortureServers
	if x.engine == cluster.SQLite {
		n = 1
	}
	x.client = newFailover(x.seed, 3)
	for range n {
		s := &tortured{listen: freeAddress(t)}
		s.settings = []string{"DW_LISTEN=" + s.listen, "DW_DATABASE_URL=" + x.dbURL, "DW_DATABASE_MAX_CONNECTIONS=6",
			"DW_WORKFLOW_TASK_TIMEOUT=3", "DW_ACTIVITY_TASK_TIMEOUT=3", "DW_LOG_LEVEL=warn"}
		s.start(t)
		x.servers = append(x.servers, s)
		x.client.add("http://" + s.listen)
	}
	for _, s := range x.servers {
		s.await(t)
	}
}

// start starts the process. It may end by itself while the database is down, as nobody waits for it then.
func (s *tortured) start(t *testing.T) {
	t.Helper()
	s.now = launch(t, "", s.settings...)
}

// await waits until the server is ready.
func (s *tortured) await(t *testing.T) {
	t.Helper()
	api := newAPI("http://" + s.listen)
	require.Eventually(t, func() bool {
		answer, err := api.call(t.Context(), http.MethodGet, "/ready", nil)
		return err == nil && answer.status == http.StatusOK
	}, 30*time.Second, 20*time.Millisecond, s.now.output())
}

func (s *tortured) kill(t *testing.T) {
	t.Helper()
	select {
	case <-s.now.exited: // it found no database
	default:
		_ = s.now.cmd.Process.Kill() // it may have ended just now
		<-s.now.exited
	}
}

// checkConnections holds the servers to their number of connections, and sees that a server which goes
// leaves none behind.
func (x *torture) checkConnections(t *testing.T) {
	t.Helper()
	if x.own == nil {
		return
	}
	db := x.admin(t)
	per := tortureConns
	if x.engine == cluster.Postgres {
		per++ // the listener
	}
	// What the killed servers had is gone as soon as the database notices.
	assert.Eventually(t, func() bool { return x.connections(t, db) <= per*len(x.servers) }, 10*time.Second, 50*time.Millisecond)
	t.Logf("%d connections of %d servers", x.connections(t, db), len(x.servers))
	for _, s := range x.servers {
		s.now.signal(t, os.Interrupt)
		assert.Zero(t, s.now.exit(t), s.now.output())
	}
	assert.Eventually(t, func() bool { return x.connections(t, db) == 0 }, 10*time.Second, 50*time.Millisecond)
}

// admin is a connection of the test's own to the database.
func (x *torture) admin(t *testing.T) *sql.DB {
	t.Helper()
	name, dsn := "pgx", x.dbURL
	if x.engine == cluster.MySQL {
		name, dsn = "mysql", mysqlDSN(t, x.dbURL)
	}
	db, err := sql.Open(name, dsn)
	require.NoError(t, err)
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

// connections counts the servers' connections.
func (x *torture) connections(t *testing.T, db *sql.DB) (n int) {
	t.Helper()
	text := "SELECT COUNT(*) FROM pg_stat_activity WHERE application_name = 'dwserver'"
	if x.engine == cluster.MySQL {
		text = "SELECT COUNT(*) FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()"
	}
	require.NoError(t, db.QueryRowContext(t.Context(), text).Scan(&n))
	return n
}

// dumps are what every server does just now.
func (x *torture) dumps(t *testing.T) string {
	t.Helper()
	for _, s := range x.servers {
		s.now.signal(t, syscall.SIGQUIT)
		<-s.now.exited
	}
	return x.outputs()
}

// outputs are the servers' logs, for a failure, without what a lost database explains.
func (x *torture) outputs() string {
	var b strings.Builder
	for _, s := range x.servers {
		for line := range strings.Lines(s.now.output()) {
			if !strings.Contains(line, "unavailable") && !strings.Contains(line, "listener") {
				b.WriteString(line)
			}
		}
	}
	return b.String()
}
