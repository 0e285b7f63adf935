package handlers

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"strconv"

	"dwserver/runtime"
	"dwserver/runtime/rules"
	"dwserver/runtime/store"

	"github.com/labstack/echo/v4"
	"github.com/oklog/ulid/v2"
)

// This file and errors_worker.go are the only places that know which status answers what. Refusals keep
// the reason the engine or the edge gave; everything that is not a refusal is a fault.

// statuses are the refusals that are not 409.
var statuses = map[string]int{
	"malformed_json":                    http.StatusBadRequest,
	"missing_protocol_version":          http.StatusBadRequest,
	"unsupported_protocol_version":      http.StatusBadRequest,
	"missing_control_plane_version":     http.StatusBadRequest,
	"unsupported_control_plane_version": http.StatusBadRequest,
	"invalid_page_token":                http.StatusBadRequest,
	"unauthorized":                      http.StatusUnauthorized,
	"forbidden":                         http.StatusForbidden,

	"not_found":                           http.StatusNotFound,
	"namespace_not_found":                 http.StatusNotFound,
	"worker_not_found":                    http.StatusNotFound,
	"worker_not_registered":               http.StatusNotFound, // polls: 412
	"worker_registration_token_not_found": http.StatusNotFound,
	"task_not_found":                      http.StatusNotFound,
	"attempt_not_found":                   http.StatusNotFound,
	"history_not_available":               http.StatusNotFound,
	"stream_not_found":                    http.StatusNotFound,
	"instance_not_found":                  http.StatusNotFound,
	"run_not_found":                       http.StatusNotFound, // completions: 409
	"unknown_signal":                      http.StatusNotFound,
	"method_not_allowed":                  http.StatusMethodNotAllowed,

	"worker_registration_receipt_expired":                  http.StatusGone,
	"worker_registration_transaction_boundary_unavailable": http.StatusPreconditionFailed,
	"payload_too_large":                                    http.StatusRequestEntityTooLarge,
	"history_event_exceeds_page_budget":                    http.StatusRequestEntityTooLarge,
	"unsupported_media_type":                               http.StatusUnsupportedMediaType,

	"validation_failed":                   http.StatusUnprocessableEntity,
	"unsupported_payload_codec":           http.StatusUnprocessableEntity,
	"structural_limit_exceeded":           http.StatusUnprocessableEntity, // signals: 409
	"external_payload_integrity_failed":   http.StatusUnprocessableEntity,
	"workflow_memo_validation_failed":     http.StatusUnprocessableEntity,
	"invalid_workflow_stream_command":     http.StatusUnprocessableEntity,
	"activity_attempt_status_unavailable": http.StatusUnprocessableEntity,
	"invalid_signal_arguments":            http.StatusUnprocessableEntity,
	"search_attribute_limit_reached":      http.StatusUnprocessableEntity,

	"long_poll_capacity_exhausted": http.StatusTooManyRequests,
	"stream_full":                  http.StatusTooManyRequests,

	"internal_error":               http.StatusInternalServerError,
	"control_plane_internal_error": http.StatusInternalServerError,
	"server_error":                 http.StatusInternalServerError,

	"workflow_v2_blocked":                  http.StatusServiceUnavailable,
	"backend_lock_pressure":                http.StatusServiceUnavailable,
	"backend_unavailable":                  http.StatusServiceUnavailable,
	"storage_pressure":                     http.StatusServiceUnavailable,
	"storage_admission_unavailable":        http.StatusServiceUnavailable,
	"external_payload_storage_unavailable": http.StatusServiceUnavailable,
}

// statusOf is the status of a refusal of an operation: what the table says, else 409.
func statusOf(op *operation, reason string) int {
	shape := workerShapes[op.id]
	switch {
	case reason == "worker_not_registered" && shape.poll != "":
		return http.StatusPreconditionFailed
	case reason == "run_not_found" && op.plane == workerPlane:
		return http.StatusConflict
	case reason == "structural_limit_exceeded" && op.command == "signal":
		return http.StatusConflict
	}
	if status, ok := statuses[reason]; ok {
		return status
	}
	return http.StatusConflict
}

// fail answers an error of the edge, of a handler or of the engine.
func (x *exchange) fail(err error) error {
	var refused *runtime.Refusal
	var routing *echo.HTTPError
	switch {
	case x.c.Response().Committed:
		x.s.log.Error("an operation failed after it answered", "operation", x.op.id, "error", err)
		return nil
	case errors.As(err, &refused):
		return x.refuse(refused)
	case errors.As(err, &routing):
		return x.refuse(routingRefusal(routing))
	case x.context().Err() != nil:
		// The caller is gone. What it asked for was cancelled or has the outcome it would have had.
		x.s.log.Debug("a caller went away", "operation", x.op.id, "error", err)
		return nil //nolint:nilerr // logged, and nobody is there to be told
	}
	return x.fault(err)
}

