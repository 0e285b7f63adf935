package handlers_test

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"dwserver/handlers"
	"dwserver/handlers/handlertest"
	"dwserver/runtime"
	"dwserver/runtime/rules"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestStart(t *testing.T) {
	onEvery(t, func(on engine) {
		t := on.T
		p := serve(t, on.open())
		reply := p.Post("/workflows", map[string]any{"workflow_id": "wf-1", "workflow_type": "greeter"}).Expect(201)
		runID := reply.Text("run_id")
		assert.Len(t, runID, 26)
		reply.Is(map[string]any{
			"workflow_id": "wf-1", "workflow_type": "greeter", "namespace": "default", "status": "pending",
			"business_key": nil, "payload_codec": "avro", "outcome": "started_new", "command_status": "accepted",
			"command_source": "control_plane", "reason": nil, "rejection_reason": nil, "message": nil,
			"control_plane.schema":  "durable-workflow.v2.control-plane-response",
			"control_plane.version": 1, "control_plane.operation": "start", "control_plane.workflow_id": "wf-1",
			"control_plane.run_id": runID, "control_plane.outcome": "started_new", "control_plane.status": "pending",
			"control_plane.contract.schema":         "durable-workflow.v2.control-plane-response.contract",
			"control_plane.contract.success_fields": []any{"workflow_id", "outcome"},
		})
		assert.Equal(t, "2", reply.Header.Get(handlertest.ControlHeader))

		made := p.Post("/workflows", map[string]any{"workflow_type": "greeter"}).Expect(201)
		assert.Len(t, made.Text("workflow_id"), 26, "an id is made")
		p.Get("/workflows/" + made.Text("workflow_id")).Expect(200).Is(map[string]any{"task_queue": "default"})
	})
}

func TestStartKeepsEveryOption(t *testing.T) {
	onEvery(t, func(on engine) {
		t := on.T
		p := serve(t, on.open())
		p.start(map[string]any{
			"workflow_id": "wf-1", "workflow_type": "  greeter ", "task_queue": " q ", "input": []any{"Ada"},
			"payload_codec": "avro", "business_key": "0", "memo": map[string]any{"k": 1}, "search_attributes": map[string]any{"Tier": "gold"},
			"duplicate_policy": "fail", "execution_timeout_seconds": 3600, "run_timeout_seconds": 600,
			"priority": 0, "fairness_key": "a.b:c", "fairness_weight": 1000, "build_id": "b1", "compatibility": "b2",
		})
		p.Get("/workflows/wf-1").Expect(200).Is(map[string]any{
			"workflow_type": "greeter", "task_queue": "q", "business_key": "0", "input": []any{"Ada"},
			"memo.k": 1, "search_attributes.Tier": "gold", "execution_timeout_seconds": 3600, "run_timeout_seconds": 600,
			"execution_deadline_at": "2026-01-02T04:04:05.000678Z", "run_deadline_at": "2026-01-02T03:14:05.000678Z",
			"compatibility": "b1", "compatibility_status": "pinned", "started_at": "2026-01-02T03:04:05.000678Z",
		})
		events := p.Get("/workflows/wf-1/runs/" + p.Get("/workflows/wf-1").Text("run_id") + "/history").Expect(200)
		events.Is(map[string]any{"events.0.event_type": "StartAccepted", "events.1.event_type": "WorkflowStarted",
			"events.1.payload.memo.k": 1})
	})
}

func TestStartLenientForms(t *testing.T) {
	onEvery(t, func(on engine) {
		t := on.T
		p := serve(t, on.open())
		p.Post("/workflows", `{"workflow_id":"a","workflow_type":"t","priority":"3","run_timeout_seconds":"60","memo":[],
			"search_attributes":[],"input":[],"business_key":null,"task_queue":null,"fairness_key":null,"unknown":{"x":1}}`,
			handlertest.Deliberate()).Expect(201)
		p.Get("/workflows/a").Expect(200).Is(map[string]any{"run_timeout_seconds": 60, "business_key": nil, "task_queue": "default",
			"memo": map[string]any{}, "search_attributes": map[string]any{}, "input": []any{}})
	})
}

