package handlers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"dwserver/handlers/handlertest"
	"dwserver/openapi"
	"dwserver/runtime/rules"
	"dwserver/runtime/store"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"
)

// requests has one valid request of every worker operation.
var requests = map[string]struct {
	method, path string
	body         any
}{
	"registerWorker":         {"POST", "/worker/register", `{"worker_id":"w","task_queue":"q","runtime":"python","capability_manifest":{}}`},
	"deregisterWorker":       {"DELETE", "/worker/registrations/w", nil},
	"deregisterWorkerFenced": {"POST", "/worker/registrations/w/deregister", `{"registration_token":"0123456789abcdef0123456789abcdef"}`},
	"heartbeatWorker":        {"POST", "/worker/heartbeat", `{"worker_id":"w"}`},
	"pollWorkflowTask":       {"POST", "/worker/workflow-tasks/poll", `{"worker_id":"w","task_queue":"q","poll_request_id":"p"}`},
	"getWorkflowTaskHistory": {"POST", "/worker/workflow-tasks/T/history", `{"lease_owner":"w","workflow_task_attempt":2,"next_history_page_token":"Mg=="}`},
	"heartbeatWorkflowTask":  {"POST", "/worker/workflow-tasks/T/heartbeat", `{"lease_owner":"w","workflow_task_attempt":2}`},
	"completeWorkflowTask":   {"POST", "/worker/workflow-tasks/T/complete", `{"lease_owner":"w","workflow_task_attempt":2,"commands":[]}`},
	"failWorkflowTask":       {"POST", "/worker/workflow-tasks/T/fail", `{"lease_owner":"w","workflow_task_attempt":2,"failure":{"message":"m"}}`},
	"pollQueryTask":          {"POST", "/worker/query-tasks/poll", `{"worker_id":"w","task_queue":"q","poll_request_id":"p"}`},
	"pollActivityTask":       {"POST", "/worker/activity-tasks/poll", `{"worker_id":"w","task_queue":"q","poll_request_id":"p"}`},
	"heartbeatActivityTask":  {"POST", "/worker/activity-tasks/T/heartbeat", `{"activity_attempt_id":"A","lease_owner":"w"}`},
	"completeActivityTask":   {"POST", "/worker/activity-tasks/T/complete", `{"activity_attempt_id":"A","lease_owner":"w"}`},
	"failActivityTask":       {"POST", "/worker/activity-tasks/T/fail", `{"activity_attempt_id":"A","lease_owner":"w","failure":{"message":"m"}}`},
	"getActivityTaskStatus":  {"POST", "/worker/activity-tasks/T/status", `{"activity_attempt_id":"A","lease_owner":"w"}`},
}

func send(c *handlertest.Client, operation string) *handlertest.Reply {
	r := requests[operation]
	return c.Do(r.method, r.path, r.body)
}

