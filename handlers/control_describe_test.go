package handlers_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"dwserver/handlers/handlertest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDescribeFollowsARun(t *testing.T) {
	onEvery(t, func(on engine) {
		t := on.T
		p := serve(t, on.open())
		p.register(t, nil)
		runID := p.start(map[string]any{"workflow_id": "wf", "input": []any{"Ada"}})
		p.Get("/workflows/wf").Expect(200).Is(map[string]any{
			"workflow_id": "wf", "run_id": runID, "namespace": "default", "workflow_type": "greeter", "business_key": nil,
			"status": "pending", "status_bucket": "running", "is_terminal": false, "closed_reason": nil, "task_queue": "default",
			"run_number": 1, "run_count": 1, "is_current_run": true, "compatibility": nil, "compatibility_status": "compatible",
			"compatibility_supported_in_fleet": true, "compatibility_fleet_reason": nil, "payload_codec": "avro",
			"execution_timeout_seconds": nil, "run_timeout_seconds": nil, "execution_deadline_at": nil, "run_deadline_at": nil,
			"input": []any{"Ada"}, "output": nil, "output_envelope": nil, "started_at": "2026-01-02T03:04:05.000678Z", "closed_at": nil,
			"wait_kind": "workflow-task", "memo": map[string]any{}, "search_attributes": map[string]any{},
			"actions.can_signal": true, "actions.can_cancel": true, "actions.can_terminate": true, "commands_scope": "selected_run",
			"commands.0.command_type": "start", "commands.0.outcome": "started_new", "updates_scope": "selected_run", "updates": []any{},
			"control_plane.operation": "describe", "control_plane.workflow_id": "wf", "control_plane.run_id": runID,
			"control_plane.wait_kind": "workflow-task", "control_plane.contract.required_fields": []any{"workflow_id"},
		})

		p.clock.advance(time.Second)
		p.turn(t, map[string]any{"type": "schedule_activity", "activity_type": "greet", "queue": "default", "arguments": payload(t, `["Ada"]`)})
		p.Get("/workflows/wf").Expect(200).Is(map[string]any{"status": "waiting", "wait_kind": "activity",
			"wait_reason": "Waiting for activity greet on task queue default.", "last_progress_at": "2026-01-02T03:04:06.000678Z"})

		task := p.poll(t, "activity-tasks")
		p.Post("/worker/activity-tasks/"+task.Text("task.task_id")+"/complete", map[string]any{
			"lease_owner": "w", "activity_attempt_id": task.Text("task.activity_attempt_id"), "result": payload(t, `"hi"`),
		}).Expect(200)
		leased := p.poll(t, "workflow-tasks")
		p.Get("/workflows/wf").Expect(200).Is(map[string]any{"status_bucket": "running", "wait_kind": "workflow-task",
			"wait_reason": "Worker w of task queue default runs the workflow task."})
		p.clock.advance(time.Second)
		p.Post("/worker/workflow-tasks/"+leased.Text("task.task_id")+"/complete", map[string]any{
			"lease_owner": "w", "workflow_task_attempt": leased.Int("task.workflow_task_attempt"),
			"commands": []any{map[string]any{"type": "complete_workflow", "result": payload(t, `{"b":1.0,"a":2}`)}},
		}).Expect(200)

		done := p.Get("/workflows/wf/runs/" + runID).Expect(200).Is(map[string]any{
			"status": "completed", "status_bucket": "completed", "is_terminal": true, "closed_reason": "completed",
			"closed_at": "2026-01-02T03:04:07.000678Z", "wait_kind": nil, "wait_reason": nil, "actions.can_signal": false,
			"actions.can_cancel": false, "control_plane.operation": "describe_run", "control_plane.run_id": runID,
			"control_plane.is_terminal": true, "control_plane.contract.success_fields": []any{"run_id"},
		})
		assert.Equal(t, `{"b":1.0,"a":2}`, raw(t, done, "output"))
		assert.Equal(t, string(payload(t, `{"b":1.0,"a":2}`)), raw(t, done, "output_envelope"))
		assert.False(t, done.Has("", "failures") || done.Has("", "failure") || done.Has("", "error"))
	})
}

