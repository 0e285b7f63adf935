package handlers

import (
	"maps"
	"net/http"
)

// workerShape is how one worker-plane operation words its refusals and faults (worker-plane.md 4–7). SDKs
// read these members to decide between dropping a report, trying again and stopping.
type workerShape struct {
	operation string // value of the operation member of faults
	poll      string // task_kind of a poll, "" for other operations
	// refused are constant members of every refusal the engine gives.
	refused map[string]any
	// pressure200 are the members of the 200 that answers lock pressure; nil: it is a 503 like any other.
	pressure200 map[string]any
	// deferred are further members of the 503 that answers lock pressure.
	deferred map[string]any
	// identities are the ids without which a lost answer cannot be asked for again.
	identities []string
}

var (
	notRecorded = map[string]any{"outcome": "rejected", "recorded": false}
	deferred    = map[string]any{"outcome": "deferred", "recorded": false}
)

var workerShapes = map[string]workerShape{
	"registerWorker": {operation: "register_worker", refused: map[string]any{"registered": false},
		deferred: map[string]any{"registered": false}, identities: []string{"worker_id"}},
	"deregisterWorker": {operation: "deregister_worker", deferred: map[string]any{"outcome": "deferred"}},
	"deregisterWorkerFenced": {operation: "deregister_worker", refused: map[string]any{"retryable": false},
		deferred: map[string]any{"outcome": "unknown"}},
	"heartbeatWorker": {operation: "heartbeat_worker", pressure200: map[string]any{"acknowledged": false}},

	"pollWorkflowTask":       {operation: "poll_workflow_task", poll: "workflow_task", identities: []string{"poll_request_id"}},
	"getWorkflowTaskHistory": {operation: "workflow_task_history", deferred: map[string]any{"outcome": "deferred"}},
	"heartbeatWorkflowTask": {operation: "heartbeat_workflow_task", refused: map[string]any{"renewed": false},
		pressure200: map[string]any{"renewed": false, "lease_expires_at": nil, "run_status": nil, "task_status": nil}},
	"completeWorkflowTask": {operation: "complete_workflow_task", refused: notRecorded, deferred: deferred},
	"failWorkflowTask":     {operation: "fail_workflow_task", refused: notRecorded, deferred: deferred},

	"pollQueryTask": {operation: "poll_query_task", poll: "query_task", identities: []string{"poll_request_id"}},

	"pollActivityTask": {operation: "poll_activity_task", poll: "activity_task", identities: []string{"poll_request_id"}},
	"heartbeatActivityTask": {operation: "heartbeat_activity_task",
		pressure200: map[string]any{"can_continue": true, "cancel_requested": false, "heartbeat_recorded": false,
			"lease_expires_at": nil, "last_heartbeat_at": nil, "run_closed_reason": nil, "run_closed_at": nil,
			"worker_session": nil}},
	"completeActivityTask":  {operation: "complete_activity_task", refused: notRecorded, deferred: deferred},
	"failActivityTask":      {operation: "fail_activity_task", refused: notRecorded, deferred: deferred},
	"getActivityTaskStatus": {operation: "activity_task_status", deferred: map[string]any{"outcome": "deferred"}},
}

// pollStatuses are the refusals of polls that SDKs recognise by their poll_status.
var pollStatuses = map[string]string{
	"worker_draining": "draining",
	"update_validation_capability_not_advertised": "unsupported",
	"poll_request_task_kinds_conflict":            "conflict",
	"poll_cached_task_kind_conflict":              "conflict",
	"unsupported_payload_codec":                   "rejected",
	"long_poll_capacity_exhausted":                "long_poll_capacity_exhausted",
	"storage_pressure":                            "storage_pressure",
	"storage_admission_unavailable":               "storage_admission_unavailable",
}

// ignored are the stop reasons of an activity outcome that came too late for its run.
var ignored = map[string]bool{"run_cancelled": true, "run_terminated": true, "run_closed": true}

// refusalMembers are the members that the operation adds to a refusal of a request that reached it.
func (w workerShape) refusalMembers(reason string) map[string]any {
	out := map[string]any{}
	if status := pollStatuses[reason]; w.poll != "" && status != "" {
		out["task"], out["poll_status"] = nil, status
	}
	maps.Copy(out, w.refused)
	if out["outcome"] != nil && ignored[reason] && (w.operation == "complete_activity_task" || w.operation == "fail_activity_task") {
		out["outcome"] = "ignored"
	}
	return out
}

func (w workerShape) pressureStatus() int {
	if w.pressure200 != nil {
		return http.StatusOK
	}
	return http.StatusServiceUnavailable
}

func (w workerShape) pressureMembers(x *exchange) map[string]any {
	if w.pressure200 != nil {
		out := maps.Clone(w.pressure200)
		if w.operation == "heartbeat_worker" {
			out["heartbeat_interval_seconds"] = int64(x.s.config.HeartbeatInterval.Seconds())
		}
		return out
	}
	if w.poll != "" {
		return map[string]any{"task": nil, "poll_status": "backend_lock_pressure", "namespace": x.namespace, "task_kind": w.poll}
	}
	out := map[string]any{"operation": w.operation}
	maps.Copy(out, w.deferred)
	return out
}

// unavailableMembers are those of worker-plane.md 7.3. A repeat is safe when the request surely changed
// nothing, or names everything by which its outcome is found again.
func (w workerShape) unavailableMembers(x *exchange, uncommitted bool) map[string]any {
	out := map[string]any{"operation": w.operation, "worker_id": x.knownOr("worker_id"), "task_queue": x.knownOr("task_queue")}
	safe := true
	for _, name := range w.identities {
		safe = safe && x.knownOr(name) != nil
	}
	out["retryable"] = safe || uncommitted
	if w.poll != "" {
		out["task"], out["poll_status"] = nil, "backend_unavailable"
		out["poll_request_id"], out["retry_same_poll_request_id"] = x.knownOr("poll_request_id"), true
	}
	return out
}

// knownOr is a known id of the request, nil when it has none.
func (x *exchange) knownOr(name string) any {
	for _, id := range x.known {
		if id.name == name {
			return id.value
		}
	}
	return nil
}