func TestStartRefusesBadFields(t *testing.T) {
	onEvery(t, func(on engine) {
		t := on.T
		p := serve(t, on.open())
		long := func(n int) string { return `"` + strings.Repeat("x", n) + `"` }
		for field, values := range map[string][]string{
			"workflow_type":              {`""`, `"  "`, `null`, `7`, long(256), `"a\u0000b"`},
			"workflow_id":                {`"a b"`, `" a"`, `"a/b"`, `"ä"`, `"a\n"`, `7`, long(129), `"😀"`},
			"task_queue":                 {`7`, long(256), `[]`},
			"input":                      {`"x"`, `7`, `{"codec":"json","blob":"AAAA"}`, `{"codec":"avro","blob":"AAAA"}`},
			"payload_codec":              {`"json"`, `7`},
			"business_key":               {`7`, long(256)},
			"memo":                       {`"x"`, `[1]`},
			"duplicate_policy":           {`"use_existing"`, `"allow"`, `true`},
			"execution_timeout_seconds":  {`0`, `-1`, `1.5`, `"1x"`},
			"run_timeout_seconds":        {`0`, `true`},
			"priority":                   {`-1`, `10`, `"high"`},
			"fairness_key":               {`"a b"`, long(65), `7`},
			"fairness_weight":            {`0`, `1001`},
			"build_id":                   {`7`, `" b"`},
			"compatibility":              {`7`, `"b\t"`},
			"workflow_execution_timeout": {`3600`, `"x"`},
			"workflow_run_timeout":       {`600`},
			"workflow_task_timeout":      {`10`},
			"retry_policy":               {`{}`, `{"max_attempts":3}`},
			"idempotency_key":            {`"k"`},
			"request_id":                 {`7`, long(256)},
		} {
			for _, value := range values {
				body := `{"workflow_type":"t","workflow_id":"never","` + field + `":` + value + `}`
				reply := p.Post("/workflows", body, handlertest.Deliberate()).Refused(422, "validation_failed")
				messages, _ := reply.Any("errors." + field).([]any)
				assert.NotEmpty(t, messages, "%s: %s", body, reply.Body)
				assert.Equal(t, reply.Any("errors"), reply.Any("validation_errors"))
				assert.Equal(t, "start", reply.Text("control_plane.operation"))
			}
		}
		p.Post("/workflows", `{}`, handlertest.Deliberate()).Refused(422, "validation_failed")
		p.Post("/workflows", `{"workflow_type":"t","search_attributes":{"a-b":1}}`).Refused(422, "validation_failed")
		p.Get("/workflows").Expect(200).Is(map[string]any{"workflow_count": 0})
		p.Get("/workflows/never").Refused(404, "instance_not_found")
	})
}

func TestStartDuplicates(t *testing.T) {
	onEvery(t, func(on engine) {
		t := on.T
		p := serve(t, on.open())
		p.addNamespace(t, "other")
		runID := p.start(map[string]any{"workflow_id": "wf"})
		start := func(more map[string]any) *handlertest.Reply {
			body := map[string]any{"workflow_id": "wf", "workflow_type": "greeter"}
			for name, value := range more {
				body[name] = value
			}
			return p.Post("/workflows", body)
		}
		refused := func(reply *handlertest.Reply) {
			t.Helper()
			reply.Refused(409, "duplicate_not_allowed").Is(map[string]any{
				"outcome": "rejected_duplicate", "rejection_reason": "instance_already_started", "workflow_id": "wf",
				"run_id": runID, "command_status": "rejected", "control_plane.outcome": "rejected_duplicate",
				"control_plane.workflow_id": "wf", "control_plane.run_id": runID, "control_plane.operation": "start",
			})
		}
		refused(start(nil))
		refused(start(map[string]any{"duplicate_policy": "fail"}))
		refused(start(map[string]any{"duplicate_policy": "use-existing", "workflow_type": "other"}))
		start(map[string]any{"duplicate_policy": "use-existing"}).Expect(200).Is(map[string]any{
			"outcome": "returned_existing_active", "run_id": runID, "control_plane.outcome": "returned_existing_active"})

		reply := p.Post("/workflows", map[string]any{"workflow_id": "wf", "workflow_type": "greeter", "duplicate_policy": "use-existing"},
			handlertest.Header("X-Namespace", "other")).Refused(409, "workflow_id_reserved_in_namespace")
		reply.Is(map[string]any{"outcome": "rejected_workflow_id_reserved_in_namespace", "workflow_id": "wf", "run_id": nil})
		assert.NotContains(t, string(reply.Body), runID)

		p.Post("/workflows/wf/cancel", nil).Expect(200)
		refused(start(nil))
		refused(start(map[string]any{"duplicate_policy": "use-existing"}))
	})
}

