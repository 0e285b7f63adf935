// Package locking is what the engines with row locks share: how transitions of a run wait for each
// other inside a process, and when a transition runs again.
package locking

import (
	"context"
	"sync"
)

// Queue lets the transitions of one run that this process has wait for each other before they
// take a connection, so that a busy run does not occupy the pool. It saves waiting in the database
// and orders nothing: that is the row lock's doing, and a transition leaves the queue when its
// COMMIT starts (write-path.md 1). Only a transition that holds nothing yet may wait here.
type Queue struct {
	mu   sync.Mutex
	runs map[string]*place
	// runOf remembers the runs of tasks seen lately, in two generations.
	runOf, older map[string]string
}

type place struct {
	turn    chan struct{} // holds a token while nobody is at it
	waiting int
}

// NewQueue makes an empty queue.
func NewQueue() *Queue {
	return &Queue{runs: map[string]*place{}, runOf: map[string]string{}, older: map[string]string{}}
}

// Enter waits for the run's turn. The result leaves the queue, and may be called more than once.
func (q *Queue) Enter(ctx context.Context, runID string) (leave func(), err error) {
	q.mu.Lock()
	p := q.runs[runID]
	if p == nil {
		p = &place{turn: make(chan struct{}, 1)}
		p.turn <- struct{}{}
		q.runs[runID] = p
	}
	p.waiting++
	q.mu.Unlock()
	select {
	case <-p.turn:
		return sync.OnceFunc(func() { q.leave(runID, p, true) }), nil
	case <-ctx.Done():
		q.leave(runID, p, false)
		return nil, ctx.Err()
	}
}

func (q *Queue) leave(runID string, p *place, turn bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if p.waiting--; p.waiting == 0 {
		delete(q.runs, runID)
	}
	if turn {
		p.turn <- struct{}{}
	}
}

// generation bounds what is remembered: two times so many tasks.
const generation = 10_000

// Remember notes the run of a task.
func (q *Queue) Remember(taskID, runID string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.runOf) >= generation {
		q.runOf, q.older = make(map[string]string, generation), q.runOf
	}
	q.runOf[taskID] = runID
}

// Run is the run of a task, "" when it is not remembered.
func (q *Queue) Run(taskID string) string {
	q.mu.Lock()
	defer q.mu.Unlock()
	if id, ok := q.runOf[taskID]; ok {
		return id
	}
	return q.older[taskID]
}
