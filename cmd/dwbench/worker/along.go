package worker

import (
	"fmt"
	"time"
)

// stepsPerWindow is how many steps of a long run are looked at together.
const stepsPerWindow = 100

// Windows names stretches of a long run.
type Windows struct {
	First  int // around event 100
	Middle int // around event 10,000, or the last when the run is shorter
	Last   int
}

// Along are the windows of a run of activities, each of which writes three events.
func Along(steps int) Windows {
	last := (steps - 1) / stepsPerWindow
	return Windows{First: 0, Middle: min(10_000/3/stepsPerWindow, last), Last: last}
}

// AlongName is the name in Report.Latency of what a step took in a window.
func AlongName(window int) string { return fmt.Sprintf("along:%03d", window) }

// along counts the time since the step before, of the one run that a worker with a cache has.
func (w *Worker) along(resolved int) {
	if !w.opt.Cached || resolved == 0 {
		return
	}
	now := time.Now()
	w.tally.mu.Lock()
	before := w.tally.stepped
	w.tally.stepped = now
	w.tally.mu.Unlock()
	if !before.IsZero() {
		w.tally.observe(AlongName((resolved-1)/stepsPerWindow), now.Sub(before))
	}
}
