package wake

import (
	"container/heap"
	"sync"
	"time"
)

// maxSleep bounds one sleep, so that a step of the wall clock is noticed.
const maxSleep = time.Second

// later holds work that becomes available at a known time and notifies it then. One goroutine serves
// all of it, and only while there is any.
type later struct {
	clock   Clock
	fire    func(Work)
	changed chan struct{} // the earliest work is another one, or there is none any more

	mu      sync.Mutex
	heap    workHeap
	running bool
	ended   bool
}

func (l *later) add(w Work) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return
	}
	first := len(l.heap) == 0 || w.At < l.heap[0].At
	heap.Push(&l.heap, w)
	switch {
	case !l.running:
		l.running = true
		go l.run()
	case first:
		l.change()
	}
}

func (l *later) change() {
	select {
	case l.changed <- struct{}{}:
	default:
	}
}

func (l *later) run() {
	for {
		due, pause, more := l.take()
		for _, w := range due {
			l.fire(w)
		}
		if !more {
			return
		}
		c, stop := l.clock.After(pause)
		select {
		case <-c:
		case <-l.changed:
		}
		stop()
	}
}

// take removes what is due and tells how long to wait for the next; more is false when nothing is
// left, and then the goroutine is no longer running.
func (l *later) take() (due []Work, pause time.Duration, more bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.clock.Now()
	for len(l.heap) > 0 && l.heap[0].At <= now.UnixMicro() {
		due = append(due, heap.Pop(&l.heap).(Work))
	}
	if len(l.heap) == 0 {
		l.running = false
		return due, 0, false
	}
	return due, min(time.UnixMicro(l.heap[0].At).Sub(now), maxSleep), true
}

func (l *later) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	l.heap = nil
	l.change()
}

type workHeap []Work

func (h workHeap) Len() int           { return len(h) }
func (h workHeap) Less(i, j int) bool { return h[i].At < h[j].At }
func (h workHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *workHeap) Push(x any)        { *h = append(*h, x.(Work)) }
func (h *workHeap) Pop() any {
	old := *h
	w := old[len(old)-1]
	*h = old[:len(old)-1]
	return w
}
