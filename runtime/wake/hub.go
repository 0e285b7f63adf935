// Package wake knows who waits for what in this process: held polls for tasks of a queue, readers
// for the next event of a run. A commit tells it what became available; it wakes as many waiters
// as there are new tasks. Nothing here touches the database.
package wake

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"dwserver/runtime/rules"
)

// Clock is the time by which work becomes due. After waits on a monotonic clock.
type Clock interface {
	Now() time.Time
	After(d time.Duration) (c <-chan time.Time, stop func())
}

// Key is what a poll waits for.
type Key struct{ Namespace, TaskQueue, Kind string }

// KindQuery is the line of polls for queries. It stands behind that of workflow tasks: a poll in it is told of
// a workflow task that no poll for workflow tasks takes.
const KindQuery = "query"

// Work is a task that is, or at At (micros) becomes, claimable.
type Work struct {
	Key
	TaskID        string // "" when not known
	TypeName      string // "" matches every poll
	Compatibility string // build that may take it, "" any
	MinProtocol   int64  // lowest protocol minor that may take it
	At            int64
}

// Poll is a held poll and what it may take.
type Poll struct {
	Key
	WorkerID      string
	Types         []string
	BuildID       string
	ProtocolMinor int64
}

// takes reports whether the poll may claim the work.
func (p *Poll) takes(work *Work) bool {
	return (work.TypeName == "" || slices.Contains(p.Types, work.TypeName)) &&
		(work.Compatibility == "" || work.Compatibility == p.BuildID) && work.MinProtocol <= p.ProtocolMinor
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
	poll   Poll
	queued bool
	woken  bool // a wake was given that Again has not taken up
	work   Work // what it was woken for
}

// Hub holds all waiters of a process. It is safe for concurrent use.
type Hub struct {
	mu      sync.Mutex
	waiters map[Key][]*Waiter
	workers map[string]map[*Waiter]struct{} // namespace and worker id → its held polls
	runs    map[string]map[chan struct{}]struct{}
	watches int // in runs
	drained bool
	later   later

	superseded atomic.Uint64
}

// New makes a hub.
func New(clock Clock) *Hub {
	h := &Hub{
		waiters: map[Key][]*Waiter{}, workers: map[string]map[*Waiter]struct{}{},
		runs: map[string]map[chan struct{}]struct{}{},
	}
	h.later = later{clock: clock, fire: h.Notify, changed: make(chan struct{}, 1)}
	return h
}

func (p *Poll) owner() string { return p.Namespace + "\x00" + p.WorkerID }

// Wait registers a held poll; call Leave when it ends. Register before looking for work, so that
// no commit falls between the look and the wait.
func (h *Hub) Wait(poll Poll) *Waiter {
	w := &Waiter{C: make(chan Reason, 1), poll: poll, queued: true}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.drained {
		w.queued = false
		w.C <- Drained
		return w
	}
	h.waiters[poll.Key] = append(h.waiters[poll.Key], w)
	set := h.workers[poll.owner()]
	if set == nil {
		set = map[*Waiter]struct{}{}
		h.workers[poll.owner()] = set
	}
	set[w] = struct{}{}
	return w
}

// Again takes up the wake that a waiter received and puts the waiter back in line, before it looks
// for work again. The wake is the caller's now: one it cannot follow must go to Leave.
func (h *Hub) Again(w *Waiter) *Work {
	h.mu.Lock()
	defer h.mu.Unlock()
	work := w.work
	w.woken = false
	switch {
	case w.queued:
	case h.drained:
		offer(w, Drained)
	default:
		w.queued = true
		h.waiters[w.poll.Key] = append(h.waiters[w.poll.Key], w)
	}
	return &work
}

// Leave ends a wait. took is the task the poll took, "" for none; owed is the wake it took up but
// could not follow to the end. A wake that was for another task than the one taken goes to the next
// waiter, or its task would lie there while others wait for it.
func (h *Hub) Leave(w *Waiter, took string, owed *Work) {
	h.mu.Lock()
	h.remove(w)
	if set := h.workers[w.poll.owner()]; set != nil {
		delete(set, w)
		if len(set) == 0 {
			delete(h.workers, w.poll.owner())
		}
	}
	woken, work := w.woken, w.work
	h.mu.Unlock()
	if woken && !work.is(took) {
		h.Notify(work)
	}
	if owed != nil && !owed.is(took) {
		h.Notify(*owed)
	}
}

func (w *Work) is(taskID string) bool { return w.TaskID != "" && w.TaskID == taskID }

func (h *Hub) remove(w *Waiter) {
	if !w.queued {
		return
	}
	w.queued = false
	list := h.waiters[w.poll.Key]
	if i := slices.Index(list, w); i >= 0 {
		list = slices.Delete(list, i, i+1)
	}
	if len(list) == 0 {
		delete(h.waiters, w.poll.Key)
	} else {
		h.waiters[w.poll.Key] = list
	}
}

// Notify wakes one waiter that may take a task, now or when the task becomes available.
func (h *Hub) Notify(work Work) {
	if work.At > h.later.clock.Now().UnixMicro() {
		h.later.add(work)
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if behind := work.Key; !h.wake(work.Key, &work) && behind.Kind == rules.KindWorkflow {
		behind.Kind = KindQuery
		h.wake(behind, &work)
	}
}

// wake tells the first waiter of a line that may take the work, and reports whether there was one.
func (h *Hub) wake(line Key, work *Work) bool {
	for _, w := range h.waiters[line] {
		if w.poll.takes(work) {
			h.remove(w)
			w.woken, w.work = true, *work
			offer(w, Worked)
			return true
		}
	}
	return false
}

func offer(w *Waiter, r Reason) {
	select {
	case w.C <- r:
	default:
		if r != Worked { // an end outranks a wake; Leave passes the wake on
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
	h.superseded.Add(1)
	for w := range h.workers[namespace+"\x00"+workerID] {
		h.remove(w)
		offer(w, Superseded)
	}
}

// Replace ends the held polls of a worker in one line, as drained: it asks anew.
func (h *Hub) Replace(poll Poll) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for w := range h.workers[poll.owner()] {
		if w.poll.Key == poll.Key {
			h.remove(w)
			offer(w, Drained)
		}
	}
}

// Superseded counts the calls of Supersede. What was read of a registration before a poll waited still holds
// when the count is as it was before that read.
func (h *Hub) Superseded() uint64 { return h.superseded.Load() }

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
	h.watches = 0
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
	h.watches++
	return c, func() { h.unwatch(runID, c) }
}

func (h *Hub) unwatch(runID string, c chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	set := h.runs[runID]
	if _, there := set[c]; !there {
		return
	}
	h.watches--
	delete(set, c)
	if len(set) == 0 {
		delete(h.runs, runID)
	}
}

// Watching is how many watches there are.
func (h *Hub) Watching() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.watches
}

// Changed tells the readers of a run that it has new events.
func (h *Hub) Changed(runID string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for c := range h.runs[runID] {
		close(c)
	}
	h.watches -= len(h.runs[runID])
	delete(h.runs, runID)
}
