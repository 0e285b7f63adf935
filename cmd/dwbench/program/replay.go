package program

import (
	"time"

	"dwserver/cmd/dwbench/wire"
)

// Replay counts the steps of a history that comes in pages.
type Replay struct {
	State
	FireAt time.Time // when the last timer was due
	Fired  time.Time // when it fired
}

// Page adds one page of history events. Errors: wire.ErrMalformed.
func (r *Replay) Page(events []byte) error {
	var err error
	outer := wire.Elements(events, func(event []byte) bool {
		err = r.event(event)
		return err == nil
	})
	if err != nil {
		return err
	}
	return outer
}

func (r *Replay) event(event []byte) error {
	var kind string
	var payload []byte
	err := wire.Members(event, func(name, value []byte) bool {
		switch string(name) {
		case "event_type":
			kind = wire.Text(value)
		case "payload":
			payload = value
		}
		return true
	})
	switch kind {
	case "ActivityScheduled", "TimerScheduled", "SignalWaitOpened":
		r.Opened++
	case "ActivityCompleted":
		r.Resolved++
	case "SignalReceived":
		// Every signal is for a wait, also one that came before its wait was opened.
		r.Resolved++
	case "TimerFired":
		r.Resolved++
		if err == nil {
			err = r.fired(payload)
		}
	}
	return err
}

func (r *Replay) fired(payload []byte) error {
	return wire.Members(payload, func(name, value []byte) bool {
		switch string(name) {
		case "fire_at":
			r.FireAt, _ = time.Parse(time.RFC3339Nano, wire.Text(value))
		case "fired_at":
			r.Fired, _ = time.Parse(time.RFC3339Nano, wire.Text(value))
		}
		return true
	})
}
