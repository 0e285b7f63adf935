package handlers_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"dwserver/handlers"
	"dwserver/handlers/handlertest"
	"dwserver/openapi"
	"dwserver/runtime"
	"dwserver/runtime/rules"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestClusterInfoTellsWhatClientsCheck(t *testing.T) {
	onEvery(t, func(on engine) {
		t := on.T
		p := serve(t, on.open())
		info := p.Get("/cluster/info").Expect(200).Is(map[string]any{
			"server_id": "test", "version": "0.0.0", "default_namespace": "default",
			"namespace.name": "default", "namespace.exists": true, "namespace.status": "active", "namespace.retention_mode": "bounded",
			"namespace.retention_days": 30, "namespace.external_payload_storage.status": "unconfigured",
			"control_plane.version": "2", "control_plane.header": "X-Durable-Workflow-Control-Plane-Version",
			"control_plane.request_contract.schema":  "durable-workflow.v2.control-plane-request.contract",
			"control_plane.request_contract.version": 1, "worker_protocol.version": "1.20",
			"control_plane.request_contract.operations.start.fields.duplicate_policy.canonical_values": []any{"fail", "use-existing"},
			"control_plane.request_contract.operations.update":                                         nil,
			"worker_protocol.header": "X-Durable-Workflow-Protocol-Version", "worker_protocol.server_capabilities.long_poll_timeout": 30,
			"worker_protocol.server_capabilities.query_tasks": false,
			"auth_composition_contract.schema":                "durable-workflow.v2.auth-composition.contract", "auth_composition_contract.version": 1,
			"auth_composition_contract.canonical_environment.profile":              "DW_ENV",
			"auth_composition_contract.auth_material.token.status":                 "supported",
			"auth_composition_contract.auth_material.token.effective_config_value": "redacted",
			"auth_composition_contract.auth_material.mtls.status":                  "reserved",
			"auth_composition_contract.auth_material.signed_headers.status":        "reserved",
			"client_compatibility.schema":                                          "durable-workflow.v2.client-compatibility",
			"client_compatibility.authority":                                       "protocol_manifests", "client_compatibility.fail_closed": true,
			"capabilities.workflow_tasks": true, "capabilities.queries": false, "capabilities.payload_codecs": []any{"avro"},
			"capabilities.avro_value_protocol": map[string]any{"schema": "durable_workflow.protocol.Value", "fingerprint": "e2a33dff55802237",
				"framing": "single_object", "magic_hex": "c301"},
			"limits.max_payload_bytes": 2097152, "limits.max_memo_bytes": 262144, "limits.max_request_bytes": 4194304,
			"limits.max_workflow_task_completion_bytes": 33554432, "limits.max_operation_name_length": 256,
			"structural_limits.pending_activity_count": 2000, "structural_limits.pending_child_count": 1000,
			"structural_limits.pending_signal_count": 5000, "structural_limits.history_transaction_size": 5000,
			"structural_limits.search_attribute_size_bytes": 40960, "structural_limits.warning_threshold_percent": 80,
			"timeouts.worker_poll_seconds": 30, "timeouts.workflow_task_seconds": 60, "timeouts.activity_task_seconds": 300,
			"timeouts.worker_stale_after_seconds": 60,
		})
		for path, want := range map[string][]any{
			"auth_composition_contract.effective_config.required_fields": {"server_url", "namespace", "profile", "auth", "tls", "identity"},
			"auth_composition_contract.redaction.never_echo":             {"bearer_tokens", "private_keys", "raw_authorization_headers"},
		} {
			assert.Subset(t, info.Any(path), want)
		}
		for _, list := range []string{"connection_values", "profile_selection"} {
			assert.NotEmpty(t, info.Any("auth_composition_contract.precedence."+list))
		}
		envelope := p.Post("/worker/heartbeat", map[string]any{"worker_id": "nobody"})
		assert.Equal(t, envelope.Any("server_capabilities"), info.Any("worker_protocol.server_capabilities"), "one truth on both planes")
	})
}

func TestClusterInfoShowsWhatIsConfigured(t *testing.T) {
	onEvery(t, func(on engine) {
		t := on.T
		p := serve(t, on.open(), func(c *handlers.Config, o *runtime.Options) {
			o.Limits = new(rules.DefaultLimits())
			o.Limits.PendingTimers, o.Limits.PayloadBytes = 7, 8
			c.MaxRequestBytes, c.PollTimeout, c.WorkflowTaskTimeout = 9000, 1500*time.Millisecond, 3*time.Second
		})
		p.Get("/cluster/info").Expect(200).Is(map[string]any{"structural_limits.pending_timer_count": 7, "limits.max_payload_bytes": 8,
			"structural_limits.payload_size_bytes": 8, "limits.max_request_bytes": 9000, "timeouts.workflow_task_seconds": 3})
	})
}

