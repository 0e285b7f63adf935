// Package worker is a worker process of the benchmark: it speaks the worker protocol and nothing more.
// It is a correct client: its workflows are deterministic, a request that got no answer is repeated with
// the same ids, and a lease that an unread answer granted is asked for again under its poll request id.
package worker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"dwserver/cmd/dwbench/program"
	"dwserver/cmd/dwbench/wire"
)

// Mode is how a worker gets its next task.
type Mode string

// The modes, each with what the one before has.
const (
	Poll     Mode = "poll"     // by polls of its own
	Carry    Mode = "carry"    // also with its completions (carried-polls.md 1)
	Continue Mode = "continue" // and completes the next workflow task with an activity (carried-polls.md 6)
)

// Options say what a worker is.
type Options struct {
	Address string // of the server, host:port
	ID      string
	Queue   string
	Program program.Program
	Mode    Mode
	// Slots is how many tasks of each kind run side by side. 0 is single capacity: one task of any kind.
	Slots int
	// Cached workers ask for short history pages and rely on what they remember of a run.
	Cached bool
}

// holdSeconds is how long polls ask to be held.
const holdSeconds = 30

// Headers of both planes of the API, as wire.NewClient takes them.
const (
	WorkerHeaders  = "X-Durable-Workflow-Protocol-Version: 1.20\r\n"
	ControlHeaders = "X-Durable-Workflow-Control-Plane-Version: 2\r\n"
)

// Worker runs the tasks of one registration.
type Worker struct {
	opt    Options
	client *wire.Client
	runs   runs
	ids    ids
	tally  tally

	workflowSlots, activitySlots chan struct{} // free slots; nil with single capacity

	stop   context.CancelFunc
	failed chan error // the first fault
	work   sync.WaitGroup
}

// New returns a worker that is not registered yet.
func New(opt Options) *Worker {
	w := &Worker{opt: opt, client: wire.NewClient(opt.Address, WorkerHeaders), failed: make(chan error, 1)}
	w.ids.prefix = opt.ID + "-"
	if opt.Slots > 0 {
		w.workflowSlots, w.activitySlots = make(chan struct{}, opt.Slots), make(chan struct{}, opt.Slots)
		for range opt.Slots {
			w.workflowSlots <- struct{}{}
			w.activitySlots <- struct{}{}
		}
	}
	return w
}

// Run polls and works until the context ends, then finishes the tasks in hand. Any answer that the
// protocol does not foresee ends it with an error.
func (w *Worker) Run(ctx context.Context) error {
	ctx, w.stop = context.WithCancel(ctx)
	defer w.stop()
	if w.opt.Slots == 0 {
		w.goDo(func() error { return w.single(ctx) })
	} else {
		w.goDo(func() error { return w.pollSlots(ctx, workflowKind, w.workflowSlots) })
		w.goDo(func() error { return w.pollSlots(ctx, activityKind, w.activitySlots) })
	}
	w.work.Wait()
	select {
	case err := <-w.failed:
		return err
	default:
		return nil
	}
}

// goDo runs fn beside the others. Its error ends the worker.
func (w *Worker) goDo(fn func() error) {
	w.work.Go(func() {
		if err := fn(); err != nil {
			select {
			case w.failed <- err:
			default: // not the first
			}
			w.stop()
		}
	})
}

// Register announces the worker. Errors: wire.StatusError for a refusal.
func (w *Worker) Register() error {
	var o wire.Object
	o.Text("worker_id", w.opt.ID)
	o.Text("task_queue", w.opt.Queue)
	o.Text("runtime", "go")
	o.Text("sdk_version", "dwbench")
	o.Raw("supported_workflow_types", []byte(`["`+w.opt.Program.Kind+`"]`))
	o.Raw("supported_activity_types", []byte(`["`+program.ActivityType+`"]`))
	var capabilities []string
	slots := max(w.opt.Slots, 1)
	if w.opt.Slots > 0 {
		capabilities = append(capabilities, `"concurrent_slots"`)
	}
	local := w.opt.Program.Kind == program.Local
	if local {
		capabilities = append(capabilities, `"local_activities"`)
	}
	o.Raw("capabilities", []byte("["+strings.Join(capabilities, ",")+"]"))
	o.Raw("capability_manifest", fmt.Appendf(nil, `{"local_activities":%s,"worker_sessions":%s,"sticky_execution":%s}`,
		manifestEntry(local), manifestEntry(false), manifestEntry(false)))
	o.Integer("max_concurrent_workflow_tasks", int64(slots))
	o.Integer("max_concurrent_activity_tasks", int64(slots))
	conn := w.client.Get()
	defer w.client.Put(conn)
	const path = "/worker/register"
	r, _, err := conn.Post(path, o.Bytes())
	if err != nil {
		return err
	}
	return wire.Check(path, r)
}

func manifestEntry(supported bool) string {
	return fmt.Sprintf(`{"supported":%t,"minimum_protocol_version":"1.18"}`, supported)
}

// post sends one report of a task and counts its latency.
func (w *Worker) post(conn *wire.Conn, operation, path string, body []byte) (wire.Response, bool, error) {
	began := time.Now()
	r, retried, err := conn.Post(path, body)
	if err != nil {
		return r, retried, fmt.Errorf("%s: %w", path, err)
	}
	w.tally.request(operation, time.Since(began), retried)
	return r, retried, wire.Check(path, r)
}

// interrupted reports whether an error only says that the worker itself gave a request up.
func interrupted(err error) bool { return errors.Is(err, wire.ErrInterrupted) }
