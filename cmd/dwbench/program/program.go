// Package program holds the workflows of the benchmark: what a deterministic workflow does next, given
// what its history has resolved.
package program

import (
	"strconv"
	"time"
)

// Kinds of steps a workflow can be made of.
const (
	Sequence = "sequence" // one activity after the other
	Parallel = "parallel" // all activities at once, in one group
	Local    = "local"    // one activity after the other, in the workflow's own worker
	Signals  = "signals"  // one signal wait after the other
	Timer    = "timer"    // one timer that is due at a given second
)

// Names the benchmark registers.
const (
	ActivityType = "work"
	SignalName   = "go"
)

// Program is one kind of workflow. Its kind is its workflow type.
type Program struct {
	Kind  string        `json:"kind"`
	Steps int           `json:"steps"`           // how many of them
	Work  time.Duration `json:"work"`            // how long an activity takes
	DueAt int64         `json:"due_at,omitzero"` // Timer: fires in the second before this Unix time
}

// State is what a replay found.
type State struct {
	Opened   int // steps that were commanded
	Resolved int // steps among them that have ended
}

// Waiting reports whether a step is still open, so that the workflow has nothing to do.
func (p *Program) Waiting(s State) bool {
	return s.Resolved < s.Opened
}

// Commands appends the JSON array of the commands that come next, and reports how many steps it opens and
// whether it closes the workflow. Now decides the delay of a timer; nothing else depends on it.
func (p *Program) Commands(out []byte, s State, now time.Time) (text []byte, opens int, closes bool) {
	switch {
	case p.Waiting(s):
		return append(out, "[]"...), 0, false
	case p.Kind == Local:
		return p.locals(out), 0, true
	case p.finished(s):
		return append(out, `[{"type":"complete_workflow","result":`+Result+`}]`...), 0, true
	}
	switch p.Kind {
	case Parallel:
		return p.group(out), p.Steps, false
	case Signals:
		return append(out, `[{"type":"open_signal_wait","signal_name":"`+SignalName+`"}]`...), 1, false
	case Timer:
		delay := max(0, p.DueAt-now.Unix()-1)
		out = append(out, `[{"type":"start_timer","delay_seconds":`...)
		return append(strconv.AppendInt(out, delay, 10), "}]"...), 1, false
	}
	return append(out, "["+activity+"}]"...), 1, false
}

// finished reports whether every step was commanded; of a workflow that is not waiting they have ended, too.
func (p *Program) finished(s State) bool {
	return s.Opened >= p.Steps
}

const activity = `{"type":"schedule_activity","activity_type":"` + ActivityType + `","arguments":` + Arguments

func (p *Program) group(out []byte) []byte {
	out = append(out, '[')
	for i := range p.Steps {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, activity+`,"parallel_group_kind":"activity","parallel_group_base_sequence":1,"parallel_group_id":"parallel-activities:1:`...)
		out = strconv.AppendInt(out, int64(p.Steps), 10)
		out = append(out, `","parallel_group_size":`...)
		out = strconv.AppendInt(out, int64(p.Steps), 10)
		out = append(out, `,"parallel_group_index":`...)
		out = strconv.AppendInt(out, int64(i), 10)
		out = append(out, '}')
	}
	return append(out, ']')
}

// locals reports all local activities and closes the workflow: they have already run.
func (p *Program) locals(out []byte) []byte {
	out = append(out, '[')
	for range p.Steps {
		out = append(out, `{"type":"record_local_activity","activity_type":"`+ActivityType+`","outcome":"completed","arguments":`+Arguments+
			`,"result":`+Result+`,"attempts":[{"attempt_number":1,"outcome":"completed","duration_ms":`...)
		out = strconv.AppendInt(out, p.Work.Milliseconds(), 10)
		out = append(out, `}]},`...)
	}
	return append(out, `{"type":"complete_workflow","result":`+Result+`}]`...)
}

// Payloads, in the form of the wire: the arguments [1] and the result 1.
const (
	Arguments = `{"codec":"avro","blob":"wwHioz3/VYAiNwwCBAIA"}`
	Result    = `{"codec":"avro","blob":"wwHioz3/VYAiNwQC"}`
)