func TestDescribeAFailedRun(t *testing.T) {
	onEvery(t, func(on engine) {
		t := on.T
		p := serve(t, on.open())
		p.register(t, nil)
		p.start(map[string]any{"workflow_id": "wf"})
		p.turn(t, map[string]any{"type": "schedule_activity", "activity_type": "greet", "queue": "default"})
		task := p.poll(t, "activity-tasks")
		p.Post("/worker/activity-tasks/"+task.Text("task.task_id")+"/fail", map[string]any{
			"lease_owner": "w", "activity_attempt_id": task.Text("task.activity_attempt_id"),
			"failure": map[string]any{"message": "no money", "type": "OSError", "class": "builtins.OSError", "non_retryable": true},
		}).Expect(200)
		p.turn(t, map[string]any{"type": "fail_workflow", "message": "boom", "exception_type": "ValueError", "exception_class": "builtins.ValueError"})

		reply := p.Get("/workflows/wf").Expect(200).Is(map[string]any{
			"status": "failed", "status_bucket": "failed", "closed_reason": "failed", "error": "boom", "failure.message": "boom",
			"failure.reason": "failed", "failure.exception_type": "ValueError", "failure.exception_class": "builtins.ValueError",
			"failure.failure_category": "application", "failure.source_kind": "workflow_run", "exception.message": "boom",
			"failure.activity_failures.0.message": "no money", "failure.activity_failures.0.activity_type": "greet",
			"failures.0.message": "no money", "failures.1.message": "boom", "output": nil,
		})
		assert.Equal(t, reply.Any("failures"), reply.Any("failure.failures"))
		assert.Equal(t, reply.Text("run_id"), reply.Text("failure.source_id"))
	})
}

func TestDescribeATimedOutRun(t *testing.T) {
	onEvery(t, func(on engine) {
		t := on.T
		p := serve(t, on.open())
		runID := p.start(map[string]any{"workflow_id": "wf", "run_timeout_seconds": 20})
		closing := follow(p, "wf", runID, "wait_new_event=1&closed=1")
		p.clock.await(t, 30*time.Second)
		p.clock.await(t, time.Second) // the due loop
		p.clock.advance(20 * time.Second)
		(<-closing).Expect(200).Is(map[string]any{"events.0.event_type": "WorkflowTimedOut"})
		p.Get("/workflows/wf").Expect(200).Is(map[string]any{"status": "failed", "status_bucket": "failed",
			"closed_reason": "timed_out", "failure.failure_category": "timeout", "failure.reason": "timed_out"})
	})
}

// Payload bytes are never decoded and encoded again (field report 91): what goes in as plain JSON, or as an
// envelope, is what the worker, the result and every view show.
func TestPayloadsAreKeptByteForByte(t *testing.T) {
	onEvery(t, func(on engine) {
		t := on.T
		p := serve(t, on.open())
		p.register(t, nil)
		const input = `[9007199254740993,9223372036854775807,-9223372036854775808,3.0,3,-0.0,0.30000000000000004,1e-07,{},[],` +
			`{"b":1,"a":2,"b":3},"","\u0001<&>é😀","0",null,false,[[[]]]]`
		runID := p.start(map[string]any{"workflow_id": "plain", "input": json.RawMessage(input)})
		shown := p.Get("/workflows/plain").Expect(200)
		assert.Equal(t, input, raw(t, shown, "input"))
		blob := shown.Text("input_envelope.blob")

		task := p.turn(t, map[string]any{"type": "complete_workflow", "result": map[string]any{"codec": "avro", "blob": blob}})
		assert.Equal(t, blob, task.Text("task.arguments.blob"))
		done := p.Get("/workflows/plain").Expect(200)
		assert.Equal(t, input, raw(t, done, "output"))
		assert.Equal(t, blob, done.Text("output_envelope.blob"))
		assert.Equal(t, blob, done.Text("input_envelope.blob"))
		history := p.Get("/workflows/plain/runs/" + runID + "/history").Expect(200)
		assert.Contains(t, string(history.Body), `"output":{"codec":"avro","blob":"`+blob+`"}`)

		p.start(map[string]any{"workflow_id": "sealed", "input": map[string]any{"codec": "avro", "blob": blob}})
		assert.Equal(t, blob, p.Get("/workflows/sealed").Expect(200).Text("input_envelope.blob"))
	})
}

func TestNumbersBeyond64BitsNeverGetIn(t *testing.T) {
	onEvery(t, func(on engine) {
		t := on.T
		p := serve(t, on.open())
		for _, input := range []string{`[18446744073709551615]`, `[9223372036854775808]`, `[1e400]`, `[{"deep":[[-1e999]]}]`} {
			p.Post("/workflows", `{"workflow_type":"t","workflow_id":"wf","input":`+input+`}`, handlertest.Deliberate()).Refused(422, "validation_failed")
		}
		for _, memo := range []string{`{"n":9223372036854775808}`, `{"n":"\u0000"}`} {
			p.Post("/workflows", `{"workflow_type":"t","workflow_id":"wf","memo":`+memo+`}`, handlertest.Deliberate()).Refused(422, "validation_failed")
		}
		p.Get("/workflows/wf").Refused(404, "instance_not_found")
	})
}

