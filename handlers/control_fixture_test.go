package handlers_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"dwserver/handlers"
	"dwserver/handlers/avro"
	"dwserver/handlers/handlertest"
	"dwserver/runtime"
	"dwserver/runtime/rules"
	"dwserver/runtime/store"
	"dwserver/runtime/store/open"
	"dwserver/runtime/store/storetest/cluster"

	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) { os.Exit(cluster.Run(m)) }

// opened opens a database until the test ends.
func opened(t *testing.T, url string) store.Store {
	t.Helper()
	st, err := open.Store(t.Context(), url, store.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	return st
}

// engine is one run of a test on one database engine.
type engine struct {
	*testing.T
	name string
}

// open opens an empty database until the test ends.
func (e engine) open() store.Store { return opened(e.T, cluster.URL(e.T, e.name)) }

// onEvery runs a test once on every engine.
func onEvery(t *testing.T, test func(on engine)) {
	t.Helper()
	cluster.Each(t, func(t *testing.T, name string) { test(engine{t, name}) })
}

// plane is a served API, its engine and its clock. The client speaks the control plane.
type plane struct {
	*handlertest.Client
	engine *runtime.Engine
	store  store.Store
	clock  *testClock
}

// setup changes how a plane is served.
type setup func(*handlers.Config, *runtime.Options)

// serve starts an engine on a store and the API in front of it.
func serve(t *testing.T, st store.Store, changes ...setup) *plane {
	t.Helper()
	clock := newTestClock()
	config := handlers.Config{ServerID: "test", Version: "0.0.0", AuthDriver: handlers.AuthNone}
	options := runtime.Options{Clock: clock, Logger: slog.New(slog.DiscardHandler), SignalValue: avro.SignalValue}
	for _, change := range changes {
		change(&config, &options)
	}
	config.Limits = options.Limits
	engine := runtime.New(st, options)
	handler, err := handlers.New(handlers.Options{Config: config, Engine: engine, Logger: options.Logger})
	require.NoError(t, err)
	require.NoError(t, engine.Start(t.Context()))
	t.Cleanup(engine.Close)
	return &plane{Client: handlertest.Start(t, handler), engine: engine, store: st, clock: clock}
}

// addNamespace creates a namespace, which has no route yet.
func (p *plane) addNamespace(t *testing.T, name string) {
	t.Helper()
	require.NoError(t, p.store.Transition(t.Context(), func(ctx context.Context, tx store.Tx) error {
		return tx.Apply(ctx, &rules.Effects{Namespaces: []rules.Namespace{{
			Name: name, RetentionMode: "forever", Status: "active", CreatedAt: 1_000_000, UpdatedAt: 1_000_000,
		}}})
	}))
}

// start starts a workflow and returns its run id.
func (p *plane) start(body map[string]any) string {
	if body["workflow_type"] == nil {
		body["workflow_type"] = "greeter"
	}
	return p.Post("/workflows", body).Expect(201).Text("run_id")
}

// register registers a worker for the type greeter, its activities and a declared signal contract.
func (p *plane) register(t *testing.T, more map[string]any) {
	t.Helper()
	body := map[string]any{
		"worker_id": "w", "task_queue": "default", "runtime": "python", "sdk_version": "test",
		"supported_workflow_types": []string{"greeter"}, "supported_activity_types": []string{"greet"},
		"capability_manifest": map[string]any{},
	}
	for name, value := range more {
		body[name] = value
	}
	p.Post("/worker/register", body, handlertest.Header(handlertest.WorkerHeader, "1.10")).Expect(201)
}

// turn takes the next workflow task and completes it with commands.
func (p *plane) turn(t *testing.T, commands ...map[string]any) *handlertest.Reply {
	t.Helper()
	task := p.poll(t, "workflow-tasks")
	p.Post("/worker/workflow-tasks/"+task.Text("task.task_id")+"/complete", map[string]any{
		"lease_owner": "w", "workflow_task_attempt": task.Int("task.workflow_task_attempt"), "commands": commands,
	}).Expect(200)
	return task
}

// poll takes the next task of a kind, which must be there.
func (p *plane) poll(t *testing.T, kind string) *handlertest.Reply {
	t.Helper()
	task := p.Post("/worker/"+kind+"/poll", map[string]any{"worker_id": "w", "task_queue": "default", "timeout_seconds": 0}).Expect(200)
	require.Equal(t, "leased", task.Text("poll_status"), "%s", task.Body)
	return task
}

// payload is the envelope of a JSON text.
func payload(t *testing.T, text string) json.RawMessage {
	t.Helper()
	frame, err := avro.EncodeJSON([]byte(text))
	require.NoError(t, err)
	return frame.Envelope()
}

// raw is a member's JSON text exactly as it was sent.
func raw(t *testing.T, reply *handlertest.Reply, name string) string {
	t.Helper()
	var members map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(reply.Body, &members))
	return string(members[name])
}

// testClock stands still until a test moves it.
type testClock struct {
	mu     sync.Mutex
	now    time.Time
	timers map[*testTimer]struct{}
	armed  chan struct{} // closed and replaced whenever a timer is armed
}

type testTimer struct {
	c   chan time.Time
	at  time.Time
	dur time.Duration
}

func newTestClock() *testClock {
	return &testClock{now: time.Date(2026, 1, 2, 3, 4, 5, 678_000, time.UTC), timers: map[*testTimer]struct{}{}, armed: make(chan struct{})}
}

func (c *testClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *testClock) After(d time.Duration) (<-chan time.Time, func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	timer := &testTimer{c: make(chan time.Time, 1), at: c.now.Add(d), dur: d}
	if d <= 0 {
		timer.c <- c.now
		return timer.c, func() {}
	}
	c.timers[timer] = struct{}{}
	close(c.armed)
	c.armed = make(chan struct{})
	return timer.c, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.timers, timer)
	}
}

// advance moves the time and fires what is due.
func (c *testClock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	for timer := range c.timers {
		if !timer.at.After(c.now) {
			timer.c <- c.now
			delete(c.timers, timer)
		}
	}
}

// await blocks until somebody waits for exactly d.
func (c *testClock) await(t *testing.T, d time.Duration) {
	t.Helper()
	limit := time.After(10 * time.Second)
	for {
		c.mu.Lock()
		for timer := range c.timers {
			if timer.dur == d {
				c.mu.Unlock()
				return
			}
		}
		armed := c.armed
		c.mu.Unlock()
		select {
		case <-armed:
		case <-limit:
			t.Fatalf("nobody waits for %s", d)
		}
	}
}

// shownArguments are the decoded arguments of the event at an index.
func shownArguments(t *testing.T, history *handlertest.Reply, index int) any {
	t.Helper()
	blob := history.Text("events." + strconv.Itoa(index) + ".payload.arguments.blob")
	require.NotEmpty(t, blob, "%s", history.Body)
	var shown any
	require.NoError(t, json.Unmarshal(avro.PreviewBlob(blob), &shown))
	return shown
}
