package main

import (
	"database/sql"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dwserver/handlers/handlertest"
	"dwserver/runtime/store/storetest/cluster"
)

// outOfReach: nothing answers for a while. Every request is answered for all that, readiness turns, what waits
// keeps waiting, and when the database is back everything goes on without a restart (field report R41).
func outOfReach(t *testing.T, f *faulty) {
	w, a, c := f.leaseWorkflow(t), f.leaseActivity(t), f.crew(t)
	held := make(chan *handlertest.Reply, 1)
	go func() {
		body := c.poll("")
		body["timeout_seconds"] = 20
		held <- f.Post("/worker/workflow-tasks/poll", body)
	}()
	require.Eventually(t, func() bool { return f.runtime.HeldPolls() == 1 }, 10*time.Second, time.Millisecond)
	f.quiet(t) // its first claim found nothing: it waits
	f.Get("/ready").Expect(200)
	f.proxy.Refuse()
	f.Get("/ready").Expect(503).Is(map[string]any{"status": "not_ready", "checks.database.status": "unavailable"})
	f.Get("/health").Expect(503).Is(map[string]any{"status": "degraded"})
	for path, told := range map[string]map[string]any{
		"/worker/register":                        {"operation": "register_worker", "worker_id": w.worker},
		"/worker/heartbeat":                       {"operation": "heartbeat_worker", "worker_id": w.worker},
		"/worker/workflow-tasks/poll":             {"operation": "poll_workflow_task", "poll_request_id": "p", "retry_same_poll_request_id": true, "task": nil},
		"/worker/activity-tasks/poll":             {"operation": "poll_activity_task", "poll_request_id": "p", "retry_same_poll_request_id": true, "task": nil},
		w.path + "/heartbeat":                     {"operation": "heartbeat_workflow_task", "task_id": w.id},
		w.path + "/complete":                      {"operation": "complete_workflow_task", "task_id": w.id, "lease_owner": w.worker, "workflow_task_attempt": 1},
		a.path + "/heartbeat":                     {"operation": "heartbeat_activity_task", "task_id": a.id},
		a.path + "/complete":                      {"operation": "complete_activity_task", "task_id": a.id},
		"/workflows":                              {},
		"/workflows/" + w.workflow + "/signal/go": {},
	} {
		body := w.registration()
		for k, v := range w.with("commands", []any{}, "activity_attempt_id", a.fence["activity_attempt_id"], "poll_request_id", "p",
			"workflow_type", "crash", "workflow_id", "lost", "request_id", "r") {
			body[k] = v
		}
		unavailable(f.Do(http.MethodPost, path, body, handlertest.Deliberate()), told)
	}
	assert.Empty(t, held, "a held poll needs no database")
	f.proxy.Pass()
	require.Eventually(t, func() bool { return f.Get("/ready").Status == 200 }, 10*time.Second, 10*time.Millisecond)
	id, _ := f.start(t, c)
	require.Equal(t, id, (<-held).Expect(200).Text("task.workflow_id"))
	f.Post(w.path+"/complete", w.with("commands", []any{})).Expect(200).Is(map[string]any{"recorded": true})
	f.Post(a.path+"/complete", a.fence).Expect(200).Is(map[string]any{"recorded": true})
}

// sessionsEnded: the server ends all sessions, as for a restart or a failover. No request notices.
func sessionsEnded(t *testing.T, f *faulty) {
	admin := f.admin(t)
	for range 5 {
		a := f.leaseActivity(t)
		f.each(t, admin, "SELECT pg_terminate_backend(%d)", "KILL %d")
		f.Post(a.path+"/complete", a.fence).Expect(200).Is(map[string]any{"recorded": true})
		f.Get("/ready").Expect(200)
	}
}

// each runs a statement for every session of the server.
func (f *faulty) each(t *testing.T, admin *sql.Conn, postgres, mysql string) (n int) {
	t.Helper()
	list, text := "SELECT pid FROM pg_stat_activity WHERE application_name = 'dwserver' AND datname = current_database()", postgres
	if f.engine == cluster.MySQL {
		list, text = "SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()", mysql
	}
	rows, err := admin.QueryContext(t.Context(), list)
	require.NoError(t, err)
	defer rows.Close()
	var ids []int64
	for rows.Next() {
		var id int64
		require.NoError(t, rows.Scan(&id))
		ids = append(ids, id)
	}
	require.NoError(t, rows.Err())
	for _, id := range ids {
		// One may have ended since.
		if _, err := admin.ExecContext(t.Context(), fmt.Sprintf(text, id)); err == nil {
			n++
		}
	}
	return n
}

// lockRun keeps a run's row locked by another session until the result is called.
func (f *faulty) lockRun(t *testing.T, run string) (unlock func()) {
	t.Helper()
	admin := f.admin(t)
	runSQL(t, admin, "BEGIN")
	runSQL(t, admin, "SELECT run_id FROM workflow_runs WHERE run_id = '"+run+"' FOR UPDATE")
	return func() { runSQL(t, admin, "ROLLBACK") }
}

// statementsCancelled: what runs too long is cancelled by the database, as its statement timeout does. Nothing
// was recorded, and the repeat is.
func statementsCancelled(t *testing.T, f *faulty) {
	a := f.leaseActivity(t)
	unlock := f.lockRun(t, a.run)
	admin := f.admin(t)
	reply := make(chan *handlertest.Reply, 1)
	go func() { reply <- f.Post(a.path+"/complete", a.fence) }()
	f.awaitBlocked(t, admin)
	f.each(t, admin, "SELECT pg_cancel_backend(%d)", "KILL QUERY %d")
	unavailable(<-reply, map[string]any{"operation": "complete_activity_task", "task_id": a.id})
	unlock()
	f.Post(a.path+"/complete", a.fence).Expect(200).Is(map[string]any{"recorded": true})
}

