package null

import (
	"io"
	"net/http"
	"strconv"
	"time"

	"dwserver/cmd/dwbench/wire"
)

// Server serves the null API.
type Server struct {
	state *state
}

// New returns a server without workflows.
func New() *Server { return &Server{newState()} }

// Handler routes the operations that the benchmark's fleet uses.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	handle := func(pattern string, fn func(*http.Request, *request) []byte) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return // the client is gone
			}
			in, err := readRequest(body)
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			answer(w, fn(r, in))
		})
	}
	handle("POST /api/workflows", s.start)
	handle("POST /api/worker/register", s.register)
	handle("POST /api/worker/workflow-tasks/poll", func(r *http.Request, in *request) []byte { return s.poll(r, in, workflowKind) })
	handle("POST /api/worker/activity-tasks/poll", func(r *http.Request, in *request) []byte { return s.poll(r, in, activityKind) })
	handle("POST /api/worker/workflow-tasks/{id}/complete", s.completeWorkflow)
	handle("POST /api/worker/activity-tasks/{id}/complete", s.completeActivity)
	mux.HandleFunc("GET /api/closed", func(w http.ResponseWriter, _ *http.Request) {
		s.state.mu.Lock()
		defer s.state.mu.Unlock()
		answer(w, strconv.AppendInt(nil, int64(s.state.closed), 10))
	})
	return mux
}

func answer(w http.ResponseWriter, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body) // a client that is gone polls again
}

func (s *Server) start(_ *http.Request, in *request) []byte {
	r := s.state.start(in.workflowType)
	var o wire.Object
	o.Text("workflow_id", in.workflowID)
	o.Text("run_id", r.id)
	return o.Bytes()
}

func (s *Server) register(_ *http.Request, in *request) []byte {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	s.state.single[in.workerID] = in.single
	return []byte(`{"registered":true}`)
}

func (s *Server) poll(r *http.Request, in *request, k kind) []byte {
	s.state.mu.Lock()
	t := s.state.claim(k, in.workerID, in.pollRequestID)
	if t != nil || in.timeoutSeconds == 0 {
		defer s.state.mu.Unlock()
		return granted(k, t)
	}
	w := s.state.wait(k, in.workerID, in.pollRequestID)
	s.state.mu.Unlock()
	deadline := time.NewTimer(time.Duration(in.timeoutSeconds) * time.Second)
	defer deadline.Stop()
	select {
	case t = <-w.grant:
	case <-deadline.C:
	case <-r.Context().Done():
	}
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	s.state.leave(k, w)
	if t == nil {
		select {
		case t = <-w.grant: // it came at the same moment
		default:
		}
	}
	return granted(k, t)
}

func (s *Server) completeWorkflow(r *http.Request, in *request) []byte {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	out := s.state.completeWorkflow(r.PathValue("id"), in.commands)
	return s.completed(in, out, nil)
}

func (s *Server) completeActivity(r *http.Request, in *request) []byte {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	out := s.state.completeActivity(r.PathValue("id"), in.continuation)
	if in.continuation == nil || !out.answered {
		return s.completed(in, out, nil)
	}
	var o wire.Object
	o.Bool("accepted", true)
	o.Integer("last_history_sequence", out.run.sequence)
	return s.completed(in, out, o.Bytes())
}

// completed answers a completion, after the polls that it carries.
func (s *Server) completed(in *request, out outcome, continuation []byte) []byte {
	var o wire.Object
	o.Text("outcome", "completed")
	o.Bool("recorded", out.answered)
	if out.answered {
		for _, k := range [...]kind{activityKind, workflowKind} {
			poll := in.polls[k]
			if poll == nil {
				continue
			}
			t := s.state.claim(k, in.workerID, poll.pollRequestID)
			o.Raw([...]string{"workflow_poll", "activity_poll"}[k], carried(k, t))
			if t != nil && s.state.single[in.workerID] {
				break
			}
		}
	}
	if continuation != nil {
		o.Raw("workflow_continuation", continuation)
	}
	o.Integer("last_history_sequence", out.run.sequence)
	return o.Bytes()
}

func carried(k kind, t *task) []byte {
	if t == nil {
		return []byte(`{"leased":false,"reason":"empty"}`)
	}
	var o wire.Object
	o.Bool("leased", true)
	o.Raw("answer", granted(k, t))
	return o.Bytes()
}

// granted is the answer to a poll; a nil task means that there is none.
func granted(k kind, t *task) []byte {
	if t == nil {
		return []byte(`{"poll_status":"empty","task":null}`)
	}
	var o wire.Object
	o.Text("task_id", t.id)
	o.Text("run_id", t.run.id)
	o.Text("workflow_type", t.run.kind)
	if k == activityKind {
		o.Text("activity_attempt_id", t.id)
		o.Integer("run_history_sequence", t.run.sequence)
	} else {
		o.Integer("workflow_task_attempt", 1)
		o.Integer("last_history_sequence", t.run.sequence)
		o.Raw("history_events", history(t.run))
	}
	return append(append([]byte(`{"poll_status":"leased","task":`), o.Bytes()...), '}')
}

// history is as much of a history as the workers count.
func history(r *run) []byte {
	out := []byte(`[{"event_type":"WorkflowStarted"}`)
	for i := range r.scheduled {
		out = append(out, `,{"event_type":"ActivityScheduled"}`...)
		if i < r.resolved {
			out = append(out, `,{"event_type":"ActivityCompleted"}`...)
		}
	}
	return append(out, ']')
}
