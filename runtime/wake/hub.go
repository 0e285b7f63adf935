// Package wake knows who waits for what in this process: held polls for tasks of a queue, readers
// for the next event of a run. A commit tells it what became available; it wakes as many waiters
// as there are new tasks. Nothing here touches the database.
package wake

import (
	"slices"
	"sync"
	"time"
)

// Key is what a poll waits for.
type Key struct{ Namespace, TaskQueue, Kind string }

// Work is a task that is, or at At (micros) becomes, claimable.
type Work struct {
	Key
	TypeName string
	At       int64
}

// Reason says why a wait ended.
type Reason int

// Reasons to wake.
const (
	Worked     Reason = iota // work may be there: look again
	Superseded               // the worker registered anew or is gone
	Drained                  // the server is going down
)

// Waiter is one held poll.
type Waiter struct {
	C      chan Reason // buffered; one reason at most
	key    Key
	worker string
	types  []string
	work   Work // what it was woken for
	queued bool
}

// Hub holds all waiters of a process. It is safe for concurrent use.
type Hub struct {
	mu      sync.Mutex
	waiters map[Key][]*Waiter
	workers map[string]map[*Waiter]struct{} // namespace and worker id → its held polls
	runs    map[string]map[chan struct{}]struct{}
	drained bool
	now     func() time.Time
	later   later
}

// New makes a hub. now is the wall clock by which work becomes due.
func New(now func() time.Time) *Hub {
	h := &Hub{
		waiters: map[Key][]*Waiter{}, workers: map[string]map[*Waiter]struct{}{},
		runs: map[string]map[chan struct{}]struct{}{}, now: now,
	}
	h.later.fire = h.Notify
	h.later.now = now
	return h
}

// Wait registers a held poll; call Leave when it ends. Register before looking for work, so that
// no commit falls between the look and the wait.
func (h *Hub) Wait(key Key, workerID string, types []string) *Waiter {
	w := &Waiter{C: make(chan Reason, 1), key: key, worker: key.Namespace + "\x00" + workerID, types: types, queued: true}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.drained {
		w.queued = false
		w.C <- Drained
		return w
	}
	h.waiters[key] = append(h.waiters[key], w)
	set := h.workers[w.worker]
	if set == nil {
		set = map[*Waiter]struct{}{}
		h.workers[w.worker] = set
	}
	set[w] = struct{}{}
	return w
}

// Again puts a woken waiter back in line, before it looks for work again.
func (h *Hub) Again(w *Waiter) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case w.queued:
	case h.drained:
		offer(w, Drained)
	default:
		w.queued = true
		h.waiters[w.key] = append(h.waiters[w.key], w)
	}
}

// Leave ends a wait. used says that the poll took a task; if it did not, a wake it was given and
// never acted on goes to the next waiter.
func (h *Hub) Leave(w *Waiter, used bool) {
	h.mu.Lock()
	h.remove(w)
	if set := h.workers[w.worker]; set != nil {
		delete(set, w)
		if len(set) == 0 {
			delete(h.workers, w.worker)
		}
	}
	var pass *Work
	select {
	case r := <-w.C:
		if r == Worked && !used {
			pass = &w.work
		}
	default:
	}
	h.mu.Unlock()
	if pass != nil {
		h.Notify(*pass)
	}
}

func (h *Hub) remove(w *Waiter) {
	if !w.queued {
		return
	}
	w.queued = false
	list := h.waiters[w.key]
	if i := slices.Index(list, w); i >= 0 {
		list = slices.Delete(list, i, i+1)
	}
	if len(list) == 0 {
		delete(h.waiters, w.key)
	} else {
		h.waiters[w.key] = list
	}
}

// Notify wakes one waiter for a task, now or when the task becomes available.
func (h *Hub) Notify(work Work) {
	if work.At > h.now().UnixMicro() {
		h.later.add(work)
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, w := range h.waiters[work.Key] {
		if work.TypeName != "" && !slices.Contains(w.types, work.TypeName) {
			continue
		}
		h.remove(w)
		w.work = work
		offer(w, Worked)
		return
	}
}

func offer(w *Waiter, r Reason) {
	select {
	case w.C <- r:
	default:
		if r != Worked { // an end outranks a wake that nobody has taken yet
			select {
			case <-w.C:
			default:
			}
			w.C <- r
		}
	}
}

// Supersede ends the held polls of a worker: it registered anew, or its registration is gone.
func (h *Hub) Supersede(namespace, workerID string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for w := range h.workers[namespace+"\x00"+workerID] {
		h.remove(w)
		offer(w, Superseded)
	}
}

// Drain ends every wait, those that begin later too.
func (h *Hub) Drain() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.drained = true
	for _, list := range h.waiters {
		for _, w := range list {
			w.queued = false
			offer(w, Drained)
		}
	}
	h.waiters = map[Key][]*Waiter{}
	for id, set := range h.runs {
		for c := range set {
			close(c)
		}
		delete(h.runs, id)
	}
	h.later.stop()
}

// Draining reports whether Drain was called.
func (h *Hub) Draining() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.drained
}

// Waiting is how many polls are held.
func (h *Hub) Waiting() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := 0
	for _, set := range h.workers {
		n += len(set)
	}
	return n
}

// Watch returns a channel that closes at the run's next commit with new events; stop ends the watch.
func (h *Hub) Watch(runID string) (changed <-chan struct{}, stop func()) {
	c := make(chan struct{})
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.drained {
		close(c)
		return c, func() {}
	}
	set := h.runs[runID]
	if set == nil {
		set = map[chan struct{}]struct{}{}
		h.runs[runID] = set
	}
	set[c] = struct{}{}
	return c, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if set := h.runs[runID]; set != nil {
			delete(set, c)
			if len(set) == 0 {
				delete(h.runs, runID)
			}
		}
	}
}

// Changed tells the readers of a run that it has new events.
func (h *Hub) Changed(runID string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for c := range h.runs[runID] {
		close(c)
	}
	delete(h.runs, runID)
}
