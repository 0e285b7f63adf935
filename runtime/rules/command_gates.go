package rules

import (
	"encoding/json"
	"strconv"
)

// CheckGates refuses what a command needs above the request's protocol version (3.2), or of its
// owner's registration; nothing is recorded. It is judged after the fence.
func CheckGates(commands []WorkflowCommand, minor int64, owner *Worker) *Refusal {
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
			return r.With("requested_version", "1."+strconv.FormatInt(minor, 10))
		}
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
	var flat []string
	var manifest map[string]struct {
		Supported bool `json:"supported"`
	}
	_ = json.Unmarshal(owner.Capabilities, &flat)           // our own writing; an empty column lists nothing
	_ = json.Unmarshal(owner.CapabilityManifest, &manifest) // as above
	if !contains(flat, feature) || !manifest[feature].Supported {
		return gate("worker_capability_not_supported", feature, "1.18",
			"The worker did not register local activities.")
	}
	return nil
}
