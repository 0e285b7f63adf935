package rules

import "slices"

// keys are the members by which a wait's events, and those of its timeout timer, name it.
func (w *Wait) keys() []byte {
	o := NewObject(384)
	if w.Kind == WaitSignal {
		return o.Str("signal_wait_id", w.WaitID).Str("signal_name", w.Name).Bytes()
	}
	return o.Str("condition_wait_id", w.WaitID).Str("condition_key", w.Name).
		Str("condition_definition_fingerprint", w.Fingerprint).
		Str("condition_wait_occurrence_id", w.OccurrenceID).Bytes()
}

// event starts the payload of a wait's own events.
func (w *Wait) event() *Object {
	o := NewObject(640).Members(w.keys()).Int("sequence", w.Sequence)
	if w.TimeoutSeconds >= 0 {
		o.Int("timeout_seconds", w.TimeoutSeconds)
	}
	return o
}

// keysOf are the members of a timer's events that name its wait, nil for a plain timer.
func (ws *Waits) keysOf(timer *Timer) []byte {
	for i := range ws.Open {
		if timer.WaitID != "" && ws.Open[i].WaitID == timer.WaitID {
			return ws.Open[i].keys()
		}
	}
	return nil
}

// openWait records a wait's opening event and, when it has a timeout, its timer. timerKind "" makes none.
func (t *Transition) openWait(w Wait, eventType, timerKind string, fireAt int64) *Wait {
	w.RunID, w.Status, w.CreatedAt = t.Run.RunID, WaitOpen, t.Now
	t.Run.OpenWaits++
	w.OpenedSequence = t.Record(eventType, w.Sequence, w.event().Members(w.Parallel))
	if w.TimeoutSeconds > 0 && timerKind != "" {
		timer := t.startTimer(Timer{
			Sequence: w.Sequence, Kind: timerKind, WaitID: w.WaitID,
			DelaySeconds: w.TimeoutSeconds, FireAt: fireAt, Parallel: w.Parallel,
		}, w.keys())
		w.TimerID = timer.TimerID
	}
	t.Eff.NewWaits = append(t.Eff.NewWaits, w)
	return &t.Eff.NewWaits[len(t.Eff.NewWaits)-1]
}

// Waits are the open waits and received signals of a run, as a completion sees and changes them.
type Waits struct {
	Open    []Wait   // ordered by opening
	Timers  []Timer  // pending timers of the run; only those of waits are looked at here
	Signals []Signal // received, ordered by command sequence
	unmet   []int64  // steps of condition waits in groups that the completing worker found false again
}

// open is the open wait of an id, nil when there is none.
func (ws *Waits) open(id string) *Wait {
	for i := range ws.Open {
		if w := &ws.Open[i]; w.WaitID == id && w.Status == WaitOpen {
			return w
		}
	}
	return nil
}

// newestCondition is the condition wait a signal closes.
func (ws *Waits) newestCondition() *Wait {
	for i := len(ws.Open) - 1; i >= 0; i-- {
		if w := &ws.Open[i]; w.Kind == WaitCondition && w.Status == WaitOpen {
			return w
		}
	}
	return nil
}

// newestMet is newestCondition without the waits of a group that the completing worker sent again: it found
// those still false, and their place in the group lets no other wait take over from them.
func (ws *Waits) newestMet() *Wait {
	for i := len(ws.Open) - 1; i >= 0; i-- {
		if w := &ws.Open[i]; w.Kind == WaitCondition && w.Status == WaitOpen && !slices.Contains(ws.unmet, w.Sequence) {
			return w
		}
	}
	return nil
}

// signalWait is the open signal wait that a signal answers.
func (ws *Waits) signalWait(s *Signal) *Wait {
	for i := range ws.Open {
		w := &ws.Open[i]
		if w.Kind == WaitSignal && w.Status == WaitOpen && w.WaitID == s.WaitID && w.Name == s.Name {
			return w
		}
	}
	return nil
}

// openByName is the oldest open signal wait of a name that no received signal is bound to yet.
func (ws *Waits) openByName(name string) *Wait {
	for i := range ws.Open {
		w := &ws.Open[i]
		if w.Kind != WaitSignal || w.Status != WaitOpen || w.Name != name || ws.taken(w.WaitID) {
			continue
		}
		return w
	}
	return nil
}

func (ws *Waits) taken(waitID string) bool {
	for i := range ws.Signals {
		if ws.Signals[i].WaitID == waitID && ws.Signals[i].Status == SignalReceived {
			return true
		}
	}
	return false
}

// eligible is the earliest signal that may wake the run (6.5): any while a condition wait is open,
// else one whose own signal wait is open.
func (ws *Waits) eligible() *Signal {
	condition := ws.newestCondition() != nil
	for i := range ws.Signals {
		s := &ws.Signals[i]
		if s.Status == SignalReceived && (condition || ws.signalWait(s) != nil) {
			return s
		}
	}
	return nil
}

func (ws *Waits) signal(id string) *Signal {
	for i := range ws.Signals {
		if ws.Signals[i].SignalID == id && ws.Signals[i].Status == SignalReceived {
			return &ws.Signals[i]
		}
	}
	return nil
}

// timer is the pending timeout timer of a wait, nil when it has none.
func (ws *Waits) timer(w *Wait) *Timer {
	for i := range ws.Timers {
		if w.TimerID != "" && ws.Timers[i].TimerID == w.TimerID && ws.Timers[i].Status == TimerPending {
			return &ws.Timers[i]
		}
	}
	return nil
}

// unbound is the earliest received signal of a name whose own wait is not open.
func (ws *Waits) unbound(name string) *Signal {
	for i := range ws.Signals {
		s := &ws.Signals[i]
		if s.Status == SignalReceived && s.Name == name && ws.signalWait(s) == nil {
			return s
		}
	}
	return nil
}

// carriedWaitID is the wait id that an unapplied signal gets in the next run: the one it would have had
// there, unless a wait of this run has taken that id.
func (ws *Waits) carriedWaitID(s *Signal, next *Run) string {
	id := "signal-command:" + s.CommandID
	for i := range ws.Open {
		if ws.Open[i].WaitID == id {
			return id + ":" + next.RunID
		}
	}
	return id
}

// reopened is the newest open condition wait where it is this very wait opened before: a worker that was
// woken for something else and stands at the wait as before sends it again.
func (ws *Waits) reopened(w *Wait) *Wait {
	old := ws.newestCondition()
	if old == nil || len(w.Parallel) > 0 || len(old.Parallel) > 0 || old.Name != w.Name || old.Fingerprint != w.Fingerprint ||
		old.TimeoutSeconds != w.TimeoutSeconds || old.OccurrenceID != w.OccurrenceID {
		return nil
	}
	return old
}

// occurrence is the newest wait of an occurrence id: still open, or closed by this completion's signal.
func (ws *Waits) occurrence(id string) *Wait {
	for i := len(ws.Open) - 1; i >= 0; i-- {
		if ws.Open[i].OccurrenceID == id {
			return &ws.Open[i]
		}
	}
	return nil
}

// timerOf is a wait's timeout timer whatever became of it, nil when it has none.
func (ws *Waits) timerOf(w *Wait) *Timer {
	for i := range ws.Timers {
		if w.TimerID != "" && ws.Timers[i].TimerID == w.TimerID {
			return &ws.Timers[i]
		}
	}
	return nil
}
