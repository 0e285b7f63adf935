package carriertest

import (
	"context"
	"sync"

	"dwserver/runtime/rules"
	"dwserver/runtime/store"
)

// tap is a store with hooks between the runtime and the database, for what a statement's name cannot
// express: something that happens right before a transaction, and documents that come back damaged.
type tap struct {
	store.Store
	mu     sync.Mutex
	before func()                                    // run once, before the next transaction
	worker func()                                    // run once, after the next ReadWorker
	event  func(ev rules.Event) (rules.Event, error) // what the next transaction's GetEvent answers
	reads  int                                       // reads since damageAt was set
	damage int                                       // the read whose documents are damaged, 0 for none
	hit    bool                                      // that read had documents
}

// next runs fn once, before the next transaction begins: after whatever was read without one.
func (s *tap) next(fn func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before = fn
}

// admitted runs fn once, after the next registration was read without a transaction.
func (s *tap) admitted(fn func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.worker = fn
}

// Transition implements store.Store.
func (s *tap) Transition(ctx context.Context, fn func(context.Context, store.Tx) error) error {
	s.mu.Lock()
	before := s.before
	s.before = nil
	s.mu.Unlock()
	if before != nil {
		before()
	}
	return s.Store.Transition(ctx, func(ctx context.Context, tx store.Tx) error {
		return fn(ctx, tapped{tx, s})
	})
}

// damageAt damages the documents that read n returns, of the reads from now on; 0 stops it.
func (s *tap) damageAt(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads, s.damage, s.hit = 0, n, false
}

// damaged reports whether the read was reached and returned a document.
func (s *tap) damaged() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hit
}

// counted is how many reads there were since damageAt.
func (s *tap) counted() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reads
}

// passed counts a read and cuts its documents in half when it is the one to damage.
func (s *tap) passed(docs ...*[]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads++
	if s.reads != s.damage {
		return
	}
	for _, doc := range docs {
		if n := len(*doc); n > 1 {
			cut := make([]byte, n/2)
			copy(cut, *doc)
			*doc, s.hit = cut, true
		}
	}
}

// read passes a registration that was read, and does once what was asked for after that.
func (s *tap) read(w *rules.Worker) {
	s.passed(workerDocs(w)...)
	s.mu.Lock()
	after := s.worker
	s.worker = nil
	s.mu.Unlock()
	if after != nil {
		after()
	}
}

// ReadWorker implements store.Reader.
func (s *tap) ReadWorker(ctx context.Context, namespace, workerID string) (rules.Worker, error) {
	w, err := s.Store.ReadWorker(ctx, namespace, workerID)
	s.read(&w)
	return w, err
}

// ReadPoll implements store.Reader.
func (s *tap) ReadPoll(ctx context.Context, key store.PollKey) (rules.Worker, *rules.PollReceipt, error) {
	w, receipt, err := s.Store.ReadPoll(ctx, key)
	s.read(&w)
	return w, receipt, err
}

// tapped is a transaction of a tap.
type tapped struct {
	store.Tx
	tap *tap
}

func workerDocs(w *rules.Worker) []*[]byte {
	return []*[]byte{&w.WorkflowTypes, &w.ActivityTypes, &w.Capabilities, &w.Fingerprints}
}

func lockedDocs(l *store.Locked) []*[]byte {
	if l == nil {
		return nil
	}
	return append(workerDocs(&l.Owner), &l.Task.Payload, &l.Activity.RetryPolicy, &l.Activity.Parallel)
}

func (t tapped) LockTask(ctx context.Context, kind, taskID, attemptID string) (*store.Locked, error) {
	l, err := t.Tx.LockTask(ctx, kind, taskID, attemptID)
	t.tap.passed(lockedDocs(l)...)
	return l, err
}

func (t tapped) Claim(ctx context.Context, c store.Claim) (*store.Locked, error) {
	l, err := t.Tx.Claim(ctx, c)
	t.tap.passed(lockedDocs(l)...)
	return l, err
}

func (t tapped) ShareWorker(ctx context.Context, namespace, workerID string) (rules.Worker, error) {
	w, err := t.Tx.ShareWorker(ctx, namespace, workerID)
	t.tap.passed(workerDocs(&w)...)
	return w, err
}

func (t tapped) GetTask(ctx context.Context, taskID string) (rules.Task, error) {
	task, err := t.Tx.GetTask(ctx, taskID)
	t.tap.passed(&task.Payload)
	return task, err
}

func (t tapped) GetActivity(ctx context.Context, executionID string) (rules.Activity, error) {
	act, err := t.Tx.GetActivity(ctx, executionID)
	t.tap.passed(&act.RetryPolicy, &act.Parallel)
	return act, err
}

func (t tapped) GetRunInput(ctx context.Context, runID string) (rules.RunInput, error) {
	in, err := t.Tx.GetRunInput(ctx, runID)
	t.tap.passed(&in.Arguments)
	return in, err
}

func (t tapped) GetEvent(ctx context.Context, runID string, sequence int64) (rules.Event, error) {
	ev, err := t.Tx.GetEvent(ctx, runID, sequence)
	t.tap.passed(&ev.Payload)
	t.tap.mu.Lock()
	answer := t.tap.event
	t.tap.event = nil
	t.tap.mu.Unlock()
	if err == nil && answer != nil {
		return answer(ev)
	}
	return ev, err
}

func (t tapped) ListEvents(ctx context.Context, runID string, after, upTo, limit int64) ([]rules.Event, error) {
	events, err := t.Tx.ListEvents(ctx, runID, after, upTo, limit)
	docs := make([]*[]byte, len(events))
	for i := range events {
		docs[i] = &events[i].Payload
	}
	t.tap.passed(docs...)
	return events, err
}
