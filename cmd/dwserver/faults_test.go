package main

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"dwserver/handlers"
	"dwserver/handlers/avro"
	"dwserver/handlers/handlertest"
	"dwserver/runtime"
	"dwserver/runtime/store"
	opener "dwserver/runtime/store/open"
	"dwserver/runtime/store/storetest/cluster"
	"dwserver/runtime/store/storetest/proxy"
)

// What clients are told while a database behind a network fails. handlertest holds every answer against
// the contract; the cases look at the members by which clients recover.
func TestFaults(t *testing.T) {
	cluster.Each(t, func(t *testing.T, engine string) {
		if engine == cluster.SQLite {
			t.Skip("there is no network between the server and its file")
		}
		for _, c := range []struct {
			name  string
			conns int
			run   func(*testing.T, *faulty)
		}{
			{"the answer to COMMIT is lost", 1, answerToCommitLost}, {"COMMIT is lost", 1, commitLost},
			{"cut before COMMIT", 4, cutBeforeCommit}, {"cut after COMMIT", 4, cutAfterCommit},
			{"out of reach", 4, outOfReach}, {"sessions ended by the server", 4, sessionsEnded},
			{"statements cancelled", 4, statementsCancelled}, {"locks kept by another", 16, locksKept}, {"pool in use", 4, poolInUse},
			{"carried answers of a repeated transaction", 4, repeatedCarriers},
		} {
			t.Run(c.name, func(t *testing.T) { c.run(t, newFaulty(t, engine, c.conns)) })
		}
	})
}

// faulty is a server whose database is reached through a proxy.
type faulty struct {
	*handlertest.Client
	runtime  *runtime.Engine
	engine   string
	dbURL    string // past the proxy
	proxy    *proxy.Proxy
	onCommit atomic.Value // func() error, called before COMMIT is sent
	asked    atomic.Int64 // statements so far
	n        int
}

const faultyLockWait = time.Second

func newFaulty(t *testing.T, engine string, conns int) *faulty {
	t.Helper()
	f := &faulty{engine: engine, dbURL: cluster.URL(t, engine)}
	var proxied string
	f.proxy, proxied = proxy.New(t, f.dbURL)
	f.onCommit.Store(func() error { return nil })
	st, err := opener.Store(t.Context(), proxied, store.Options{MaxConns: conns, LockTimeout: faultyLockWait,
		Probe: func(_ context.Context, statement string) error {
			f.asked.Add(1)
			if statement == "COMMIT" {
				return f.onCommit.Load().(func() error)()
			}
			return nil
		}})
	require.NoError(t, err)
	e := runtime.New(st, runtime.Options{SignalValue: avro.SignalValue})
	t.Cleanup(func() {
		e.Close()
		require.NoError(t, st.Close())
	})
	h, err := handlers.New(handlers.Options{Engine: e, Config: handlers.Config{Driver: engine}})
	require.NoError(t, err)
	require.NoError(t, e.Start(t.Context()))
	f.Client, f.runtime = handlertest.Start(t, h), e
	return f
}

// at calls fn once, at the next COMMIT.
func (f *faulty) at(fn func()) {
	var once atomic.Bool
	f.onCommit.Store(func() error {
		if once.CompareAndSwap(false, true) {
			fn()
		}
		return nil
	})
}

// quiet waits until the server has asked nothing for a while: what was on its way has got there.
func (f *faulty) quiet(t *testing.T) {
	t.Helper()
	last := int64(-1)
	require.Eventually(t, func() bool {
		before := last
		last = f.asked.Load()
		return before == last
	}, 10*time.Second, 200*time.Millisecond)
}

// heal takes every fault away, and what is left of the connections with it.
func (f *faulty) heal() {
	f.onCommit.Store(func() error { return nil })
	f.proxy.Pass()
	f.proxy.Cut()
}

