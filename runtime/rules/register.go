package rules

import (
	"strconv"
	"strings"
)

// ManifestEntry is one feature of a worker's capability manifest (worker-plane.md 4.1).
type ManifestEntry struct {
	Supported       bool
	MinimumProtocol string // "1.N"
}

// manifestFeatures are the features that count only when both the flat list and the manifest name them.
var manifestFeatures = []string{"local_activities", "worker_sessions", "sticky_execution"}

// CheckCapabilities judges a registration's capabilities against its manifest and the request's
// protocol minor.
func CheckCapabilities(capabilities []string, manifest map[string]ManifestEntry, minor int64) *Refusal {
	refused := func(reason, capability, minimum, message string) *Refusal {
		return Refuse(reason, message).With("registered", false).With("capability", capability).
			With("requested_version", "1."+strconv.FormatInt(minor, 10)).With("minimum_protocol_version", minimum)
	}
	for _, feature := range manifestFeatures {
		flat := contains(capabilities, feature)
		entry, listed := manifest[feature]
		switch {
		case listed && protocolMinor(entry.MinimumProtocol) < 18, flat && minor < 18:
			return refused("worker_capability_protocol_floor_mismatch", feature, "1.18",
				"The capability "+feature+" needs worker protocol 1.18.")
		case manifest != nil && flat != (listed && entry.Supported):
			return refused("worker_capability_manifest_mismatch", feature, "1.18",
				"The capability manifest and the capability list disagree on "+feature+".")
		}
	}
	floors := [...]struct {
		capability, reason, minimum string
		minor                       int64
	}{
		{"memo_upserts", "workflow_metadata_capability_protocol_mismatch", "1.14", 14},
		{"typed_search_attributes", "workflow_metadata_capability_protocol_mismatch", "1.16", 16},
		{"message_streams", "message_streams_unavailable", "1.15", 15},
	}
	for _, f := range floors {
		if minor < f.minor && contains(capabilities, f.capability) {
			return refused(f.reason, f.capability, f.minimum,
				"The capability "+f.capability+" needs worker protocol "+f.minimum+".")
		}
	}
	return nil
}

func protocolMinor(version string) int64 {
	_, minor, _ := strings.Cut(version, ".")
	n, err := strconv.ParseInt(minor, 10, 64)
	if err != nil {
		return -1
	}
	return n
}
