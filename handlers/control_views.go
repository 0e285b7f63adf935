package handlers

import (
	"time"

	"dwserver/gen/control"
	"dwserver/runtime/rules"
)

// commandSource is how every command of this plane reaches a run.
const commandSource = "control_plane"

// emptyObject is the JSON of an object without members.
var emptyObject = []byte("{}")

// positiveOrNull is a pointer to a number, nil where 0 means absent.
func positiveOrNull(n int64) *int64 {
	if n == 0 {
		return nil
	}
	return &n
}

// instantOrNull is an instant in wire form, nil for one that has not come or never will.
func instantOrNull(micros int64) *string {
	if micros == 0 || micros == rules.Never {
		return nil
	}
	text := rules.FormatTime(micros)
	return &text
}

// calendarTime is the second precision of namespace rows (control-plane.md 1.7).
func calendarTime(micros int64) string {
	return time.UnixMicro(micros).UTC().Format("2006-01-02T15:04:05+00:00")
}

// objectOrEmpty is a stored JSON object, {} where there is none: maps are never null on this plane.
func objectOrEmpty(object []byte) []byte {
	if len(object) == 0 {
		return emptyObject
	}
	return object
}

// bucket is the coarse status that lists filter by (control-plane.md 1.9).
func bucket(status string) control.StatusBucket {
	switch status {
	case rules.RunPending, rules.RunRunning, rules.RunWaiting:
		return control.StatusBucketRunning
	case rules.RunCompleted:
		return control.StatusBucketCompleted
	}
	return control.StatusBucketFailed
}

// fleet is what a run's build pin says about the workers that may take it.
type fleet struct {
	pin       *string
	status    string
	supported bool
	reason    *string
}

// fleetOf judges a run's compatibility. Any worker may take a run without a pin; which builds are
// running now is not looked at.
func fleetOf(run *rules.Run) fleet {
	if run.Compatibility == "" {
		return fleet{status: "compatible", supported: true}
	}
	reason := "Workers of build " + run.Compatibility + " are needed; the fleet was not looked at."
	return fleet{pin: orNil(run.Compatibility), status: "pinned", supported: true, reason: &reason}
}