// admin is a connection to the database past the proxy.
func (f *faulty) admin(t *testing.T) *sql.Conn {
	t.Helper()
	name, dsn := "pgx", f.dbURL
	if f.engine == cluster.MySQL {
		name, dsn = "mysql", mysqlDSN(t, f.dbURL)
	}
	db, err := sql.Open(name, dsn)
	require.NoError(t, err)
	conn, err := db.Conn(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = conn.Close() // it is closed already where a test ended it
		require.NoError(t, db.Close())
	})
	return conn
}

func runSQL(t *testing.T, conn *sql.Conn, text string) {
	t.Helper()
	_, err := conn.ExecContext(t.Context(), text)
	require.NoError(t, err, text)
}

// crew is a worker on a queue of its own.
type crew struct{ worker, queue string }

func (f *faulty) crew(t *testing.T) crew {
	t.Helper()
	f.n++
	c := crew{fmt.Sprintf("worker-%d", f.n), fmt.Sprintf("queue-%d", f.n)}
	f.In(t).Post("/worker/register", c.registration()).Expect(201)
	return c
}

func (c crew) registration() map[string]any { return registration(c.worker, c.queue) }

// poll is a poll that does not wait, with an id when one is given.
func (c crew) poll(id string) map[string]any {
	body := map[string]any{"worker_id": c.worker, "task_queue": c.queue, "timeout_seconds": 0}
	if id != "" {
		body["poll_request_id"] = id
	}
	return body
}

// start starts a workflow on a crew's queue and returns its run.
func (f *faulty) start(t *testing.T, c crew) (id, run string) {
	t.Helper()
	f.n++
	id = fmt.Sprintf("workflow-%d", f.n)
	return id, f.In(t).Post("/workflows", map[string]any{"workflow_id": id, "workflow_type": "crash", "task_queue": c.queue}).
		Expect(201).Text("run_id")
}

// leaseWorkflow starts a workflow and leases its first task.
func (f *faulty) leaseWorkflow(t *testing.T) *heldTask {
	t.Helper()
	c := f.crew(t)
	id, run := f.start(t, c)
	task := f.In(t).Post("/worker/workflow-tasks/poll", c.poll("")).Expect(200)
	require.Equal(t, id, task.Text("task.workflow_id"))
	return &heldTask{crew: c, workflow: id, run: run, id: task.Text("task.task_id"),
		path: "/worker/workflow-tasks/" + task.Text("task.task_id"), fence: map[string]any{"lease_owner": c.worker, "workflow_task_attempt": 1}}
}

// leaseActivity starts a workflow, schedules an activity and leases that.
func (f *faulty) leaseActivity(t *testing.T) *heldTask {
	t.Helper()
	w := f.leaseWorkflow(t)
	f.In(t).Post(w.path+"/complete", w.with("commands", []any{activityCommand()})).Expect(200)
	task := f.In(t).Post("/worker/activity-tasks/poll", w.poll("")).Expect(200)
	return &heldTask{crew: w.crew, workflow: w.workflow, run: w.run, id: task.Text("task.task_id"),
		path:  "/worker/activity-tasks/" + task.Text("task.task_id"),
		fence: map[string]any{"lease_owner": w.worker, "activity_attempt_id": task.Text("task.activity_attempt_id")}}
}

// heldTask is a leased task of either kind.
type heldTask struct {
	crew
	workflow, run, id, path string
	fence                   map[string]any
}

// with is the fence with more members.
func (h *heldTask) with(more ...any) map[string]any {
	body := map[string]any{}
	for k, v := range h.fence {
		body[k] = v
	}
	for i := 0; i < len(more); i += 2 {
		body[more[i].(string)] = more[i+1]
	}
	return body
}

// unavailable expects the answer to a lost database: outcome unknown, with the identities to recover by.
func unavailable(r *handlertest.Reply, members map[string]any) *handlertest.Reply {
	r.Refused(http.StatusServiceUnavailable, "backend_unavailable")
	return r.Is(map[string]any{"outcome": "unknown", "retryable": true, "retry_after_seconds": 1}).Is(members)
}
