package writetest

import (
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"dwserver/runtime"
	"dwserver/runtime/rules"
	"dwserver/runtime/store"
)

const (
	namespace    = "default"
	queue        = "queue"
	workflowType = "order"
	activityType = "charge"
	worker       = "worker"
	minor        = 20
)

// world is an engine on an empty database. Its clock stands still and nothing runs in the background.
type world struct {
	*runtime.Engine
	t     *testing.T
	store store.Store
	url   string
	probe *probe
	clock *stillClock
	ids   *counter
	last  int
}

// newWorld opens a world; limits may be nil.
func newWorld(t *testing.T, empty Empty, limits *rules.Limits) *world {
	t.Helper()
	return openWorld(t, empty(t), limits)
}

func openWorld(t *testing.T, url string, limits *rules.Limits) *world {
	t.Helper()
	w := &world{
		t: t, url: url, probe: &probe{}, ids: &counter{},
		clock: &stillClock{now: time.Date(2026, 1, 2, 3, 4, 5, 678_000, time.UTC)},
	}
	w.store = openStore(t, url, store.Options{Probe: w.probe.see})
	w.Engine = runtime.New(w.store, runtime.Options{
		Clock: w.clock, IDs: w.ids, Logger: slog.New(slog.DiscardHandler), Limits: limits,
	})
	t.Cleanup(w.Close)
	return w
}

// engine is the scheme of the world's database.
func (w *world) engine() string { return engineOf(w.url) }

// stillClock moves only when it is told to; what waits on it never ends.
type stillClock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *stillClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *stillClock) After(time.Duration) (<-chan time.Time, func()) { return nil, func() {} }

// counter makes ids that grow, as long as the real ones.
type counter struct {
	mu   sync.Mutex
	last int
}

func (c *counter) New() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last++
	return fmt.Sprintf("ID%024d", c.last)
}

// name is a name that nothing else has.
func (w *world) name(kind string) string {
	w.last++
	return fmt.Sprintf("%s-%d", kind, w.last)
}

// register registers the worker, of single capacity, which runs local activities.
func (w *world) register() {
	w.t.Helper()
	_, err := w.Register(w.t.Context(), runtime.RegisterRequest{
		Namespace: namespace, WorkerID: worker, TaskQueue: queue, Runtime: "go", ProtocolMinor: minor,
		WorkflowTypes: []string{workflowType}, ActivityTypes: []string{activityType},
		MaxWorkflowTasks: 10, MaxActivityTasks: 10, MaxSessions: 1,
		Capabilities:       []string{"local_activities"},
		CapabilityManifest: []byte(`{"local_activities":{"supported":true,"minimum_protocol_version":"1.18"}}`),
	})
	require.NoError(w.t, err)
}

// start starts a workflow and returns its run id.
func (w *world) start() string {
	w.t.Helper()
	result, err := w.StartWorkflow(w.t.Context(), runtime.StartRequest{
		Namespace: namespace, WorkflowID: w.name("workflow"), WorkflowType: workflowType, TaskQueue: queue,
		Arguments: payload(4), Priority: 5, FairnessWeight: 1,
	})
	require.NoError(w.t, err)
	return result.Run.RunID
}

func (w *world) poll() runtime.PollRequest {
	return runtime.PollRequest{
		Namespace: namespace, WorkerID: worker, TaskQueue: queue, PollRequestID: w.name("poll"), ProtocolMinor: minor,
	}
}

// workflowTask leases the next workflow task, which must be there.
func (w *world) workflowTask() *runtime.WorkflowTaskAnswer {
	w.t.Helper()
	got, err := w.PollWorkflowTask(w.t.Context(), w.poll())
	require.NoError(w.t, err)
	require.NotNil(w.t, got.Workflow, got.Status)
	return got.Workflow
}

// activityTask leases the next activity task, which must be there.
func (w *world) activityTask() *runtime.ActivityTaskAnswer {
	w.t.Helper()
	got, err := w.PollActivityTask(w.t.Context(), w.poll())
	require.NoError(w.t, err)
	require.NotNil(w.t, got.Activity, got.Status)
	return got.Activity
}

// leased is a new run whose first workflow task the worker holds.
func (w *world) leased() *runtime.WorkflowTaskAnswer {
	w.t.Helper()
	w.start()
	return w.workflowTask()
}

// complete completes a workflow task that its worker holds. It may carry polls.
func (w *world) complete(task *runtime.WorkflowTaskAnswer, carriers runtime.Carriers, commands ...rules.WorkflowCommand) (runtime.CompleteWorkflowTaskResult, error) {
	return w.CompleteWorkflowTask(w.t.Context(), runtime.CompleteWorkflowTaskRequest{
		WorkflowFence: runtime.WorkflowFence{
			Namespace: namespace, TaskID: task.Task.TaskID, LeaseOwner: task.Task.LeaseOwner, Attempt: task.Task.AttemptCount,
		},
		Commands: commands, BodyDigest: []byte("digest"), ProtocolMinor: minor, Carriers: carriers,
	})
}

// done is complete without carriers that must succeed.
func (w *world) done(task *runtime.WorkflowTaskAnswer, commands ...rules.WorkflowCommand) {
	w.t.Helper()
	_, err := w.complete(task, runtime.Carriers{}, commands...)
	require.NoError(w.t, err)
}

// completeActivity completes an activity. It may carry polls.
func (w *world) completeActivity(task *runtime.ActivityTaskAnswer, carriers runtime.Carriers) (runtime.ActivityOutcomeResult, error) {
	return w.CompleteActivity(w.t.Context(), runtime.CompleteActivityRequest{
		ActivityFence: runtime.ActivityFence{
			Namespace: namespace, TaskID: task.Task.TaskID, AttemptID: task.Attempt.AttemptID, LeaseOwner: task.Task.LeaseOwner,
		},
		Result: payload(4), ResultSize: 3, BodyDigest: []byte("digest"), Carriers: carriers,
	})
}

// both are polls of both kinds for a completion to carry.
func (w *world) both() runtime.Carriers {
	return runtime.Carriers{
		ActivityPoll: &runtime.CarriedPoll{PollRequest: w.poll()}, WorkflowPoll: &runtime.CarriedPoll{PollRequest: w.poll()},
	}
}

// history is all events of a run; their sequences are contiguous from 1 and end where the run says.
func (w *world) history(runID string) []rules.Event {
	w.t.Helper()
	events, err := w.store.ListEvents(w.t.Context(), runID, 0, rules.Never, 100_000)
	require.NoError(w.t, err)
	for i := range events {
		require.EqualValues(w.t, i+1, events[i].Sequence, "a gap in the history")
	}
	run, err := w.store.ReadRun(w.t.Context(), runID)
	require.NoError(w.t, err)
	require.EqualValues(w.t, len(events), run.LastHistorySequence)
	return events
}

// cancel cancels a workflow.
func (w *world) cancel(workflowID string) {
	w.t.Helper()
	_, err := w.CancelWorkflow(w.t.Context(), runtime.CloseRequest{Target: runtime.Target{Namespace: namespace, WorkflowID: workflowID}})
	require.NoError(w.t, err)
}
