package worker

import (
	"sync"
	"time"

	"dwserver/cmd/dwbench/latency"
)

// Report is what a worker process tells when it ends.
type Report struct {
	Latency map[string]*latency.Histogram `json:"latency"` // by operation, as the worker saw it
	Counts  map[string]int64              `json:"counts"`  // leases, declines, retries
	CPU     time.Duration                 `json:"cpu"`     // of the process since it was ready
	Closed  int64                         `json:"closed"`  // workflows this worker closed
	Last    int64                         `json:"last"`    // Unix nanoseconds of the last of them
}

// Add sums another worker's report up in this one.
func (r *Report) Add(other *Report) {
	for name, h := range other.Latency {
		if r.Latency[name] == nil {
			r.Latency[name] = &latency.Histogram{}
		}
		r.Latency[name].Merge(h)
	}
	for name, n := range other.Counts {
		r.Counts[name] += n
	}
	r.CPU += other.CPU
	r.Closed += other.Closed
	r.Last = max(r.Last, other.Last)
}

// tally counts what a worker sees.
type tally struct {
	mu      sync.Mutex
	latency map[string]*latency.Histogram
	counts  map[string]int64
	done    int64
	last    int64
	stepped time.Time // when the last step of a long run was
}

func (t *tally) request(operation string, took time.Duration, retried bool) {
	t.observe(operation, took)
	if retried {
		t.count("retries")
	}
}

func (t *tally) observe(name string, d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	h := t.latency[name]
	if h == nil {
		if t.latency == nil {
			t.latency = map[string]*latency.Histogram{}
		}
		h = &latency.Histogram{}
		t.latency[name] = h
	}
	h.Add(d)
}

func (t *tally) count(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.counts == nil {
		t.counts = map[string]int64{}
	}
	t.counts[name]++
}

// closed records that a workflow was closed: the server has acknowledged it.
func (t *tally) closed() {
	now := time.Now().UnixNano()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.done++
	t.last = now
}

// Closed is how many workflows this worker has closed, and when the last of them was, in Unix nanoseconds.
func (w *Worker) Closed() (n, last int64) {
	w.tally.mu.Lock()
	defer w.tally.mu.Unlock()
	return w.tally.done, w.tally.last
}

// Report sums up. Call it when Run has returned.
func (w *Worker) Report() Report {
	w.tally.mu.Lock()
	defer w.tally.mu.Unlock()
	return Report{Latency: w.tally.latency, Counts: w.tally.counts, Closed: w.tally.done, Last: w.tally.last}
}
