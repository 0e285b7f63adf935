package carriertest

import (
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"dwserver/runtime"
	"dwserver/runtime/store"
)

const (
	namespace    = "default"
	workflowType = "order"
	activityType = "charge"
	minor        = 20
)

// world is an engine on an empty database. Its clock stands still and nothing runs in the background, so
// an operation always takes the same statements.
type world struct {
	*runtime.Engine
	store  *tap
	probe  *probe // nil when nobody looks
	clock  *stillClock
	ids    func() string
	scenes int
}

// newWorld opens a world whose store works as in production; change may be nil.
func newWorld(t *testing.T, empty Empty, change func(*runtime.Options)) *world {
	t.Helper()
	return openWorld(t, empty, nil, change)
}

// newProbedWorld opens a world whose statements are seen. Its store may work without the caches that it has
// otherwise.
func newProbedWorld(t *testing.T, empty Empty) *world {
	t.Helper()
	return openWorld(t, empty, &probe{}, nil)
}

func openWorld(t *testing.T, empty Empty, p *probe, change func(*runtime.Options)) *world {
	t.Helper()
	w := &world{probe: p, clock: &stillClock{now: time.Date(2026, 1, 2, 3, 4, 5, 678_000, time.UTC)}}
	var options store.Options
	if p != nil {
		options.Probe = p.see
	}
	st, _ := empty.open(t, options)
	w.store = &tap{Store: st}
	ids := &counter{}
	w.ids = ids.New
	opt := runtime.Options{
		Clock: w.clock, IDs: ids, Logger: slog.New(slog.DiscardHandler),
	}
	if change != nil {
		change(&opt)
	}
	w.Engine = runtime.New(w.store, opt)
	t.Cleanup(w.Close)
	return w
}

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

func (c *stillClock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// counter makes ids that grow and are easy to recognise; they are as long as the real ones.
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

// scene is a worker, a queue and workflows of its own in a world, so that scenes do not meet.
type scene struct {
	*world
	t     *testing.T
	tag   string // part of every name of the scene
	runs  []string
	tasks []string                       // workflow tasks that were leased
	polls []pollRequest                  // polls whose receipts are part of the scene's state
	size  int64                          // decoded bytes of an activity's result
	how   func(*runtime.RegisterRequest) // how its worker is registered beside what the case says
	// retried makes failures that may be tried again
	retried bool
	last    int
}

type pollRequest struct{ worker, kind, id string }

func (w *world) scene(t *testing.T) *scene {
	w.scenes++
	return &scene{world: w, t: t, size: 3, tag: fmt.Sprintf("s%04d", w.scenes)}
}

func (s *scene) worker() string { return "worker-" + s.tag }
func (s *scene) queue() string  { return "queue-" + s.tag }

// name is a name that nothing else in the scene has.
func (s *scene) name(kind string) string {
	s.last++
	return fmt.Sprintf("%s-%s-%d", kind, s.tag, s.last)
}

// register registers the scene's worker; change may be nil.
func (s *scene) register(change func(*runtime.RegisterRequest)) {
	s.t.Helper()
	req := runtime.RegisterRequest{
		Namespace: namespace, WorkerID: s.worker(), TaskQueue: s.queue(), Runtime: "go", ProtocolMinor: minor,
		WorkflowTypes: []string{workflowType}, ActivityTypes: []string{activityType},
		MaxWorkflowTasks: 10, MaxActivityTasks: 10, MaxSessions: 1,
	}
	for _, change := range []func(*runtime.RegisterRequest){s.how, change} {
		if change != nil {
			change(&req)
		}
	}
	_, err := s.Register(s.t.Context(), req)
	require.NoError(s.t, err)
}

func concurrent(req *runtime.RegisterRequest) { req.Capabilities = []string{"concurrent_slots"} }

// defined registers the definition of the workflow type, as workers do that check for changed code.
func defined(req *runtime.RegisterRequest) {
	req.Fingerprints = map[string]string{workflowType: "one"}
	req.Contracts = map[string][]byte{workflowType: []byte(`{}`)}
}

// payload is an envelope that says something.
func payload(text string) []byte { return []byte(`{"codec":"avro","blob":"` + text + `"}`) }

// start starts a workflow.
func (s *scene) start() {
	s.t.Helper()
	result, err := s.StartWorkflow(s.t.Context(), runtime.StartRequest{
		Namespace: namespace, WorkflowID: s.name("workflow"), WorkflowType: workflowType, TaskQueue: s.queue(),
		Arguments: payload("AAAA"), Priority: 5, FairnessWeight: 1,
	})
	require.NoError(s.t, err)
	s.runs = append(s.runs, result.Run.RunID)
}

// poll is the poll of the scene's worker under a new id.
func (s *scene) poll() runtime.PollRequest {
	return runtime.PollRequest{
		Namespace: namespace, WorkerID: s.worker(), TaskQueue: s.queue(), PollRequestID: s.name("poll"), ProtocolMinor: minor,
	}
}

// pollWorkflow leases the next workflow task, which must be there.
func (s *scene) pollWorkflow() *runtime.WorkflowTaskAnswer {
	s.t.Helper()
	got, err := s.PollWorkflowTask(s.t.Context(), s.poll())
	require.NoError(s.t, err)
	require.NotNil(s.t, got.Workflow, got.Status)
	s.tasks = append(s.tasks, got.Workflow.Task.TaskID)
	return got.Workflow
}

// pollActivity leases the next activity task, which must be there.
func (s *scene) pollActivity() *runtime.ActivityTaskAnswer {
	s.t.Helper()
	got, err := s.PollActivityTask(s.t.Context(), s.poll())
	require.NoError(s.t, err)
	require.NotNil(s.t, got.Activity, got.Status)
	return got.Activity
}
