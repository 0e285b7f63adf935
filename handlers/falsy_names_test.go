package handlers_test

import (
	"testing"
)

// TestNamesThatSomeLanguagesTakeForNothing: "0", "false" and "null" are names like any other, of types, queues,
// signals, builds, workflows, workers and poll requests, and an empty list of types means none (field report R93).
func TestNamesThatSomeLanguagesTakeForNothing(t *testing.T) {
	onEvery(t, func(on engine) {
		t := on.T
		p := serve(t, on.open())
		for _, name := range []string{"0", "false", "null"} {
			p.register(t, map[string]any{"worker_id": name, "task_queue": name, "build_id": name,
				"supported_workflow_types": []string{name}, "supported_activity_types": []string{name}})
			p.Post("/workflows", map[string]any{"workflow_id": name, "workflow_type": name, "task_queue": name}).Expect(201)
			p.Post("/workflows/"+name+"/signal/"+name, map[string]any{"request_id": name}).Expect(202)
			ask := map[string]any{"worker_id": name, "task_queue": name, "build_id": name, "poll_request_id": name, "timeout_seconds": 0}
			task := p.Post("/worker/workflow-tasks/poll", ask).Expect(200).Is(map[string]any{"poll_status": "leased",
				"task.workflow_id": name, "task.workflow_type": name, "task.task_queue": name})
			p.Post("/worker/workflow-tasks/poll", ask).Expect(200).Is(map[string]any{"task.task_id": task.Text("task.task_id"),
				"task.workflow_task_attempt": 1})
			p.Post("/worker/workflow-tasks/"+task.Text("task.task_id")+"/complete", map[string]any{"lease_owner": name,
				"workflow_task_attempt": 1, "commands": []any{map[string]any{"type": "schedule_activity", "activity_type": name}}}).Expect(200)
			p.Post("/worker/activity-tasks/poll", ask).Expect(200).Is(map[string]any{"poll_status": "leased", "task.activity_type": name})
			p.Get("/workflows?workflow_type=" + name).Expect(200).Is(map[string]any{"workflow_count": 1, "workflows.0.workflow_id": name})
		}
		p.register(t, map[string]any{"worker_id": "none", "supported_workflow_types": []string{}, "supported_activity_types": []string{}})
		for kind, status := range map[string]string{"workflow": "no_workflow_capability", "activity": "no_activity_capability"} {
			p.Post("/worker/"+kind+"-tasks/poll", map[string]any{"worker_id": "none", "task_queue": "default", "timeout_seconds": 0}).
				Expect(200).Is(map[string]any{"task": nil, "poll_status": status})
		}
	})
}
