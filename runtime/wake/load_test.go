package wake_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"dwserver/runtime/runtimetest"
	"dwserver/runtime/wake"
)

// TestNoWorkForgotten is the hub's promise under load: polls look, wait, fail half-way or are superseded
// while tasks appear. Whoever took a task or failed is away until the round is over, so a task whose wake
// was lost lies there with idle polls beside it: those of worker w2, who never fail and suffice for all.
func TestNoWorkForgotten(t *testing.T) {
	const rounds, tasks, pollers = 1000, 4, 12
	h := wake.New(runtimetest.NewClock())
	b := &board{ready: map[string]bool{}, over: make(chan struct{})}
	var wg sync.WaitGroup
	for i := range pollers {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(i), 7))
			for b.work(h, fmt.Sprint("w", i%3), r) {
			}
		})
	}
	for round := range rounds {
		var makers sync.WaitGroup
		for i := range tasks {
			makers.Go(func() {
				id := fmt.Sprint(round, "-", i)
				b.add(id)
				h.Notify(work(id, "x"))
			})
		}
		makers.Go(func() { h.Supersede("default", "w0") })
		makers.Wait()
		if !b.awaitTaken((round + 1) * tasks) {
			break
		}
	}
	b.close()
	wg.Wait()
	require.Equal(t, rounds*tasks, b.taken, "a task that nobody was woken for")
	require.Zero(t, h.Waiting())
}

// board is where tasks lie until somebody takes one.
type board struct {
	mu    sync.Mutex
	ready map[string]bool
	taken int
	over  chan struct{} // closed when the round's tasks are all taken
	ended bool
}

func (b *board) add(id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ready[id] = true
}

func (b *board) take() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	for id := range b.ready {
		delete(b.ready, id)
		b.taken++
		return id
	}
	return ""
}

// awaitTaken waits until so many tasks were taken and lets those who took them go on.
func (b *board) awaitTaken(n int) bool {
	deadline := time.After(20 * time.Second)
	for {
		b.mu.Lock()
		if b.taken == n {
			close(b.over)
			b.over = make(chan struct{})
			b.mu.Unlock()
			return true
		}
		b.mu.Unlock()
		select {
		case <-deadline:
			return false
		default:
		}
	}
}

func (b *board) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended = true
	close(b.over)
}

func (b *board) round() (over chan struct{}, ended bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.over, b.ended
}

// work is one poll, and the time until its worker polls again.
func (b *board) work(h *wake.Hub, worker string, r *rand.Rand) bool {
	over, ended := b.round()
	if ended {
		return false
	}
	b.poll(h, worker, r, over)
	<-over
	return true
}

// poll is one poll as the engine runs it; those of worker w1 are cancelled now and then before they look.
func (b *board) poll(h *wake.Hub, worker string, r *rand.Rand, over chan struct{}) {
	w := h.Wait(poll(worker, "x"))
	var task string
	var owed *wake.Work
	defer func() { h.Leave(w, task, owed) }()
	for {
		if owed != nil && worker == "w1" && r.IntN(2) == 0 {
			return
		}
		if task = b.take(); task != "" {
			return
		}
		owed = nil
		select {
		case why := <-w.C:
			if why != wake.Worked {
				return
			}
			owed = h.Again(w)
		case <-over:
			return
		}
	}
}