// TestLockPressure holds every operation against worker-plane.md 7.2.
func TestLockPressure(t *testing.T) {
	engine := &fakeEngine{err: fmt.Errorf("claim: %w", store.ErrContention)}
	c := edge(t, Config{Driver: "sqlite"}, engine)
	fence := map[string]any{"task_id": "T", "workflow_task_attempt": 2}
	activity := map[string]any{"task_id": "T", "activity_attempt_id": "A", "lease_owner": "w"}
	for operation, want := range map[string]struct {
		status  int
		members []map[string]any
	}{
		"registerWorker":   {503, []map[string]any{{"operation": "register_worker", "worker_id": "w", "task_queue": "q", "registered": false}}},
		"deregisterWorker": {503, []map[string]any{{"operation": "deregister_worker", "worker_id": "w"}}},
		"deregisterWorkerFenced": {503, []map[string]any{{"operation": "deregister_worker", "worker_id": "w", "outcome": "unknown",
			"registration_token": "0123456789abcdef0123456789abcdef"}}},
		"heartbeatWorker": {200, []map[string]any{{"worker_id": "w", "acknowledged": false, "heartbeat_interval_seconds": 10}}},
		"pollWorkflowTask": {503, []map[string]any{{"task": nil, "poll_status": "backend_lock_pressure", "namespace": "default",
			"task_queue": "q", "task_kind": "workflow_task"}}},
		"pollQueryTask": {503, []map[string]any{{"task": nil, "poll_status": "backend_lock_pressure", "namespace": "default",
			"task_queue": "q", "task_kind": "query_task"}}},
		"pollActivityTask": {503, []map[string]any{{"task": nil, "poll_status": "backend_lock_pressure", "namespace": "default",
			"task_queue": "q", "task_kind": "activity_task"}}},
		"getWorkflowTaskHistory": {503, []map[string]any{fence, {"operation": "workflow_task_history"}}},
		"heartbeatWorkflowTask": {200, []map[string]any{fence, {"lease_owner": "w", "renewed": false, "lease_expires_at": nil,
			"run_status": nil, "task_status": nil}}},
		"completeWorkflowTask":  {503, []map[string]any{fence, {"operation": "complete_workflow_task", "outcome": "deferred", "recorded": false}}},
		"failWorkflowTask":      {503, []map[string]any{fence, {"operation": "fail_workflow_task", "outcome": "deferred", "recorded": false}}},
		"heartbeatActivityTask": {200, []map[string]any{activity, {"can_continue": true, "cancel_requested": false, "heartbeat_recorded": false}}},
		"completeActivityTask":  {503, []map[string]any{activity, {"operation": "complete_activity_task", "outcome": "deferred", "recorded": false}}},
		"failActivityTask":      {503, []map[string]any{activity, {"operation": "fail_activity_task", "outcome": "deferred", "recorded": false}}},
		"getActivityTaskStatus": {503, []map[string]any{activity, {"operation": "activity_task_status"}}},
	} {
		t.Run(operation, func(t *testing.T) {
			reply := send(c.In(t), operation).Refused(want.status, "backend_lock_pressure")
			reply.Is(map[string]any{"retry_after_seconds": 1, "retryable": true, "backend.driver": "sqlite", "backend.lock_pressure": true})
			for _, members := range want.members {
				reply.Is(members)
				for name := range members {
					require.True(t, reply.Has("", name), name)
				}
			}
			if want.status == 503 {
				require.Equal(t, "1", reply.Header.Get("Retry-After"))
			}
		})
	}
}

// TestBackendUnavailable holds every operation against worker-plane.md 7.3.
func TestBackendUnavailable(t *testing.T) {
	engine := &fakeEngine{}
	c := edge(t, Config{}, engine)
	for _, engine.err = range []error{fmt.Errorf("commit: %w", store.ErrOutcomeUnknown), fmt.Errorf("begin: %w", store.ErrUnavailable), context.DeadlineExceeded} {
		for operation, shape := range workerShapes {
			reply := send(c, operation).Refused(503, "backend_unavailable")
			reply.Is(map[string]any{"operation": shape.operation, "outcome": "unknown", "retryable": true, "retry_after_seconds": 1})
			require.True(t, reply.Has("", "worker_id"))
			require.True(t, reply.Has("", "task_queue"))
			require.Equal(t, "1", reply.Header.Get("Retry-After"))
			if shape.poll != "" {
				reply.Is(map[string]any{"task": nil, "poll_status": "backend_unavailable", "poll_request_id": "p", "retry_same_poll_request_id": true})
			}
		}
	}
	send(c, "completeWorkflowTask").Is(map[string]any{"task_id": "T", "workflow_task_attempt": 2})
	send(c, "completeActivityTask").Is(map[string]any{"task_id": "T", "activity_attempt_id": "A", "lease_owner": "w"})

	// Without the id by which a lease is found again, a repeat is only safe when nothing was committed.
	poll := `{"worker_id":"w","task_queue":"q"}`
	engine.err = store.ErrOutcomeUnknown
	c.Post("/worker/activity-tasks/poll", poll).Is(map[string]any{"retryable": false, "poll_request_id": nil})
	c.Post("/worker/register", `{"task_queue":"q","runtime":"go","capability_manifest":{}}`).Is(map[string]any{"retryable": false, "worker_id": nil})
	engine.err = store.ErrUnavailable
	c.Post("/worker/activity-tasks/poll", poll).Is(map[string]any{"retryable": true})
}

