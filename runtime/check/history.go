package check

import (
	"encoding/json"
	"slices"
	"strconv"
)

// historyInvariants are what a history holds by itself, with what each says.
var historyInvariants = [][2]string{
	{"history_sequence", "The events of a run are numbered from 1 without a gap, up to its last_history_sequence."},
	{"history_document", "The document of an event decodes."},
	{"history_size", "A run's history_size_bytes is what its events take."},
	{"history_steps", "A run's last_step_sequence is the largest authored sequence of its steps."},
	{"history_start", "A history begins with how the run started, and tells of it once."},
	{"history_close", "A closed run ends with one closing event, which fits its status; an open one has none."},
	{"step_scheduled", "An authored sequence is scheduled once, before anything else of its step."},
	{"step_ended", "A step ends at most once, and nothing follows its end."},
	{"step_attempts", "The attempts of an activity start in the order of their numbers, each once."},
}

// history is one run's history being looked at.
type history struct {
	run    run
	found  []Violation
	events int64
	size   int64
	step   int64 // largest authored sequence
	closed int   // closing events
	last   event
	steps  map[stepKey]*step
}

func newHistory(r run) *history { return &history{run: r, steps: map[stepKey]*step{}} }

// document is what the events' documents are looked at for.
type document struct {
	Sequence int64 `json:"sequence"`
	Attempt  int64 `json:"attempt_number"`
}

// closing are the events that close a run, with the statuses and reasons they leave it in.
var closing = map[string][2]string{
	"WorkflowCompleted":      {"completed", "completed"},
	"WorkflowFailed":         {"failed", "failed"},
	"WorkflowTimedOut":       {"failed", "timed_out"},
	"WorkflowContinuedAsNew": {"completed", "continued"},
	"WorkflowCancelled":      {"cancelled", "cancelled"},
	"WorkflowTerminated":     {"terminated", "terminated"},
}

// add looks at the next event.
func (h *history) add(e *event) {
	h.events++
	h.size += int64(len(e.payload) + len(e.kind))
	if e.sequence != h.last.sequence+1 {
		h.violate("history_sequence", e, Field{"after", strconv.FormatInt(h.last.sequence, 10)})
	}
	h.start(e)
	if _, ok := closing[e.kind]; ok {
		h.closed++
	}
	var d document
	if err := json.Unmarshal(e.payload, &d); err != nil {
		h.violate("history_document", e, Field{"error", err.Error()})
	}
	if isStep(e.kind) {
		h.step = max(h.step, d.Sequence)
		h.authored(e, &d)
	}
	h.last = *e
	h.last.payload = nil
}

// start looks at how the history begins: the first run was accepted, every run was started.
func (h *history) start(e *event) {
	want := []string{"StartAccepted", "WorkflowStarted"}
	if h.run.number > 1 {
		want = want[1:]
	}
	at := int(e.sequence) - 1
	expected := at >= 0 && at < len(want) && want[at] == e.kind
	if expected != slices.Contains(want, e.kind) || at >= 0 && at < len(want) && !expected {
		h.violate("history_start", e)
	}
}

// end looks at the history as a whole.
func (h *history) end() {
	if h.last.sequence != h.run.lastSequence {
		h.violate("history_sequence", &h.last, number("last_history_sequence", h.run.lastSequence))
	}
	if h.size != h.run.sizeBytes {
		h.violate("history_size", &h.last, number("history_size_bytes", h.run.sizeBytes), number("bytes", h.size))
	}
	if h.step != h.run.lastStep {
		h.violate("history_steps", &h.last, number("last_step_sequence", h.run.lastStep), number("steps", h.step))
	}
	left, closes := closing[h.last.kind]
	open := h.run.closedReason == ""
	switch {
	case open && h.closed > 0, !open && h.closed != 1, !open && !closes,
		!open && (left[0] != h.run.status || left[1] != h.run.closedReason),
		!open && h.last.sequence != h.run.closedEventSequence:
		h.violate("history_close", &h.last, Field{"status", h.run.status}, Field{"closed_reason", h.run.closedReason},
			number("closing_events", int64(h.closed)))
	}
}

func (h *history) violate(invariant string, e *event, more ...Field) {
	h.found = append(h.found, Violation{Invariant: invariant, Fields: append([]Field{
		{"run_id", h.run.id}, number("sequence", e.sequence), {"event_type", e.kind},
	}, more...)})
}

func number(name string, value int64) Field { return Field{name, strconv.FormatInt(value, 10)} }
