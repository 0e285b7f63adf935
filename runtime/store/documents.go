package store

import "dwserver/runtime/rules"

// Documents are what the answer to a claim is made of, read behind its lock: the event that scheduled the
// activity, or the run's input and the beginning of its history. They do not change any more.
type Documents struct {
	Input     *rules.RunInput
	Event     *rules.Event
	History   []rules.Event // of HistoryOf, from its first event on
	HistoryOf string        // "" when none is known
	Limit     int64         // most events that History would have
}

// RunInput is the input of a run, nil when it is not known.
func (d *Documents) RunInput(runID string) *rules.RunInput {
	if d.Input != nil && d.Input.RunID == runID {
		return d.Input
	}
	return nil
}

// EventAt is an event, nil when it is not known.
func (d *Documents) EventAt(runID string, sequence int64) *rules.Event {
	if ev := d.Event; ev != nil && ev.RunID == runID && ev.Sequence == sequence {
		return ev
	}
	return nil
}

// Page is what ListEvents answers; false when that is not known.
func (d *Documents) Page(runID string, after, upTo, limit int64) ([]rules.Event, bool) {
	if runID != d.HistoryOf || after != 0 || limit > d.Limit {
		return nil, false
	}
	n := 0
	for n < len(d.History) && int64(n) < limit && d.History[n].Sequence <= upTo {
		n++
	}
	return d.History[:n:n], true
}