func TestClusterInfoHeadersAndNamespaces(t *testing.T) {
	onEvery(t, func(on engine) {
		t := on.T
		p := serve(t, on.open())
		p.addNamespace(t, "kept")
		none := handlertest.Header(handlertest.ControlHeader, "")
		p.Get("/cluster/info", none).Expect(200)
		p.Get("/cluster/info", none, handlertest.Header(handlertest.WorkerHeader, "1.20")).Expect(200)
		p.Get("/cluster/info", handlertest.Header(handlertest.WorkerHeader, "1.20")).Expect(200) // the CLI sends both
		p.Get("/cluster/info", handlertest.Header(handlertest.ControlHeader, "1")).Refused(400, "unsupported_control_plane_version").
			Is(map[string]any{"supported_version": "2", "requested_version": "1"})
		p.Get("/cluster/info", handlertest.Header("X-Namespace", "absent")).Expect(200).Is(map[string]any{
			"namespace.name": "absent", "namespace.exists": false, "namespace.status": nil, "namespace.retention_days": nil})
		p.Get("/cluster/info?namespace=KEPT").Expect(200).Is(map[string]any{
			"namespace.name": "kept", "namespace.exists": true, "namespace.retention_mode": "forever", "namespace.retention_days": nil})
		p.Get("/cluster/info?include=diagnostics").Expect(200)
	})
}

func TestHealthAndReadiness(t *testing.T) {
	onEvery(t, func(on engine) {
		t := on.T
		st := on.open()
		p := serve(t, st)
		none := []handlertest.Option{handlertest.Header(handlertest.ControlHeader, ""), handlertest.Header("X-Namespace", "absent")}
		p.Get("/health", none...).Expect(200).Is(map[string]any{"status": "serving", "checks.database": "ok", "timestamp": "2026-01-02T03:04:05.000678Z"})
		p.Get("/ready", none...).Expect(200).Is(map[string]any{"status": "ready", "checks.process.status": "ok", "checks.database.status": "ok",
			"checks.migrations.status": "ok", "checks.default_namespace.status": "ok", "checks.cache.status": "ok", "checks.auth.status": "ok"})
		p.engine.Close()
		require.NoError(t, st.Close())
		p.Get("/health").Expect(503).Is(map[string]any{"status": "degraded", "checks.database": "unavailable"})
		p.Get("/ready").Expect(503).Is(map[string]any{"status": "not_ready", "checks.database.status": "unavailable"})
	})
}

func TestServedDocuments(t *testing.T) {
	onEvery(t, func(on engine) {
		t := on.T
		p := serve(t, on.open())
		for path, document := range map[string][]byte{"worker-protocol": openapi.WorkerProtocol, "control-plane": openapi.ControlPlane} {
			reply := p.Get("/openapi/"+path+".yaml", handlertest.Header(handlertest.ControlHeader, "")).Expect(200)
			assert.Equal(t, "application/yaml", reply.Header.Get("Content-Type"))
			assert.Equal(t, string(document), string(reply.Body))
			doc, err := openapi3.NewLoader().LoadFromData(reply.Body)
			require.NoError(t, err)
			require.NoError(t, doc.Validate(t.Context()))
			zipped := p.Get("/openapi/"+path+".yaml", handlertest.Header("Accept-Encoding", "gzip")).Expect(200)
			assert.Equal(t, "gzip", zipped.Header.Get("Content-Encoding"))
			assert.Equal(t, string(document), string(zipped.Body))
		}
	})
}