// refuse answers a typed "no".
func (x *exchange) refuse(refused *runtime.Refusal) error {
	status := statusOf(x.op, refused.Reason)
	if refused.Fields["limit_kind"] == "payload_size" {
		status = http.StatusUnprocessableEntity // of the request itself, on every operation
	}
	body := make(map[string]any, len(refused.Fields)+12)
	if x.op.plane == workerPlane {
		if x.admitted {
			maps.Copy(body, workerShapes[x.op.id].refusalMembers(refused.Reason))
		}
		body["error"] = refused.Message
	}
	for _, id := range x.known {
		body[id.name] = id.value
	}
	if refused.Errors != nil {
		body["errors"], body["validation_errors"] = refused.Errors, refused.Errors
	}
	maps.Copy(body, refused.Fields)
	body["reason"], body["message"] = refused.Reason, refused.Message
	return x.answer(status, body)
}

// fault answers an error that is no refusal. Contention surely wrote nothing; a lost database may have
// committed; of everything else the caller only learns the id of the log entry.
func (x *exchange) fault(err error) error {
	switch {
	case errors.Is(err, store.ErrContention):
		x.s.log.Warn("lock pressure", "operation", x.op.id, "error", err)
		return x.lockPressure()
	case errors.Is(err, store.ErrOutcomeUnknown), errors.Is(err, store.ErrUnavailable):
		x.s.log.Error("the database is not available", "operation", x.op.id, "error", err)
		return x.unavailable(!errors.Is(err, store.ErrOutcomeUnknown))
	case errors.Is(err, store.ErrSchema):
		x.s.log.Error("the database schema does not fit", "error", err)
		return x.answer(http.StatusServiceUnavailable, x.faultBody("workflow_v2_blocked", "The database schema is not ready.", nil))
	case errors.Is(err, context.DeadlineExceeded):
		x.s.log.Warn("an operation took too long", "operation", x.op.id, "error", err)
		return x.unavailable(false)
	}
	return x.internal(err)
}

// internal answers 500 and logs what happened under an id.
func (x *exchange) internal(err error, attrs ...any) error {
	id := ulid.Make().String()
	x.s.log.Error("internal error", append([]any{"error_id", id, "operation", x.op.id, slog.Any("error", err)}, attrs...)...)
	return x.answer(http.StatusInternalServerError, x.faultBody(x.op.plane.internal, "The server failed.",
		map[string]any{"error_id": id, "retryable": true}))
}

func (x *exchange) lockPressure() error {
	const message = "The database is busy; try again."
	body := x.faultBody("backend_lock_pressure", message, map[string]any{"retry_after_seconds": 1, "retryable": true})
	if x.op.plane == controlPlane {
		return x.answer(http.StatusServiceUnavailable, body)
	}
	shape := workerShapes[x.op.id]
	body["backend"] = map[string]any{"driver": x.s.config.Driver, "lock_pressure": true}
	maps.Copy(body, shape.pressureMembers(x))
	return x.answer(shape.pressureStatus(), body)
}

// unavailable answers a lost database. uncommitted says that the request surely changed nothing.
func (x *exchange) unavailable(uncommitted bool) error {
	body := x.faultBody("backend_unavailable", "The database cannot be reached; the outcome is unknown.",
		map[string]any{"outcome": "unknown", "retryable": true, "retry_after_seconds": 1})
	if x.op.plane == workerPlane {
		maps.Copy(body, workerShapes[x.op.id].unavailableMembers(x, uncommitted))
	}
	return x.answer(http.StatusServiceUnavailable, body)
}

// faultBody is the part of a fault's body that both planes share.
func (x *exchange) faultBody(reason, message string, members map[string]any) map[string]any {
	body := make(map[string]any, len(members)+12)
	for _, id := range x.known {
		body[id.name] = id.value
	}
	if x.leaseOwner != "" {
		body["lease_owner"] = x.leaseOwner
	}
	maps.Copy(body, members)
	body["reason"], body["message"] = reason, message
	if x.op.plane == workerPlane {
		body["error"] = message
	}
	return body
}

// answer sends an error with the headers its status calls for.
func (x *exchange) answer(status int, body map[string]any) error {
	header := x.c.Response().Header()
	switch status {
	case http.StatusUnauthorized:
		header.Set("WWW-Authenticate", "Bearer")
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		header.Set("Retry-After", retryAfter(body["retry_after_seconds"]))
	}
	return x.reply(status, body)
}

func retryAfter(seconds any) string {
	switch n := seconds.(type) {
	case int:
		return strconv.Itoa(n)
	case int64:
		return strconv.FormatInt(n, 10)
	}
	return "1"
}

// routingRefusal is the answer to a path or method without an operation, and to a parameter the
// generated binding cannot read.
func routingRefusal(err *echo.HTTPError) *runtime.Refusal {
	switch err.Code {
	case http.StatusNotFound:
		return rules.Refuse("not_found", "There is nothing at this path.")
	case http.StatusMethodNotAllowed:
		return rules.Refuse("method_not_allowed", "This path does not take this method.")
	}
	return rules.Refuse("validation_failed", "A parameter has an invalid format.")
}
