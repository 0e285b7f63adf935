package handlers_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"dwserver/handlers/handlertest"
	"dwserver/openapi"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"
)

// writes are all operations of both documents that take a body, with the ids of a live run in their paths.
func writes(t *testing.T, ids map[string]string) []string {
	t.Helper()
	var paths []string
	for _, document := range [][]byte{openapi.WorkerProtocol, openapi.ControlPlane} {
		doc, err := openapi3.NewLoader().LoadFromData(document)
		require.NoError(t, err)
		for path, item := range doc.Paths.Map() {
			if item.Post == nil || item.Post.RequestBody == nil {
				continue
			}
			for name, id := range ids {
				path = strings.ReplaceAll(path, "{"+name+"}", url.PathEscape(id))
			}
			require.NotContains(t, path, "{")
			paths = append(paths, path)
		}
	}
	return paths
}

// TestBadInputIsRefusedEverywhere sends every kind of bad body to every operation: each gets a 4xx with a
// reason of the contract, and a live run keeps its history.
func TestBadInputIsRefusedEverywhere(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 10_000) + `1` + strings.Repeat(`}`, 10_000)
	long := strings.Repeat("x", 300)
	hostile := func(value string) string {
		var members []string
		for _, name := range []string{"worker_id", "task_queue", "runtime", "build_id", "poll_request_id", "timeout_seconds", "lease_owner",
			"workflow_task_attempt", "commands", "failure", "next_history_page_token", "activity_attempt_id", "result", "details",
			"registration_token", "workflow_type", "workflow_id", "input", "memo", "search_attributes", "reason", "request_id", "priority",
			"capabilities", "process_metrics", "task_slots", "task_kinds", "dry_run", "sticky_cache", "message_stream_cursors"} {
			members = append(members, fmt.Sprintf("%q:%s", name, value))
		}
		return "{" + strings.Join(members, ",") + "}"
	}
	bodies := map[string]string{
		"malformed": `{"worker_id":`, "not UTF-8": "{\"worker_id\":\"\xff\xfe\"}", "deep": deep, "surrogate": `{"x":"\ud800"}`,
		"number": `7`, "text": `"x"`, "list": `[1]`, "huge integers": hostile(`9223372036854775808`), "NUL": hostile(`"a\u0000b"`),
		"control characters": hostile(`"a\u0001\nb"`), "long ids": hostile(`"` + long + `"`), "wrong type": hostile(`[[{}]]`),
		"numbers": hostile(`-1`), "fractions": hostile(`1.5`), "booleans": hostile(`true`), "objects": hostile(`{"x":{"y":1}}`), "emoji": hostile(`"😀/"`),
		"infinity": hostile(`1e999`), "empty text": hostile(`""`),
	}
	onEvery(t, func(on engine) {
		t := on.T
		p := serve(t, on.open())
		p.register(t, nil)
		run := p.start(map[string]any{"workflow_id": "wf"})
		task := p.poll(t, "workflow-tasks")
		ids := map[string]string{"worker_id": "w", "task_id": task.Text("task.task_id"), "attempt_id": "A", "workflow_id": "wf", "run_id": run,
			"signal_name": "go", "name": "default"}
		before := p.Get("/workflows/wf/runs/" + run + "/history").Expect(200)
		for _, path := range writes(t, ids) {
			for name, body := range bodies {
				if tolerated(path, name) {
					continue
				}
				reply := p.Post(path, body, handlertest.Deliberate())
				require.True(t, reply.Status >= 400 && reply.Status < 500, "%s to %s: %d %s", name, path, reply.Status, reply.Body)
				require.NotEmpty(t, reply.Text("reason"), "%s to %s", name, path)
				if reply.Status == 422 {
					require.NotEmpty(t, reply.Any("errors"), "%s to %s", name, path)
					require.Equal(t, reply.Any("errors"), reply.Any("validation_errors"))
				}
			}
		}
		after := p.Get("/workflows/wf/runs/" + run + "/history").Expect(200)
		require.JSONEq(t, string(before.Body), string(after.Body))
		p.Post("/worker/workflow-tasks/"+ids["task_id"]+"/heartbeat", map[string]any{"lease_owner": "w", "workflow_task_attempt": 1}).Expect(200)
	})
}

// tolerated are bodies that are no mistake for an operation: it ignores the members it does not know.
func tolerated(path, body string) bool {
	switch {
	case strings.Contains(path, "/local-activities/"):
		return false
	case strings.HasSuffix(path, "/cancel"), strings.HasSuffix(path, "/terminate"), strings.Contains(path, "/signal/"):
		switch body {
		case "control characters", "emoji", "long ids", "empty text":
			return true
		}
	}
	return false
}