func TestStartRequestIDs(t *testing.T) {
	onEvery(t, func(on engine) {
		t := on.T
		p := serve(t, on.open())
		p.addNamespace(t, "other")
		body := `{"workflow_id":"wf","workflow_type":"greeter","input":["Ada",1.0],"request_id":"r1","memo":{"a":1}}`
		runID := p.Post("/workflows", body).Expect(201).Text("run_id")
		same := map[string]any{"run_id": runID, "outcome": "started_new", "workflow_id": "wf"}
		p.Post("/workflows", body).Expect(201).Is(same)
		p.Post("/workflows", ` {"request_id":"r1", "memo":{ "a":1}, "input":["Ada", 1.0],"workflow_type":"greeter", "workflow_id":"wf"}`).Expect(201).Is(same)
		p.Post("/workflows", strings.Replace(body, "1.0", "1", 1)).Refused(409, "request_id_conflict").
			Is(map[string]any{"outcome": "rejected_request_id_conflict"})
		p.Post("/workflows", strings.Replace(body, "r1", "r2", 1)).Refused(409, "duplicate_not_allowed")
		p.Post("/workflows", body, handlertest.Header("X-Namespace", "other")).Refused(409, "workflow_id_reserved_in_namespace")
		p.Post("/workflows/wf/terminate", nil).Expect(200)
		p.Post("/workflows", body).Expect(201).Is(same)
		p.Get("/workflows/wf/runs").Expect(200).Is(map[string]any{"run_count": 1})
	})
}

func TestStartLimits(t *testing.T) {
	onEvery(t, func(on engine) {
		t := on.T
		p := serve(t, on.open(), func(c *handlers.Config, o *runtime.Options) {
			o.Limits = new(rules.DefaultLimits())
			o.Limits.PayloadBytes, o.Limits.MemoBytes, o.Limits.SearchAttributeBytes = 1000, 100, 100
			c.MaxRequestBytes = 5000
		})
		text := strings.Repeat("x", 2000)
		for kind, member := range map[string]any{
			"payload_size": map[string]any{"input": []string{text}}, "memo_size": map[string]any{"memo": map[string]any{"k": text}},
			"search_attribute_size": map[string]any{"search_attributes": map[string]any{"k": text}},
		} {
			body := map[string]any{"workflow_type": "t", "workflow_id": "never"}
			for name, value := range member.(map[string]any) {
				body[name] = value
			}
			p.Post("/workflows", body).Refused(422, "structural_limit_exceeded").Is(map[string]any{"limit_kind": kind})
		}
		p.Post("/workflows", map[string]any{"workflow_type": "t", "input": []string{strings.Repeat("x", 5000)}}).
			Refused(413, "payload_too_large").Is(map[string]any{"limit": 5000, "limit_kind": "request_bytes"})
		p.Get("/workflows").Expect(200).Is(map[string]any{"workflow_count": 0})
	})
}

// Ids that a careless "is it set" would take for nothing (field report 93).
func TestStartOddNames(t *testing.T) {
	onEvery(t, func(on engine) {
		t := on.T
		p := serve(t, on.open())
		for _, name := range []string{"0", "false", "null"} {
			p.start(map[string]any{"workflow_id": name, "workflow_type": name, "task_queue": name, "build_id": name, "business_key": name})
			p.Get("/workflows/" + name).Expect(200).Is(map[string]any{"workflow_id": name, "workflow_type": name,
				"task_queue": name, "compatibility": name, "business_key": name})
			p.Get("/workflows?workflow_type=" + name).Expect(200).Is(map[string]any{"workflow_count": 1, "workflows.0.workflow_id": name})
			p.Post("/workflows/"+name+"/signal/"+name, map[string]any{"input": []any{name}}).Expect(202).Is(map[string]any{"signal_name": name})
		}
	})
}

// Many starts of one id at once: one run, and the others learn of it.
func TestStartRace(t *testing.T) {
	onEvery(t, func(on engine) {
		t := on.T
		p := serve(t, on.open())
		replies := make([]*handlertest.Reply, 16)
		var group sync.WaitGroup
		for i := range replies {
			group.Go(func() {
				replies[i] = p.Post("/workflows", json.RawMessage(`{"workflow_id":"wf","workflow_type":"t","duplicate_policy":"use-existing"}`))
			})
		}
		group.Wait()
		started := 0
		for _, reply := range replies {
			if reply.Status == 201 {
				started++
				continue
			}
			require.Equal(t, 200, reply.Status, "%s", reply.Body)
			require.Equal(t, replies[0].Text("run_id"), reply.Text("run_id"))
		}
		assert.Equal(t, 1, started)
	})
}
