package rules

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
)

// Extras are the members of a completion beside its commands that need capabilities of their own.
type Extras struct {
	MessageStreams bool // cursors or waits that are not empty
	StickyCache    bool
}

// CheckGates refuses what a completion needs above the request's protocol version (3.2), or of its
// owner's registration; nothing is recorded. It is judged after the fence. The error is of a registration that
// does not decode.
func CheckGates(commands []WorkflowCommand, extras Extras, minor int64, owner *Worker) (*Refusal, error) {
	r, err := extras.gate(minor, owner)
	for i := 0; i < len(commands) && r == nil && err == nil; i++ {
		r, err = commands[i].gate(minor, owner)
	}
	if r != nil {
		r.With("requested_version", "1."+strconv.FormatInt(minor, 10))
	}
	return r, err
}

// gate judges one command.
func (c *WorkflowCommand) gate(minor int64, owner *Worker) (*Refusal, error) {
	switch {
	case c.Type == "open_condition_wait" && c.ConditionWaitOccurrenceID != nil && minor < HighestHistoryFloor:
		return gate("condition_wait_occurrence_identity_unavailable", "", "1.17",
			"A condition wait occurrence id needs worker protocol 1.17.").
			With("command_type", c.Type).With("command_field", "condition_wait_occurrence_id"), nil
	case c.WorkerSession != nil:
		return gate("worker_sessions_unavailable", "worker_sessions", "1.18",
			"Worker sessions are not available on this server."), nil
	case c.Type == "record_local_activity":
		return localGate(minor, owner)
	}
	return nil, nil
}

// gate judges the extras. Streams are not built; a sticky cache is a hint that only counts for a worker
// that registered it.
func (x Extras) gate(minor int64, owner *Worker) (*Refusal, error) {
	switch {
	case x.MessageStreams:
		return gate("message_streams_unavailable", "", "1.15", "Message streams are not available on this server."), nil
	case x.StickyCache && minor < 18:
		return gate("portable_worker_affinity_protocol_floor_unavailable", "sticky_execution", "1.18",
			"A sticky cache needs worker protocol 1.18."), nil
	case x.StickyCache:
		return owner.gate("sticky_execution", "The worker did not register sticky execution.")
	}
	return nil, nil
}

func gate(reason, capability, minimum, message string) *Refusal {
	r := Refuse(reason, message).With("minimum_protocol_version", minimum)
	if capability != "" {
		r.With("capability", capability)
	}
	return r
}

// localGate: local activities count only for a worker that lists them and whose manifest supports them.
func localGate(minor int64, owner *Worker) (*Refusal, error) {
	const feature = "local_activities"
	if minor < 18 {
		return gate("portable_worker_affinity_protocol_floor_unavailable", feature, "1.18",
			"Local activities need worker protocol 1.18."), nil
	}
	return owner.gate(feature, "The worker did not register local activities.")
}

// gate refuses a feature that the registration does not support.
func (w *Worker) gate(feature, message string) (*Refusal, error) {
	supported, err := w.supports(feature)
	if supported || err != nil {
		return nil, err
	}
	return gate("worker_capability_not_supported", feature, "1.18", message), nil
}

// supports reports whether a registration both lists a feature and supports it by its manifest (3.2).
func (w *Worker) supports(feature string) (bool, error) {
	var flat []string
	var manifest map[string]struct {
		Supported bool `json:"supported"`
	}
	err := errors.Join(decodeColumn(w.Capabilities, &flat), decodeColumn(w.CapabilityManifest, &manifest))
	if err != nil {
		return false, fmt.Errorf("registration of worker %s: %w", w.WorkerID, err)
	}
	return contains(flat, feature) && manifest[feature].Supported, nil
}

// decodeColumn decodes a stored document; an empty column has none.
func decodeColumn(doc []byte, into any) error {
	if len(doc) == 0 {
		return nil
	}
	return json.Unmarshal(doc, into)
}