// TestOddIDsOnPaths: ids that cannot exist are not found, ids that are no text are refused, and none of
// them is a fault.
func TestOddIDsOnPaths(t *testing.T) {
	onEvery(t, func(on engine) {
		t := on.T
		p := serve(t, on.open())
		p.register(t, nil)
		fence := map[string]any{"lease_owner": "w", "workflow_task_attempt": 1}
		for id, reason := range map[string]string{
			"nothing": "task_not_found", "a%2Fb": "task_not_found", "%F0%9F%98%80": "task_not_found", strings.Repeat("x", 256): "task_not_found",
			strings.Repeat("%F0%9F%98%80", 300): "task_not_found", "'%20OR%201=1%20--": "task_not_found", "0": "task_not_found", "null": "task_not_found",
			"%FF": "validation_failed", "%C0%AF": "validation_failed", "a%00b": "validation_failed", "a%0Ab": "validation_failed",
		} {
			status := map[string]int{"task_not_found": 404, "validation_failed": 422}[reason]
			p.Post("/worker/workflow-tasks/"+id+"/heartbeat", fence, handlertest.Deliberate()).Refused(status, reason)
			p.Post("/worker/activity-tasks/"+id+"/heartbeat", map[string]any{"lease_owner": "w", "activity_attempt_id": "A"}, handlertest.Deliberate()).
				Refused(status, reason)
			notFound := map[string]string{"task_not_found": "worker_not_found", "validation_failed": "validation_failed"}[reason]
			p.Do("DELETE", "/worker/registrations/"+id, nil, handlertest.Deliberate()).Refused(status, notFound)
			notFound = map[string]string{"task_not_found": "instance_not_found", "validation_failed": "validation_failed"}[reason]
			p.Get("/workflows/"+id, handlertest.Deliberate()).Refused(status, notFound)
		}
		for _, id := range []string{"w/1", "😀", "100%", "%2F", strings.Repeat("w", 255), strings.Repeat("😀", 255), "0", "false", "null"} {
			p.register(t, map[string]any{"worker_id": id})
			p.Do("DELETE", "/worker/registrations/"+url.PathEscape(id), nil).Expect(200).Is(map[string]any{"worker_id": id, "outcome": "deregistered"})
		}
	})
}

// TestNamespacesDoNotSeeOneAnother: what another namespace holds and what does not exist look the same
// (field report R97).
func TestNamespacesDoNotSeeOneAnother(t *testing.T) {
	onEvery(t, func(on engine) {
		t := on.T
		p := serve(t, on.open())
		p.addNamespace(t, "other")
		p.register(t, nil)
		run := p.start(map[string]any{"workflow_id": "mine"})
		p.turn(t, map[string]any{"type": "schedule_activity", "activity_type": "greet"})
		p.Post("/workflows/mine/signal/go", nil)
		activity := p.poll(t, "activity-tasks")
		p.start(map[string]any{"workflow_id": "mine-2"})
		task := p.poll(t, "workflow-tasks")
		other := p.With("X-Namespace", "other")
		same := func(method, path, id, made string, body any) {
			t.Helper()
			seen := other.Do(method, strings.ReplaceAll(path, "ID", id), body)
			unseen := other.Do(method, strings.ReplaceAll(path, "ID", made), body)
			require.Equal(t, unseen.Status, seen.Status, "%s", seen.Body)
			require.Equal(t, strings.ReplaceAll(string(unseen.Body), made, id), string(seen.Body))
			require.Equal(t, 404, seen.Status)
		}
		fence := map[string]any{"lease_owner": "w", "workflow_task_attempt": 1}
		id := task.Text("task.task_id")
		same("POST", "/worker/workflow-tasks/ID/heartbeat", id, "01NOTHING", fence)
		same("POST", "/worker/workflow-tasks/ID/complete", id, "01NOTHING", map[string]any{"lease_owner": "w", "workflow_task_attempt": 1, "commands": []any{}})
		same("POST", "/worker/workflow-tasks/ID/history", id, "01NOTHING", map[string]any{"lease_owner": "w", "workflow_task_attempt": 1, "next_history_page_token": "MQ=="})
		same("POST", "/worker/workflow-tasks/ID/fail", id, "01NOTHING", map[string]any{"lease_owner": "w", "workflow_task_attempt": 1, "failure": map[string]any{"message": "m"}})
		attempt := map[string]any{"lease_owner": "w", "activity_attempt_id": activity.Text("task.activity_attempt_id")}
		id = activity.Text("task.task_id")
		for _, report := range []string{"heartbeat", "complete", "status"} {
			same("POST", "/worker/activity-tasks/ID/"+report, id, "01NOTHING", attempt)
		}
		same("DELETE", "/worker/registrations/ID", "w", "01NOTHING", nil)
		for _, path := range []string{"/workflows/ID", "/workflows/ID/runs"} {
			same("GET", path, "mine", "01NOTHING", nil)
		}
		same("POST", "/workflows/ID/cancel", "mine", "01NOTHING", nil)
		same("POST", "/workflows/ID/signal/go", "mine", "01NOTHING", nil)
		other.Get("/workflows/mine/runs/"+run+"/history").Refused(404, "run_not_found")
		other.Post("/worker/workflow-tasks/poll", pollBody(map[string]any{"timeout_seconds": 0})).Refused(412, "worker_not_registered")
		require.Equal(t, "waiting", p.Get("/workflows/mine").Text("status"))
	})
}
