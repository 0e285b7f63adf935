// Package null is a server that grants and forgets: the HTTP surface that the benchmark's workers use, over
// queues in memory. What a workload takes against it is the fleet's own cost: timers that overshoot, an
// uneven end, HTTP.
package null

import (
	"strconv"
	"sync"
)

// kind is a kind of task.
type kind int

const (
	workflowKind kind = iota
	activityKind
)

// run is all that is remembered of a workflow.
type run struct {
	id        string
	kind      string // workflow type
	scheduled int
	resolved  int
	sequence  int64
	closed    bool
}

// task is one task of a run; both ids of an activity are its own.
type task struct {
	id      string
	run     *run
	receipt string // of the poll that leased it
}

// waiter is a held poll.
type waiter struct {
	poller string     // worker and kind
	id     string     // poll request id
	grant  chan *task // buffered; gets at most one task
}

// state is everything the server knows.
type state struct {
	mu      sync.Mutex
	runs    int
	closed  int
	tasks   int
	single  map[string]bool // workers of single capacity
	leased  map[string]*task
	ready   [2]queue[*task]
	waiting [2]queue[*waiter]
	granted map[string]*task // leased tasks by worker, kind and poll request, for a poll whose answer was lost
}

func newState() *state {
	return &state{single: map[string]bool{}, leased: map[string]*task{}, granted: map[string]*task{}}
}

// queue is first in, first out.
type queue[T any] struct {
	items []T
	head  int
}

func (q *queue[T]) push(item T) { q.items = append(q.items, item) }

func (q *queue[T]) pop() (item T, ok bool) {
	if q.head == len(q.items) {
		return item, false
	}
	var none T
	item, q.items[q.head] = q.items[q.head], none
	if q.head++; q.head == len(q.items) {
		q.items, q.head = q.items[:0], 0
	}
	return item, true
}

// remove takes the first item that matches out of the middle.
func (q *queue[T]) remove(matches func(T) bool) {
	for i := q.head; i < len(q.items); i++ {
		if matches(q.items[i]) {
			q.items = append(q.items[:i], q.items[i+1:]...)
			return
		}
	}
}

func (s *state) start(workflowType string) *run {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.runs++
	r := &run{id: "run-" + strconv.Itoa(s.runs), kind: workflowType, sequence: 2}
	s.enqueue(workflowKind, r)
	return r
}

// enqueue makes a task and hands it to the first held poll.
func (s *state) enqueue(k kind, r *run) {
	s.tasks++
	t := &task{id: "task-" + strconv.Itoa(s.tasks), run: r}
	if w, ok := s.waiting[k].pop(); ok {
		s.lease(k, t, w.poller, w.id)
		w.grant <- t
		return
	}
	s.ready[k].push(t)
}

func poller(worker string, k kind) string { return worker + "/" + strconv.Itoa(int(k)) + "/" }

// claim leases the next task, or a lease that the same poll request was already granted.
func (s *state) claim(k kind, worker, pollRequestID string) *task {
	if t := s.granted[poller(worker, k)+pollRequestID]; t != nil {
		return t
	}
	t, ok := s.ready[k].pop()
	if !ok {
		return nil
	}
	s.lease(k, t, poller(worker, k), pollRequestID)
	return t
}

func (s *state) lease(k kind, t *task, poller, pollRequestID string) {
	s.leased[t.id] = t
	t.receipt = poller + pollRequestID
	s.granted[t.receipt] = t
	if k == activityKind {
		t.run.sequence++ // ActivityStarted
	}
}

// wait holds a poll. A held poll of the same request, whose client is gone, ends.
func (s *state) wait(k kind, worker, pollRequestID string) *waiter {
	w := &waiter{poller(worker, k), pollRequestID, make(chan *task, 1)}
	s.waiting[k].remove(func(other *waiter) bool { return other.poller == w.poller && other.id == w.id })
	s.waiting[k].push(w)
	return w
}

// leave ends the wait of a poll that got nothing.
func (s *state) leave(k kind, w *waiter) {
	s.waiting[k].remove(func(other *waiter) bool { return other == w })
}

// outcome is what a completion did.
type outcome struct {
	run      *run
	created  int
	answered bool // false for a task that is not leased: a repeat
}

// completeWorkflow applies commands.
func (s *state) completeWorkflow(id string, c commands) outcome {
	t := s.take(id)
	if t == nil {
		return outcome{run: &run{}}
	}
	s.apply(t.run, c)
	return outcome{t.run, c.activities, true}
}

func (s *state) apply(r *run, c commands) {
	r.sequence += int64(c.events)
	r.scheduled += c.activities
	for range c.activities {
		s.enqueue(activityKind, r)
	}
	if c.closes && !r.closed {
		r.closed = true
		s.closed++
	}
}

// completeActivity resolves an activity and goes on with the run when it was the last one open: by the
// commands of a continuation, else by a workflow task.
func (s *state) completeActivity(id string, next *commands) outcome {
	t := s.take(id)
	if t == nil {
		return outcome{run: &run{}}
	}
	r := t.run
	r.resolved++
	r.sequence++
	switch {
	case r.resolved < r.scheduled:
	case next != nil:
		s.apply(r, *next)
	default:
		s.enqueue(workflowKind, r)
	}
	return outcome{run: r, answered: true}
}

func (s *state) take(id string) *task {
	t := s.leased[id]
	if t != nil {
		delete(s.leased, id)
		delete(s.granted, t.receipt)
	}
	return t
}
