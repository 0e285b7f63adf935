package handlers_test

import (
	"strings"
	"testing"

	"dwserver/handlers/handlertest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCancelAndTerminate(t *testing.T) {
	onEvery(t, func(on engine) {
		t := on.T
		p := serve(t, on.open())
		for command, outcome := range map[string]string{"cancel": "cancelled", "terminate": "terminated"} {
			for form, path := range map[string]string{"instance": "/workflows/ID/", "run": "/workflows/ID/runs/RUN/"} {
				id := command + "-" + form
				run := p.start(map[string]any{"workflow_id": id})
				path = strings.NewReplacer("ID", id, "RUN", run).Replace(path) + command
				reply := p.Post(path, map[string]any{"reason": "enough"}).Expect(200).Is(map[string]any{
					"workflow_id": id, "run_id": run, "requested_run_id": nil, "resolved_run_id": run, "command_sequence": 2,
					"target_scope": "instance", "workflow_type": "greeter", "command_status": "accepted",
					"command_source": "control_plane", "outcome": outcome, "reason": "enough", "rejection_reason": nil,
					"validation_errors": []any{}, "control_plane.operation": command, "control_plane.outcome": outcome,
					"control_plane.workflow_id": id, "control_plane.run_id": run,
				})
				assert.Len(t, reply.Text("command_id"), 26)
				p.Get("/workflows/" + id).Expect(200).Is(map[string]any{"status": outcome, "status_bucket": "failed", "closed_reason": outcome,
					"is_terminal": true, "failures": nil, "commands.1.outcome": outcome, "commands.1.reason": "enough"})
				p.Post(path, nil).Refused(409, "run_not_active").Is(map[string]any{"outcome": "rejected_not_active",
					"run_status": outcome, "is_terminal": true, "run_id": run, "command_status": "rejected", "control_plane.operation": command})
			}
		}
	})
}

func TestCloseRefusals(t *testing.T) {
	onEvery(t, func(on engine) {
		t := on.T
		p := serve(t, on.open())
		p.start(map[string]any{"workflow_id": "wf"})
		for _, command := range []string{"cancel", "terminate"} {
			for member, body := range map[string]string{
				"reason": `{"reason":"` + strings.Repeat("x", 1001) + `"}`, "request_id": `{"request_id":" x"}`, "body": `7`,
			} {
				reply := p.Post("/workflows/wf/"+command, body, handlertest.Deliberate()).Refused(422, "validation_failed")
				assert.NotEmpty(t, reply.Any("errors."+member), "%s", reply.Body)
				p.Post("/workflows/nope/"+command, body, handlertest.Deliberate()).Refused(404, "instance_not_found")
			}
			p.Post("/workflows/nope/"+command, nil).Refused(404, "instance_not_found").Is(map[string]any{"control_plane.operation": command})
			p.Post("/workflows/nope/runs/nope/"+command, nil).Refused(404, "instance_not_found")
			p.Post("/workflows/wf/runs/nope/"+command, nil).Refused(409, "historical_run_command_rejected")
		}
		p.Get("/workflows/wf").Expect(200).Is(map[string]any{"status": "pending"})
		for i, body := range []string{``, `{}`, `[]`, `null`, `{"reason":null}`, `{"reason":"` + strings.Repeat("é", 1000) + `"}`} {
			id := "c" + string(rune('0'+i))
			p.start(map[string]any{"workflow_id": id})
			p.Post("/workflows/"+id+"/cancel", body, handlertest.Deliberate()).Expect(200)
		}
	})
}

func TestCloseRequestIDs(t *testing.T) {
	onEvery(t, func(on engine) {
		t := on.T
		p := serve(t, on.open())
		p.start(map[string]any{"workflow_id": "wf"})
		body := map[string]any{"reason": "enough", "request_id": "r1"}
		first := p.Post("/workflows/wf/cancel", body).Expect(200)
		p.Post("/workflows/wf/cancel", body).Expect(200).Is(map[string]any{"command_id": first.Text("command_id"), "outcome": "cancelled", "reason": "enough"})
		p.Post("/workflows/wf/cancel", map[string]any{"reason": "other", "request_id": "r1"}).Refused(409, "request_id_conflict")
		p.Post("/workflows/wf/terminate", body).Refused(409, "run_not_active")
	})
}

// Commands go to the current run; the earlier one is history.
func TestCommandsAfterContinueAsNew(t *testing.T) {
	onEvery(t, func(on engine) {
		t := on.T
		p := serve(t, on.open())
		p.register(t, nil)
		first := p.start(map[string]any{"workflow_id": "wf", "memo": map[string]any{"k": 1}})
		p.turn(t, map[string]any{"type": "continue_as_new", "arguments": payload(t, `["again"]`)})
		runs := p.Get("/workflows/wf/runs").Expect(200).Is(map[string]any{
			"workflow_id": "wf", "run_count": 2, "control_plane.operation": "list_runs", "control_plane.workflow_id": "wf",
			"runs.0.run_id": first, "runs.0.run_number": 1, "runs.0.is_current_run": false, "runs.0.status": "completed",
			"runs.0.status_bucket": "completed", "runs.0.is_terminal": true, "runs.0.memo.k": 1, "runs.0.workflow_type": "greeter",
			"runs.1.run_number": 2, "runs.1.is_current_run": true, "runs.1.status": "pending", "runs.1.closed_at": nil, "runs.1.memo.k": 1,
		})
		second := runs.Text("runs.1.run_id")
		p.Get("/workflows/wf").Expect(200).Is(map[string]any{"run_id": second, "run_number": 2, "run_count": 2, "is_current_run": true, "input": []any{"again"}})
		p.Get("/workflows/wf/runs/" + first).Expect(200).Is(map[string]any{"run_id": first, "is_current_run": false, "run_count": 2,
			"closed_reason": "continued", "actions.can_cancel": false, "output": nil})
		for _, command := range []string{"signal/go", "cancel", "terminate"} {
			p.Post("/workflows/wf/runs/"+first+"/"+command, nil).Refused(409, "historical_run_command_rejected").Is(map[string]any{
				"target_scope": "run", "run_id": first, "requested_run_id": first, "resolved_run_id": second})
		}
		p.Post("/workflows/wf/runs/"+second+"/signal/go", nil).Expect(202).Is(map[string]any{"run_id": second})
		p.Post("/workflows/wf/cancel", nil).Expect(200).Is(map[string]any{"run_id": second})
		require.Equal(t, "WorkflowCancelled", p.Get("/workflows/wf/runs/"+second+"/history?wait_new_event=1&closed=1").Text("events.0.event_type"))
		p.Get("/workflows/nope/runs").Refused(404, "instance_not_found").Is(map[string]any{"control_plane.operation": "list_runs"})
	})
}
