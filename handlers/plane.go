package handlers

import (
	"net/http"
	"strconv"
	"strings"

	"dwserver/runtime"
	"dwserver/runtime/rules"
)

// plane is one of the two halves of the API. They differ in their version header, in what every
// reply starts with and in the words of some errors.
type plane struct {
	header   string // version header of requests and replies
	version  string // ours, echoed on every reply
	internal string // reason of a 500
}

var (
	workerPlane = &plane{header: "X-Durable-Workflow-Protocol-Version",
		version: WorkerProtocolVersion, internal: "internal_error"}
	controlPlane = &plane{header: "X-Durable-Workflow-Control-Plane-Version",
		version: ControlPlaneVersion, internal: "control_plane_internal_error"}
)

// planeOf tells the plane of a path, also of one that has no route.
func planeOf(path string) *plane {
	if path == basePath+"/worker" || strings.HasPrefix(path, basePath+"/worker/") {
		return workerPlane
	}
	return controlPlane
}

// checkVersion judges the version header and returns the minor version a worker speaks. optional
// operations take a request without the header, but not one with a wrong one.
func (p *plane) checkVersion(headers http.Header, optional bool) (minor int64, refused *runtime.Refusal) {
	sent := headers.Get(p.header)
	name := "control_plane_version"
	if p == workerPlane {
		name = "protocol_version"
	}
	if sent == "" {
		if optional {
			return 0, nil
		}
		return 0, p.versionRefusal("missing_"+name, "The version header "+p.header+" is missing.", nil)
	}
	minor, ok := p.accepts(sent)
	if !ok {
		return 0, p.versionRefusal("unsupported_"+name, "This server does not speak the requested version.", sent)
	}
	return minor, nil
}

// versionRefusal is answered before anything of the request runs (worker-plane.md 2).
func (p *plane) versionRefusal(reason, message string, sent any) *runtime.Refusal {
	return rules.Refuse(reason, message).
		With("supported_version", p.version).
		With("requested_version", sent).
		With("remediation", "Send "+p.header+": "+p.version+".")
}

func (p *plane) accepts(sent string) (minor int64, ok bool) {
	if p == controlPlane {
		return 0, sent == ControlPlaneVersion
	}
	left, right, found := strings.Cut(sent, ".")
	major, okMajor := digits(left)
	minor, okMinor := digits(right)
	return minor, found && okMajor && okMinor && major == workerMajor && minor <= workerMinor
}

// digits reads a number of digits only; "1.9" is older than "1.10", so versions are compared as
// integers.
func digits(text string) (int64, bool) {
	n, err := strconv.ParseUint(text, 10, 31)
	return int64(n), err == nil
}