func TestNamespaces(t *testing.T) {
	onEvery(t, func(on engine) {
		t := on.T
		p := serve(t, on.open())
		p.addNamespace(t, "kept")
		p.Get("/namespaces", handlertest.Header("X-Namespace", "absent")).Expect(200).Is(map[string]any{
			"namespaces.0.name": "default",
			"namespaces.1": map[string]any{"name": "kept", "description": nil, "retention_mode": "forever", "retention_days": nil,
				"status": "active", "external_payload_storage": nil, "created_at": "1970-01-01T00:00:01+00:00", "updated_at": "1970-01-01T00:00:01+00:00"},
			"namespaces.2": nil,
		})
		p.Get("/namespaces/default").Expect(200).Is(map[string]any{"name": "default", "retention_mode": "bounded", "retention_days": 30,
			"status": "active", "created_at": "2026-01-02T03:04:05+00:00"})
		p.Get("/namespaces/KEPT").Expect(200).Is(map[string]any{"name": "kept"})
		for _, name := range []string{"absent", "0", strings.Repeat("x", 300), "a%2Fb"} {
			p.Get("/namespaces/"+name).Refused(404, "namespace_not_found")
		}
	})
}

func TestUnknownNamespaces(t *testing.T) {
	onEvery(t, func(on engine) {
		t := on.T
		p := serve(t, on.open())
		p.start(map[string]any{"workflow_id": "wf"})
		for _, call := range controlCalls("wf", "run") {
			if strings.HasPrefix(call[1], "/namespaces") {
				continue
			}
			reply := p.Do(call[0], call[1], bodyOf(call), handlertest.Header("X-Namespace", "Absent")).Refused(404, "namespace_not_found")
			require.Equal(t, "absent", reply.Text("namespace"), call)
			require.NotEmpty(t, reply.Text("remediation"))
		}
		p.Get("/workflows?namespace=absent").Refused(404, "namespace_not_found")
		p.Get("/workflows?namespace=absent", handlertest.Header("X-Namespace", "default")).Expect(200)
	})
}

// controlCalls are all operations of the control plane that need a role.
func controlCalls(id, run string) [][3]string {
	calls := [][3]string{{"POST", "/workflows", `{"workflow_type":"t"}`}, {"GET", "/workflows", ""}, {"GET", "/namespaces", ""}, {"GET", "/namespaces/default", ""}}
	for _, path := range []string{"", "/runs", "/runs/" + run, "/runs/" + run + "/history"} {
		calls = append(calls, [3]string{"GET", "/workflows/" + id + path, ""})
	}
	for _, path := range []string{"/signal/go", "/cancel", "/terminate"} {
		calls = append(calls, [3]string{"POST", "/workflows/" + id + path, "{}"}, [3]string{"POST", "/workflows/" + id + "/runs/" + run + path, "{}"})
	}
	return calls
}

func bodyOf(call [3]string) any {
	if call[2] == "" {
		return nil
	}
	return json.RawMessage(call[2])
}

func TestRolesOnTheControlPlane(t *testing.T) {
	onEvery(t, func(on engine) {
		t := on.T
		p := serve(t, on.open(), func(c *handlers.Config, _ *runtime.Options) {
			c.AuthDriver, c.WorkerToken, c.OperatorToken, c.AdminToken = handlers.AuthToken, "w", "o", "a"
		})
		bearer := func(token string) handlertest.Option { return handlertest.Header("Authorization", "Bearer "+token) }
		for _, call := range controlCalls("absent", "run") {
			do := func(options ...handlertest.Option) *handlertest.Reply {
				return p.Do(call[0], call[1], bodyOf(call), options...)
			}
			do().Refused(401, "unauthorized")
			do(bearer("x")).Refused(401, "unauthorized")
			do(bearer("w")).Refused(403, "forbidden").Is(map[string]any{"role": "worker", "allowed_roles": []any{"operator", "admin"}})
			// A wrong role learns nothing of versions, namespaces or workflows.
			do(bearer("w"), handlertest.Header("X-Namespace", "absent"), handlertest.Header(handlertest.ControlHeader, "1"), handlertest.Deliberate()).
				Refused(403, "forbidden")
			for _, token := range []string{"o", "a"} {
				status := do(bearer(token)).Status
				assert.NotContains(t, []int{http.StatusUnauthorized, http.StatusForbidden}, status, call)
				do(bearer(token), handlertest.Header(handlertest.ControlHeader, "")).Refused(400, "missing_control_plane_version").
					Is(map[string]any{"supported_version": "2", "requested_version": nil})
				do(bearer(token), handlertest.Header(handlertest.ControlHeader, "3")).Refused(400, "unsupported_control_plane_version").
					Is(map[string]any{"requested_version": "3"})
			}
		}
		for _, token := range []string{"w", "o", "a"} {
			p.Get("/cluster/info", bearer(token)).Expect(200)
		}
		p.Get("/cluster/info").Refused(401, "unauthorized")
		p.Get("/health").Expect(200)
		p.Get("/ready").Expect(200)
	})
}
