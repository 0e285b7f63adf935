package handlers

import (
	"context"
	"log/slog"
	"net/http"
	"testing"

	"dwserver/handlers/handlertest"
	"dwserver/runtime"
	"dwserver/runtime/rules"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/require"
)

// fakeEngine answers every call with err, or else with what the test set.
type fakeEngine struct {
	err      error
	panics   any
	calls    []string
	poll     runtime.PollResult
	history  runtime.HistoryPage
	state    runtime.ActivityState
	commands []rules.WorkflowCommand
	digests  [][]byte
	last     any // the last request
}

func (f *fakeEngine) call(name string, request any) error {
	f.calls = append(f.calls, name)
	f.last = request
	if f.panics != nil {
		panic(f.panics)
	}
	return f.err
}

func (f *fakeEngine) Namespace(_ context.Context, name string) (rules.Namespace, error) {
	if name == "default" || name == "other" {
		return rules.Namespace{Name: name}, nil
	}
	return rules.Namespace{}, rules.Refuse("namespace_not_found", "no")
}

func (f *fakeEngine) Register(_ context.Context, r runtime.RegisterRequest) (runtime.RegisterResult, error) {
	w := rules.Worker{WorkerID: r.WorkerID, Namespace: r.Namespace, TaskQueue: r.TaskQueue, Runtime: r.Runtime, Status: "active",
		RegistrationToken: "0123456789abcdef0123456789abcdef", CapabilityManifest: r.CapabilityManifest, BuildID: r.BuildID}
	return runtime.RegisterResult{Worker: w}, f.call("register", r)
}

func (f *fakeEngine) Deregister(_ context.Context, _, workerID string) (int64, error) {
	return 2, f.call("deregister", workerID)
}

func (f *fakeEngine) DeregisterFenced(_ context.Context, _, workerID, token string) (int64, error) {
	return 1, f.call("deregister fenced", workerID+" "+token)
}

func (f *fakeEngine) HeartbeatWorker(_ context.Context, r runtime.HeartbeatWorkerRequest) (rules.Worker, error) {
	return rules.Worker{}, f.call("heartbeat", r)
}

func (f *fakeEngine) PollWorkflowTask(_ context.Context, r runtime.PollRequest) (runtime.PollResult, error) {
	return f.poll, f.call("poll workflow", r)
}

func (f *fakeEngine) WorkflowTaskHistory(_ context.Context, r runtime.WorkflowHistoryRequest) (runtime.HistoryPage, error) {
	return f.history, f.call("history", r)
}

func (f *fakeEngine) HeartbeatWorkflowTask(_ context.Context, r runtime.WorkflowFence) (runtime.WorkflowHeartbeatResult, error) {
	return runtime.WorkflowHeartbeatResult{LeaseExpiresAt: 1, RunStatus: "waiting", TaskStatus: "leased"}, f.call("task heartbeat", r)
}

func (f *fakeEngine) CompleteWorkflowTask(_ context.Context, r runtime.CompleteWorkflowTaskRequest) (runtime.CompleteWorkflowTaskResult, error) {
	f.commands, f.digests = r.Commands, append(f.digests, r.BodyDigest)
	return runtime.CompleteWorkflowTaskResult{RunID: "R", RunStatus: "waiting", Recorded: true, LastHistorySequence: 3}, f.call("complete", r)
}

func (f *fakeEngine) FailWorkflowTask(_ context.Context, r runtime.FailWorkflowTaskRequest) (runtime.FailWorkflowTaskResult, error) {
	return runtime.FailWorkflowTaskResult{Outcome: "failed"}, f.call("fail", r)
}

func (f *fakeEngine) PollQueryTask(_ context.Context, r runtime.PollRequest) (runtime.PollResult, error) {
	return f.poll, f.call("poll query", r)
}

func (f *fakeEngine) PollActivityTask(_ context.Context, r runtime.PollRequest) (runtime.PollResult, error) {
	return f.poll, f.call("poll activity", r)
}

func (f *fakeEngine) HeartbeatActivity(_ context.Context, r runtime.HeartbeatActivityRequest) (runtime.ActivityState, error) {
	return f.state, f.call("activity heartbeat", r)
}

func (f *fakeEngine) CompleteActivity(_ context.Context, r runtime.CompleteActivityRequest) (runtime.ActivityOutcomeResult, error) {
	f.digests = append(f.digests, r.BodyDigest)
	return runtime.ActivityOutcomeResult{Outcome: "completed", Recorded: true}, f.call("activity complete", r)
}

func (f *fakeEngine) FailActivity(_ context.Context, r runtime.FailActivityRequest) (runtime.ActivityOutcomeResult, error) {
	return runtime.ActivityOutcomeResult{Outcome: "failed", Recorded: true, NextTaskID: "N"}, f.call("activity fail", r)
}

func (f *fakeEngine) ActivityStatus(_ context.Context, r runtime.ActivityFence) (runtime.ActivityState, error) {
	return f.state, f.call("activity status", r)
}

// edge serves the API on a fake engine.
func edge(t *testing.T, c Config, engine *fakeEngine) *handlertest.Client {
	t.Helper()
	return edgeWith(t, Options{Config: c}, engine)
}

func edgeWith(t *testing.T, o Options, engine *fakeEngine) *handlertest.Client {
	t.Helper()
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	s, err := newServer(o)
	require.NoError(t, err)
	s.worker, s.namespaces.source = engine, engine
	e, err := s.routes()
	require.NoError(t, err)
	return handlertest.Start(t, http.Handler(e))
}

// countingWriter counts what is answered.
type countingWriter struct {
	header http.Header
	writes int
}

func (w *countingWriter) Header() http.Header { return w.header }

func (w *countingWriter) Write(b []byte) (int, error) {
	w.writes++
	return len(b), nil
}

func (w *countingWriter) WriteHeader(int) { w.writes++ }

// contextOf is the echo context of a request with a context of its own.
func contextOf(ctx context.Context, w http.ResponseWriter) echo.Context {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "/", nil)
	if err != nil {
		panic(err)
	}
	return echo.New().NewContext(r, w)
}