func TestOtherFaultsTellNothing(t *testing.T) {
	var log bytes.Buffer
	engine := &fakeEngine{err: errors.New("row 17 is broken")}
	c := edgeWith(t, Options{Logger: slog.New(slog.NewJSONHandler(&log, nil))}, engine)
	for operation := range requests {
		log.Reset()
		reply := send(c, operation).Refused(500, "internal_error")
		require.NotContains(t, string(reply.Body), "row 17")
		require.Contains(t, log.String(), "row 17 is broken")
		require.Contains(t, log.String(), reply.Text("error_id"))
		require.Contains(t, log.String(), operation)
	}
	engine.err = fmt.Errorf("open: %w", store.ErrSchema)
	send(c, "heartbeatWorker").Refused(503, "workflow_v2_blocked")
	for _, fault := range []error{store.ErrBroken, store.ErrNotFound, store.ErrConflict} {
		engine.err = fault
		send(c, "heartbeatWorker").Refused(500, "internal_error")
	}
}

func TestPanicsAreFaults(t *testing.T) {
	var log bytes.Buffer
	engine := &fakeEngine{panics: "index out of range"}
	c := edgeWith(t, Options{Logger: slog.New(slog.NewJSONHandler(&log, nil))}, engine)
	reply := send(c, "completeActivityTask").Refused(500, "internal_error")
	reply.Is(map[string]any{"task_id": "T", "activity_attempt_id": "A"})
	require.NotContains(t, string(reply.Body), "index out of range")
	for _, want := range []string{"index out of range", reply.Text("error_id"), "fake_test.go"} {
		require.Contains(t, log.String(), want)
	}
	engine.panics = nil
	send(c, "completeActivityTask").Expect(200)
}

func TestLogsHoldNoPayload(t *testing.T) {
	var log bytes.Buffer
	engine := &fakeEngine{err: store.ErrBroken}
	c := edgeWith(t, Options{Logger: slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))}, engine)
	c.Post("/worker/activity-tasks/T/complete", `{"activity_attempt_id":"A","lease_owner":"w","result":{"codec":"avro","blob":"c2VjcmV0"}}`).Expect(500)
	c.Post("/worker/activity-tasks/T/complete", `{"activity_attempt_id":"A","lease_owner":"w","result":{"codec":"json","blob":"c2VjcmV0"}}`,
		handlertest.Deliberate()).Expect(422)
	require.NotEmpty(t, log.String())
	require.NotContains(t, log.String(), "c2VjcmV0")
}

// TestRefusalsHaveTheContractsStatus holds the status table against the documents: every reason that an
// operation may answer has the status under which the document lists it.
func TestRefusalsHaveTheContractsStatus(t *testing.T) {
	for p, document := range map[*plane][]byte{workerPlane: openapi.WorkerProtocol, controlPlane: openapi.ControlPlane} {
		doc, err := openapi3.NewLoader().LoadFromData(document)
		require.NoError(t, err)
		for path, item := range doc.Paths.Map() {
			for method, spec := range item.Operations() {
				op := newOperation(p, method, path, spec.OperationID, Config{})
				listed := reasonsOf(spec)
				for reason, under := range listed {
					require.Contains(t, under, statusOf(op, reason), "%s answers %s with one of %v", op.id, reason, under)
				}
			}
		}
	}
}

// reasonsOf are the reasons an operation lists, each with the statuses it stands under. Replies below 400
// have reasons of another kind.
func reasonsOf(spec *openapi3.Operation) map[string][]int {
	reasons := map[string][]int{}
	for code, response := range spec.Responses.Map() {
		var status int
		if _, err := fmt.Sscan(code, &status); err != nil || status < 400 {
			continue
		}
		content := response.Value.Content.Get("application/json")
		if content == nil {
			continue
		}
		reason := content.Schema.Value.Properties["reason"]
		if reason == nil {
			continue
		}
		for _, value := range reason.Value.Enum {
			if text, ok := value.(string); ok {
				reasons[text] = append(reasons[text], status)
			}
		}
	}
	return reasons
}