// awaitBlocked waits until a session of the server waits for a lock.
func (f *faulty) awaitBlocked(t *testing.T, admin *sql.Conn) {
	t.Helper()
	text := "SELECT COUNT(*) FROM pg_stat_activity WHERE application_name = 'dwserver' AND datname = current_database() AND wait_event_type = 'Lock'"
	if f.engine == cluster.MySQL {
		text = "SELECT COUNT(*) FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'"
	}
	require.Eventually(t, func() bool {
		var n int
		return assert.NoError(t, admin.QueryRowContext(t.Context(), text).Scan(&n)) && n > 0
	}, 10*time.Second, 150*time.Millisecond) // InnoDB shows the same again to who asks sooner
}

// locksKept: another session keeps the locks that requests need. Each is told so in its own form, which for
// heartbeats is a 200, and nothing was recorded.
func locksKept(t *testing.T, f *faulty) {
	w := f.leaseWorkflow(t)
	a := f.leaseActivity(t)
	f.start(t, w.crew) // a task for the poll
	locks := f.admin(t)
	runSQL(t, locks, "BEGIN")
	runSQL(t, locks, "SELECT run_id FROM workflow_runs FOR UPDATE")
	runSQL(t, locks, "SELECT worker_id FROM workers FOR UPDATE")
	pressed := []struct {
		path   string
		body   any
		status int
		told   map[string]any
	}{
		{w.path + "/complete", w.with("commands", []any{}), 503, map[string]any{"operation": "complete_workflow_task", "outcome": "deferred", "recorded": false,
			"task_id": w.id, "workflow_task_attempt": 1}},
		{w.path + "/heartbeat", w.fence, 200, map[string]any{"renewed": false, "task_id": w.id, "workflow_task_attempt": 1, "lease_owner": w.worker,
			"lease_expires_at": nil, "run_status": nil, "task_status": nil}},
		{a.path + "/complete", a.fence, 503, map[string]any{"operation": "complete_activity_task", "outcome": "deferred", "recorded": false, "task_id": a.id}},
		{a.path + "/fail", a.with("failure", map[string]any{"message": "x"}), 503, map[string]any{"operation": "fail_activity_task", "outcome": "deferred"}},
		{a.path + "/heartbeat", a.fence, 200, map[string]any{"can_continue": true, "cancel_requested": false, "heartbeat_recorded": false, "task_id": a.id}},
		{"/worker/heartbeat", map[string]any{"worker_id": w.worker, "heartbeat_interval_seconds": 9}, 200, map[string]any{"worker_id": w.worker, "acknowledged": false}},
		{"/worker/register", w.registration(), 503, map[string]any{"operation": "register_worker", "worker_id": w.worker, "task_queue": w.queue, "registered": false}},
		{"/worker/workflow-tasks/poll", w.poll("x"), 503, map[string]any{"task": nil, "poll_status": "backend_lock_pressure", "namespace": "default",
			"task_queue": w.queue, "task_kind": "workflow_task"}},
		{"/workflows/" + w.workflow + "/signal/go", map[string]any{}, 503, nil},
		{"/workflows/" + w.workflow + "/cancel", map[string]any{}, 503, nil},
	}
	began := time.Now()
	var group sync.WaitGroup
	for _, c := range pressed {
		group.Go(func() {
			f.Post(c.path, c.body).Refused(c.status, "backend_lock_pressure").
				Is(map[string]any{"retry_after_seconds": 1, "retryable": true}).Is(c.told)
		})
	}
	group.Wait()
	assert.Less(t, time.Since(began), 30*time.Second)
	t.Logf("answered within %s, locks waited for %s at a time", time.Since(began).Round(time.Millisecond), faultyLockWait)
	runSQL(t, locks, "ROLLBACK")
	f.Post(w.path+"/complete", w.with("commands", []any{})).Expect(200).Is(map[string]any{"recorded": true})
	f.Post(a.path+"/complete", a.fence).Expect(200).Is(map[string]any{"recorded": true})
}

// poolInUse: every connection waits for a lock, and more requests wait for a connection. All are answered in a
// bounded time, and when the lock goes everything is recorded.
func poolInUse(t *testing.T, f *faulty) {
	var tasks []*heldTask
	for range 12 { // three times what the pool has connections
		tasks = append(tasks, f.leaseActivity(t))
	}
	locks := f.admin(t)
	runSQL(t, locks, "BEGIN")
	runSQL(t, locks, "SELECT run_id FROM workflow_runs FOR UPDATE")
	var mu sync.Mutex
	reasons := map[string]int{}
	began := time.Now()
	var group sync.WaitGroup
	for _, a := range tasks {
		group.Go(func() {
			r := f.Post(a.path+"/complete", a.fence).Expect(503).Is(map[string]any{"retryable": true, "task_id": a.id})
			mu.Lock()
			defer mu.Unlock()
			reasons[r.Text("reason")]++
		})
	}
	group.Wait()
	assert.Less(t, time.Since(began), 30*time.Second)
	assert.NotZero(t, reasons["backend_lock_pressure"], "%v", reasons)
	assert.NotZero(t, reasons["backend_unavailable"], "no request met the pool in use: %v", reasons)
	runSQL(t, locks, "ROLLBACK")
	for _, a := range tasks {
		f.Post(a.path+"/complete", a.fence).Expect(200).Is(map[string]any{"recorded": true})
	}
	f.Get("/ready").Expect(200)
}