func TestPreviewsAreBounded(t *testing.T) {
	onEvery(t, func(on engine) {
		t := on.T
		p := serve(t, on.open())
		for name, input := range map[string]string{
			"large": `["` + strings.Repeat("x", 70_000) + `"]`,
			"deep":  strings.Repeat("[", 65) + strings.Repeat("]", 65),
		} {
			p.start(map[string]any{"workflow_id": name, "input": json.RawMessage(input)})
			reply := p.Get("/workflows/" + name).Expect(200).Is(map[string]any{"input": nil})
			assert.Equal(t, string(payload(t, input)), raw(t, reply, "input_envelope"), "the envelope is whole")
		}
		p.start(map[string]any{"workflow_id": "bytes", "input": map[string]any{"codec": "avro", "blob": "wwHioz3/VYAiNwwCCAQA/wA="}})
		p.Get("/workflows/bytes").Expect(200).Is(map[string]any{"input.0.$bytes": "AP8="})
	})
}

// A workflow of another namespace answers like one that is not there (field report 97).
func TestOtherNamespacesLookMissing(t *testing.T) {
	onEvery(t, func(on engine) {
		t := on.T
		p := serve(t, on.open())
		p.addNamespace(t, "other")
		theirs := p.start(map[string]any{"workflow_id": "theirs"})
		mine := handlertest.Header("X-Namespace", "OTHER")
		for _, call := range [][2]string{
			{"GET", "/workflows/ID"}, {"GET", "/workflows/ID/runs"}, {"GET", "/workflows/ID/runs/RUN"},
			{"GET", "/workflows/ID/runs/RUN/history"}, {"GET", "/workflows/ID/runs/RUN/history?page_size=0"},
			{"POST", "/workflows/ID/signal/x"}, {"POST", "/workflows/ID/cancel"}, {"POST", "/workflows/ID/terminate"},
			{"POST", "/workflows/ID/runs/RUN/signal/x"}, {"POST", "/workflows/ID/runs/RUN/cancel"}, {"POST", "/workflows/ID/runs/RUN/terminate"},
		} {
			ask := func(id, run string) *handlertest.Reply {
				path := strings.NewReplacer("ID", id, "RUN", run).Replace(call[1])
				reply := p.Do(call[0], path, nil, mine, handlertest.Deliberate())
				reply.Body = bytes.ReplaceAll(bytes.ReplaceAll(reply.Body, []byte(id), []byte("ID")), []byte(run), []byte("RUN"))
				return reply
			}
			there, absent := ask("theirs", theirs), ask("absent", "01ARZ3NDEKTSV4RRFFQ69G5FAV")
			assert.Equal(t, 404, there.Status, call[1])
			assert.Equal(t, string(absent.Body), string(there.Body), call[1])
		}
		p.Get("/workflows/theirs").Expect(200).Is(map[string]any{"status": "pending"})
		p.Get("/workflows", mine).Expect(200).Is(map[string]any{"workflow_count": 0})
	})
}

func TestMissingRuns(t *testing.T) {
	onEvery(t, func(on engine) {
		t := on.T
		p := serve(t, on.open())
		first := p.start(map[string]any{"workflow_id": "a"})
		second := p.start(map[string]any{"workflow_id": "b"})
		for _, run := range []string{"nope", second, strings.Repeat("x", 300), "a%2Fb", "%F0%9F%98%80"} {
			reply := p.Get("/workflows/a/runs/"+run).Refused(404, "run_not_found")
			require.Equal(t, "a", reply.Text("control_plane.workflow_id"))
			p.Get("/workflows/a/runs/"+run+"/history").Refused(404, "run_not_found")
		}
		p.Get("/workflows/a/runs/" + first).Expect(200)
		p.Get("/workflows/nope").Refused(404, "instance_not_found").Is(map[string]any{
			"workflow_id": "nope", "control_plane.workflow_id": "nope", "control_plane.operation": "describe"})
		for _, id := range []string{"a%2Fb", "%F0%9F%98%80", strings.Repeat("x", 256), "0"} {
			p.Get("/workflows/"+id).Refused(404, "instance_not_found")
		}
		for _, id := range []string{"%09a", "a%0A", "%FF", "%00"} {
			p.Get("/workflows/"+id, handlertest.Deliberate()).Refused(422, "validation_failed")
		}
	})
}