func TestRefusalsCarryTheOperationsMembers(t *testing.T) {
	engine := &fakeEngine{}
	c := edge(t, Config{}, engine)
	refuse := func(reason string) *rules.Refusal { return rules.Refuse(reason, "No.") }

	engine.err = refuse("lease_owner_mismatch").With("lease_owner", "other")
	send(c, "completeWorkflowTask").Refused(409, "lease_owner_mismatch").
		Is(map[string]any{"task_id": "T", "workflow_task_attempt": 2, "outcome": "rejected", "recorded": false, "lease_owner": "other", "error": "No."})
	send(c, "heartbeatWorkflowTask").Refused(409, "lease_owner_mismatch").Is(map[string]any{"renewed": false, "lease_owner": "other"})
	send(c, "completeActivityTask").Refused(409, "lease_owner_mismatch").Is(map[string]any{"task_id": "T", "activity_attempt_id": "A", "outcome": "rejected"})

	engine.err = refuse("run_cancelled").With("task_status", "cancelled").With("can_continue", false)
	for _, operation := range []string{"completeActivityTask", "failActivityTask"} {
		send(c, operation).Refused(409, "run_cancelled").Is(map[string]any{"outcome": "ignored", "recorded": false, "task_status": "cancelled", "can_continue": false})
	}
	engine.err = refuse("run_closed")
	send(c, "completeWorkflowTask").Refused(409, "run_closed").Is(map[string]any{"outcome": "rejected"})

	engine.err = refuse("worker_not_registered").With("worker_id", "w")
	send(c, "pollWorkflowTask").Refused(412, "worker_not_registered").Is(map[string]any{"worker_id": "w"})
	send(c, "heartbeatWorker").Refused(404, "worker_not_registered")

	engine.err = refuse("worker_draining").With("worker_status", "draining").With("drain_intent", "draining").With("registered_build_id", nil)
	send(c, "pollActivityTask").Refused(409, "worker_draining").Is(map[string]any{"task": nil, "poll_status": "draining", "task_queue": "q"})

	engine.err = refuse("worker_registration_lost_authority")
	send(c, "deregisterWorkerFenced").Refused(409, "worker_registration_lost_authority").
		Is(map[string]any{"worker_id": "w", "registration_token": "0123456789abcdef0123456789abcdef", "retryable": false})
	engine.err = refuse("workflow_definition_changed").With("workflow_type", "t")
	send(c, "registerWorker").Refused(409, "workflow_definition_changed").Is(map[string]any{"registered": false, "workflow_type": "t"})

	engine.err = rules.LimitExceeded("command_batch_size", 1001, 1000)
	send(c, "completeWorkflowTask").Refused(422, "structural_limit_exceeded").
		Is(map[string]any{"limit_kind": "command_batch_size", "current_value": 1001, "configured_limit": 1000, "recorded": false})
	engine.err = rules.Invalid("commands.0.type", "Unknown command type.")
	send(c, "completeWorkflowTask").Refused(422, "validation_failed")
	require.Equal(t, "Unknown command type.", errorsAt(send(c, "completeWorkflowTask"), "commands.0.type"))
}

// errorsAt is the first message at a field path, the same in both maps.
func errorsAt(reply *handlertest.Reply, path string) string {
	first := func(name string) string {
		fields, _ := reply.Any(name).(map[string]any)
		messages, _ := fields[path].([]any)
		if len(messages) == 0 {
			return ""
		}
		return messages[0].(string)
	}
	if first("errors") != first("validation_errors") {
		return "the two maps differ"
	}
	return first("errors")
}

func TestACallerWhoLeftGetsNothing(t *testing.T) {
	engine := &fakeEngine{err: context.Canceled}
	c := edge(t, Config{}, engine)
	// The request's own context still lives: this cancellation came from somewhere else.
	send(c, "heartbeatWorker").Refused(500, "internal_error")

	x := &exchange{s: &Server{log: slog.New(slog.DiscardHandler)}, op: &operation{plane: workerPlane}}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	recorder := &countingWriter{header: http.Header{}}
	x.c = contextOf(ctx, recorder)
	require.NoError(t, x.fail(fmt.Errorf("wait: %w", context.Canceled)))
	require.Zero(t, recorder.writes)
	require.False(t, strings.Contains(fmt.Sprint(recorder.header), "Content-Length"))
}
