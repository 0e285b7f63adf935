package handlers_test

import (
	"net/url"
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

func TestSignal(t *testing.T) {
	onEvery(t, func(on engine) {
		t := on.T
		p := serve(t, on.open())
		run := p.start(map[string]any{"workflow_id": "wf"})
		reply := p.Post("/workflows/wf/signal/approve", map[string]any{"input": []any{"Ada", 1}}).Expect(202).Is(map[string]any{
			"workflow_id": "wf", "run_id": run, "requested_run_id": nil, "resolved_run_id": run, "command_sequence": 2,
			"target_scope": "instance", "workflow_type": "greeter", "command_status": "accepted", "command_source": "control_plane",
			"outcome": "signal_received", "reason": nil, "rejection_reason": nil, "validation_errors": []any{}, "signal_name": "approve",
			"control_plane.operation": "signal", "control_plane.operation_name": "approve", "control_plane.operation_name_field": "signal_name",
			"control_plane.outcome": "signal_received", "control_plane.workflow_id": "wf", "control_plane.run_id": run,
		})
		assert.Len(t, reply.Text("command_id"), 26)
		assert.Equal(t, reply.Text("command_id"), reply.Text("control_plane.command_id"))
		assert.False(t, reply.Has("", "signal"))

		p.Post("/workflows/wf/runs/"+run+"/signal/approve", nil).Expect(202).Is(map[string]any{"command_sequence": 3, "target_scope": "instance", "requested_run_id": nil})
		for i, body := range []string{``, `{}`, `[]`, `null`, `{"input":null,"request_id":null,"dry_run":null}`} {
			p.Post("/workflows/wf/signal/approve", body, handlertest.Deliberate()).Expect(202).Is(map[string]any{"command_sequence": 4 + i})
		}
		history := p.Get("/workflows/wf/runs/" + run + "/history").Expect(200)
		assert.Equal(t, "Ada", shownArguments(t, history, 2).([]any)[0])
		assert.Empty(t, shownArguments(t, history, 3))
		for _, name := range []string{" trimmed ", "a b", "ä/😀", "100%", strings.Repeat("n", 256), "0", "?#"} {
			p.Post("/workflows/wf/signal/"+url.PathEscape(name), nil).Expect(202).Is(map[string]any{"signal_name": strings.TrimSpace(name)})
		}
	})
}

func TestSignalPreview(t *testing.T) {
	onEvery(t, func(on engine) {
		t := on.T
		p := serve(t, on.open())
		run := p.start(map[string]any{"workflow_id": "wf"})
		p.Post("/workflows/wf/signal/approve", map[string]any{"input": []any{1, 2}, "dry_run": true}).Expect(200).Is(map[string]any{
			"outcome": "signal_preview", "command_status": "preview", "command_id": nil, "command_sequence": nil, "run_id": run,
			"preview.argument_count": 2, "preview.signal_name": "approve", "signal_name": "approve"})
		p.Get("/workflows/wf").Expect(200).Is(map[string]any{"commands.1": nil})
		require.Len(t, p.Get("/workflows/wf/runs/"+run+"/history").Any("events"), 2)
		p.Post("/workflows/wf/cancel", nil).Expect(200)
		p.Post("/workflows/wf/signal/approve", map[string]any{"dry_run": true}).Refused(409, "run_not_active")
	})
}

func TestSignalsAreCheckedAgainstTheDeclaration(t *testing.T) {
	onEvery(t, func(on engine) {
		t := on.T
		p := serve(t, on.open())
		p.register(t, map[string]any{"workflow_command_contracts": map[string]any{"greeter": map[string]any{
			"queries": []any{}, "query_contracts": []any{}, "updates": []any{}, "update_contracts": []any{}, "update_validators": []any{},
			"signals": []any{"approve"}, "signal_contracts": []any{map[string]any{"name": "approve", "parameters": []any{map[string]any{
				"name": "by", "position": 0, "required": true, "variadic": false, "default_available": false, "default": nil, "type": "string", "allows_null": false}}}},
		}}})
		run := p.start(map[string]any{"workflow_id": "wf"})
		p.Post("/workflows/wf/signal/approve", map[string]any{"input": []any{"me"}}).Expect(202)
		reply := p.Post("/workflows/wf/signal/reject", nil).Refused(404, "unknown_signal").Is(map[string]any{
			"outcome": "rejected_unknown_signal", "declared_signals": []any{"approve"}, "workflow_id": "wf", "run_id": run,
			"control_plane.operation_name": "reject", "control_plane.declared_signals": []any{"approve"}, "command_status": "rejected"})
		assert.Len(t, reply.Text("command_id"), 26, "a rejected command is recorded")
		assert.NotEmpty(t, reply.Text("signal_admission"))
		assert.NotEmpty(t, reply.Text("command_contract_source"))
		for _, input := range [][]any{nil, {}, {"me", "you"}} {
			p.Post("/workflows/wf/signal/approve", map[string]any{"input": input}).Refused(422, "invalid_signal_arguments").
				Is(map[string]any{"outcome": "rejected_invalid_arguments", "workflow_id": "wf"})
		}
		assert.NotEmpty(t, p.Post("/workflows/wf/signal/approve", nil).Any("validation_errors.by"))
		p.Get("/workflows/wf").Expect(200).Is(map[string]any{"commands.2.command_type": "signal", "commands.2.command_status": "rejected",
			"commands.2.target_name": "reject", "commands.2.rejection_reason": "unknown_signal"})
	})
}

func TestSignalRefusals(t *testing.T) {
	onEvery(t, func(on engine) {
		t := on.T
		p := serve(t, on.open(), func(_ *handlers.Config, o *runtime.Options) {
			o.Limits = new(rules.DefaultLimits())
			o.Limits.PendingSignals, o.Limits.PayloadBytes = 2, 1000
		})
		run := p.start(map[string]any{"workflow_id": "wf"})
		bad := handlertest.Deliberate()
		for _, name := range []string{"%20", strings.Repeat("n", 257), "a%0Ab", "a%00b", "%FF"} {
			reply := p.Post("/workflows/wf/signal/"+name, nil, bad).Refused(422, "validation_failed")
			assert.NotEmpty(t, reply.Any("errors.signal_name"), "%s: %s", name, reply.Body)
			p.Post("/workflows/nope/signal/"+name, nil, bad).Refused(422, "validation_failed") // the name comes before the look-up
		}
		for member, body := range map[string]string{
			"input": `{"input":"x"}`, "request_id": `{"request_id":7}`, "dry_run": `{"dry_run":"yes"}`, "body": `[1]`,
		} {
			reply := p.Post("/workflows/wf/signal/go", body, bad).Refused(422, "validation_failed")
			assert.NotEmpty(t, reply.Any("errors."+member), "%s: %s", body, reply.Body)
			p.Post("/workflows/nope/signal/go", body, bad).Refused(404, "instance_not_found")
		}
		p.Post("/workflows/wf/signal/__durable_workflow_message_stream", nil).Refused(409, "runtime_reserved_signal")
		p.Post("/workflows/wf/signal/go", map[string]any{"input": []string{strings.Repeat("x", 1000)}}).
			Refused(422, "structural_limit_exceeded").Is(map[string]any{"limit_kind": "payload_size"})

		p.Post("/workflows/nope/signal/go", map[string]any{"input": []string{strings.Repeat("x", 1000)}}).Refused(404, "instance_not_found")

		p.Post("/workflows/wf/signal/go", nil).Expect(202)
		p.Post("/workflows/wf/signal/go", nil).Expect(202)
		p.Post("/workflows/wf/signal/go", nil).Refused(409, "structural_limit_exceeded").Is(map[string]any{
			"limit_kind": "pending_signal_count", "configured_limit": 2, "workflow_id": "wf", "run_id": run, "command_status": "rejected"})

		p.Post("/workflows/wf/runs/nope/signal/go", nil).Refused(409, "historical_run_command_rejected").Is(map[string]any{
			"target_scope": "run", "requested_run_id": "nope", "run_id": "nope", "control_plane.run_id": "nope", "control_plane.target_scope": "run"})
		p.Post("/workflows/wf/terminate", nil).Expect(200)
		p.Post("/workflows/wf/signal/go", nil).Refused(409, "run_not_active").Is(map[string]any{"outcome": "rejected_not_active",
			"run_status": "terminated", "is_terminal": true, "run_id": run, "control_plane.operation": "signal", "control_plane.reason": "run_not_active"})
	})
}

func TestSignalRequestIDs(t *testing.T) {
	onEvery(t, func(on engine) {
		t := on.T
		p := serve(t, on.open())
		p.start(map[string]any{"workflow_id": "wf"})
		p.start(map[string]any{"workflow_id": "other"})
		send := func(path, input string) *handlertest.Reply {
			return p.Post("/workflows/"+path, `{"request_id":"r1","input":`+input+`}`)
		}
		first := send("wf/signal/go", `["a"]`).Expect(202)
		original := func(reply *handlertest.Reply) {
			t.Helper()
			reply.Expect(202).Is(map[string]any{"command_id": first.Text("command_id"), "command_sequence": 2, "outcome": "signal_received"})
		}
		original(send("wf/signal/go", `["a"]`))
		original(send("wf/signal/go", string(payload(t, `["a"]`))))
		send("wf/signal/go", `["b"]`).Refused(409, "request_id_conflict").Is(map[string]any{"outcome": "rejected_request_id_conflict"})
		send("wf/signal/stop", `["b"]`).Expect(202).Is(map[string]any{"command_sequence": 3})
		send("other/signal/go", `["b"]`).Expect(202).Is(map[string]any{"command_sequence": 2})
		p.Post("/workflows/wf/cancel", nil).Expect(200)
		original(send("wf/signal/go", `["a"]`))

		p.start(map[string]any{"workflow_id": "race"})
		ids := make([]string, 16)
		var group sync.WaitGroup
		for i := range ids {
			group.Go(func() { ids[i] = send("race/signal/go", `["a"]`).Expect(202).Text("command_id") })
		}
		group.Wait()
		for _, id := range ids {
			require.Equal(t, ids[0], id)
		}
	})
}
