package main

import (
	"database/sql"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dwserver/runtime/store/storetest/cluster"
)

// wakeBounds are how long work that one process made may stay unseen by a poll that another holds: what
// docs/operations.md says, and the time that a busy test machine takes.
var wakeBounds = map[string]struct{ usual, listenerLost time.Duration }{
	cluster.Postgres: {usual: 100 * time.Millisecond, listenerLost: time.Second},
	cluster.MySQL:    {usual: 250 * time.Millisecond, listenerLost: 250 * time.Millisecond},
}

const (
	wakeRounds = 20
	wakeSlack  = 900 * time.Millisecond
)

// A task made through one process reaches a poll held by another: on PostgreSQL by a notification, and while
// its listener is away by the scan, which is all that MySQL has (field report R29).
func TestWakesAcrossProcesses(t *testing.T) {
	cluster.Each(t, func(t *testing.T, engine string) {
		if engine == cluster.SQLite {
			t.Skip("one process owns the file")
		}
		f := launchFleet(t, engine, 2, "DW_METRICS_LISTEN=127.0.0.1:0")
		metrics := <-f.servers[0].meters
		f.register(t, "scheduler")
		bounds := wakeBounds[engine]
		took := f.wakes(t, metrics, "usual", func() {})
		t.Logf("median %s, slowest %s", took[len(took)/2], took[len(took)-1])
		assert.Less(t, took[len(took)/2], bounds.usual+wakeSlack/3)
		assert.Less(t, took[len(took)-1], bounds.usual+wakeSlack)
		if engine != cluster.Postgres {
			return
		}
		db, err := sql.Open("pgx", f.dbURL)
		require.NoError(t, err)
		defer db.Close()
		kill := func() {
			// The listener is gone until it has connected again, and then has missed what came meanwhile.
			_, err := db.ExecContext(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
				WHERE datname = current_database() AND query LIKE 'LISTEN%'`)
			require.NoError(t, err)
		}
		took = f.wakes(t, metrics, "lost", kill)
		t.Logf("listeners killed: median %s, slowest %s", took[len(took)/2], took[len(took)-1])
		assert.Less(t, took[len(took)-1], bounds.listenerLost+wakeSlack)
	})
}

// wakes holds a poll at one process and starts a workflow at the other, again and again, and answers how long
// the poll took to see it, in order.
func (f *fleet) wakes(t *testing.T, metrics, name string, before func()) []time.Duration {
	t.Helper()
	var took []time.Duration
	for i := range wakeRounds {
		id := fmt.Sprintf("%s-%d", name, i)
		seen := make(chan time.Time, 1)
		go func() {
			answer := f.post(t, 0, "/worker/workflow-tasks/poll", map[string]any{"worker_id": "scheduler", "task_queue": "crash", "timeout_seconds": 20}, http.StatusOK)
			assert.True(t, strings.Contains(answer.String(), id), "%s", answer)
			seen <- time.Now()
		}()
		awaitHeld(t, metrics)
		before()
		began := time.Now()
		f.post(t, 1, "/workflows", map[string]any{"workflow_id": id, "workflow_type": "crash", "task_queue": "crash"}, http.StatusCreated)
		took = append(took, (<-seen).Sub(began))
	}
	slices.Sort(took)
	return took
}

// awaitHeld waits until a process whose metrics are at an address holds a poll.
func awaitHeld(t *testing.T, metrics string) {
	t.Helper()
	require.Eventually(t, func() bool {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+metrics+"/metrics", http.NoBody)
		require.NoError(t, err)
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return strings.Contains(string(body), "\ndwserver_held_polls 1\n")
	}, 5*time.Second, time.Millisecond)
}
