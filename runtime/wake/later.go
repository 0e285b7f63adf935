package wake

import (
	"container/heap"
	"sync"
	"time"
)

// maxSleep bounds one sleep, so that a step of the wall clock is noticed.
const maxSleep = time.Second

// later holds work that becomes available at a known time and notifies it then, with one timer for all.
type later struct {
	mu    sync.Mutex
	heap  workHeap
	timer *time.Timer
	fire  func(Work)
	now   func() time.Time
	ended bool
}

func (l *later) add(w Work) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return
	}
	heap.Push(&l.heap, w)
	if l.heap[0] == w {
		l.arm()
	}
}

// arm sets the timer for the earliest work. Callers hold mu.
func (l *later) arm() {
	d := min(time.UnixMicro(l.heap[0].At).Sub(l.now()), maxSleep)
	if l.timer == nil {
		l.timer = time.AfterFunc(max(d, 0), l.run)
		return
	}
	l.timer.Reset(max(d, 0))
}

func (l *later) run() {
	l.mu.Lock()
	now := l.now().UnixMicro()
	var due []Work
	for len(l.heap) > 0 && l.heap[0].At <= now {
		due = append(due, heap.Pop(&l.heap).(Work))
	}
	if len(l.heap) > 0 && !l.ended {
		l.arm()
	}
	l.mu.Unlock()
	for _, w := range due {
		l.fire(w)
	}
}

func (l *later) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	l.heap = nil
	if l.timer != nil {
		l.timer.Stop()
	}
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
