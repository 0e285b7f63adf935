package rules

import (
	"encoding/json"
	"strconv"
)

// Extras are the members of a completion beside its commands that need capabilities of their own.
type Extras struct {
	MessageStreams bool // cursors or waits that are not empty
	StickyCache    bool
}

// CheckGates refuses what a completion needs above the request's protocol version (3.2), or of its
// owner's registration; nothing is recorded. It is judged after the fence.
func CheckGates(commands []WorkflowCommand, extras Extras, minor int64, owner *Worker) *Refusal {
	version := "1." + strconv.FormatInt(minor, 10)
	if r := extras.gate(minor, owner); r != nil {
		return r.With("requested_version", version)
	}
	for i := range commands {
		c := &commands[i]
		var r *Refusal
		switch {
		case c.Type == "open_condition_wait" && c.ConditionWaitOccurrenceID != nil && minor < HighestHistoryFloor:
			r = gate("condition_wait_occurrence_identity_unavailable", "", "1.17",
				"A condition wait occurrence id needs worker protocol 1.17.").
				With("command_type", c.Type).With("command_field", "condition_wait_occurrence_id")
		case c.WorkerSession != nil:
			r = gate("worker_sessions_unavailable", "worker_sessions", "1.18",
				"Worker sessions are not available on this server.")
		case c.Type == "record_local_activity":
			r = localGate(minor, owner)
		}
		if r != nil {
			return r.With("requested_version", version)
		}
	}
	return nil
}

// gate judges the extras. Streams are not built; a sticky cache is a hint that only counts for a worker
// that registered it.
func (x Extras) gate(minor int64, owner *Worker) *Refusal {
	switch {
	case x.MessageStreams:
		return gate("message_streams_unavailable", "", "1.15", "Message streams are not available on this server.")
	case x.StickyCache && minor < 18:
		return gate("portable_worker_affinity_protocol_floor_unavailable", "sticky_execution", "1.18",
			"A sticky cache needs worker protocol 1.18.")
	case x.StickyCache && !owner.supports("sticky_execution"):
		return gate("worker_capability_not_supported", "sticky_execution", "1.18",
			"The worker did not register sticky execution.")
	}
	return nil
}

func gate(reason, capability, minimum, message string) *Refusal {
	r := Refuse(reason, message).With("minimum_protocol_version", minimum)
	if capability != "" {
		r.With("capability", capability)
	}
	return r
}

// localGate: local activities count only for a worker that lists them and whose manifest supports them.
func localGate(minor int64, owner *Worker) *Refusal {
	const feature = "local_activities"
	if minor < 18 {
		return gate("portable_worker_affinity_protocol_floor_unavailable", feature, "1.18",
			"Local activities need worker protocol 1.18.")
	}
	if !owner.supports(feature) {
		return gate("worker_capability_not_supported", feature, "1.18",
			"The worker did not register local activities.")
	}
	return nil
}

// supports reports whether a registration both lists a feature and supports it by its manifest (3.2).
func (w *Worker) supports(feature string) bool {
	var flat []string
	var manifest map[string]struct {
		Supported bool `json:"supported"`
	}
	_ = json.Unmarshal(w.Capabilities, &flat)           // our own writing; an empty column lists nothing
	_ = json.Unmarshal(w.CapabilityManifest, &manifest) // as above
	return contains(flat, feature) && manifest[feature].Supported
}
