package handlers_test

import (
	"encoding/json"
	"testing"
	"time"

	"dwserver/handlers/handlertest"

	"github.com/stretchr/testify/require"
)

// TestEveryOperationOnce walks one run through every operation of the worker plane; the client holds each
// exchange against the document.
func TestEveryOperationOnce(t *testing.T) {
	onEvery(t, func(on engine) {
		t := on.T
		p := serve(t, on.open())
		registered := p.Post("/worker/register", `{"worker_id":"w","task_queue":"default","runtime":"rust","capability_manifest":{},
		  "supported_workflow_types":["greeter"],"supported_activity_types":["greet"]}`).Expect(201).
			Is(map[string]any{"registered": true, "status": "active", "namespace": "default", "task_queue": "default"})
		p.Post("/worker/heartbeat", `{"worker_id":"w","task_slots":{"workflow_available":3},"process_metrics":[]}`, handlertest.Deliberate()).Expect(200).
			Is(map[string]any{"acknowledged": true, "heartbeat_interval_seconds": 10, "stale_after_seconds": 60})
		p.start(map[string]any{"workflow_id": "flow"})

		// A failure of the worker makes a new task, after a while.
		task := p.poll(t, "workflow-tasks")
		p.Post("/worker/workflow-tasks/"+task.Text("task.task_id")+"/fail", map[string]any{"lease_owner": "w", "workflow_task_attempt": 1,
			"failure": map[string]any{"message": "out of memory", "type": "MemoryError"}}).Expect(200).
			Is(map[string]any{"outcome": "failed", "recorded": true, "reason": nil})
		p.clock.advance(time.Minute)

		task = p.Post("/worker/workflow-tasks/poll", pollBody(map[string]any{"timeout_seconds": 0, "history_page_size": 1})).Expect(200).
			Is(map[string]any{"poll_status": "leased", "task.workflow_task_attempt": 2, "task.total_history_events": 2, "task.last_history_sequence": 2})
		id, token := task.Text("task.task_id"), task.Text("task.next_history_page_token")
		require.Len(t, task.Any("task.history_events"), 1)
		page := p.Post("/worker/workflow-tasks/"+id+"/history", map[string]any{"lease_owner": "w", "workflow_task_attempt": 2,
			"next_history_page_token": token}).Expect(200).Is(map[string]any{"next_history_page_token": nil, "history_events.0.sequence": 2})
		require.Len(t, page.Any("history_events"), 1)
		fence := map[string]any{"lease_owner": "w", "workflow_task_attempt": 2}
		p.clock.advance(10 * time.Second)
		p.Post("/worker/workflow-tasks/"+id+"/heartbeat", fence).Expect(200).
			Is(map[string]any{"task_id": id, "workflow_task_attempt": 2, "lease_owner": "w", "renewed": true, "task_status": "leased", "reason": nil,
				"lease_expires_at": "2026-01-02T03:06:15.000678Z"})
		p.Post("/worker/workflow-tasks/"+id+"/complete", `{"lease_owner":"w","workflow_task_attempt":2,"commands":[{"type":"schedule_activity",
		  "activity_type":"greet","retry_policy":{"max_attempts":2}}]}`).Expect(200).
			Is(map[string]any{"outcome": "completed", "recorded": true, "run_status": "waiting", "last_history_sequence": 3})

		activity := p.poll(t, "activity-tasks").Is(map[string]any{"task.attempt": 1, "task.retry_policy.max_attempts": 2, "task.run_history_sequence": 4})
		attempt := map[string]any{"lease_owner": "w", "activity_attempt_id": activity.Text("task.activity_attempt_id")}
		base := "/worker/activity-tasks/" + activity.Text("task.task_id")
		p.Post(base+"/heartbeat", attempt).Expect(200).Is(map[string]any{"can_continue": true, "cancel_requested": false, "reason": nil})
		p.Post(base+"/status", attempt).Expect(200).Is(map[string]any{"can_continue": true, "attempt_status": "running", "task_status": "leased", "heartbeat_recorded": false})
		failed := map[string]any{"failure": map[string]any{"message": "no", "type": "E"}}
		for name, value := range attempt {
			failed[name] = value
		}
		retry := p.Post(base+"/fail", failed).Expect(200).Is(map[string]any{"outcome": "failed", "recorded": true})

		activity = p.poll(t, "activity-tasks").Is(map[string]any{"task.attempt": 2, "task.task_id": retry.Text("next_task_id")})
		attempt["activity_attempt_id"] = activity.Text("task.activity_attempt_id")
		done := p.Post("/worker/activity-tasks/"+activity.Text("task.task_id")+"/complete", attempt).Expect(200).
			Is(map[string]any{"outcome": "completed", "recorded": true})
		task = p.poll(t, "workflow-tasks").Is(map[string]any{"task.task_id": done.Text("next_task_id"), "task.workflow_event_type": "ActivityCompleted",
			"task.resume_source_kind": "activity_execution"})
		p.Post("/worker/workflow-tasks/"+task.Text("task.task_id")+"/complete", `{"lease_owner":"w","workflow_task_attempt":1,"commands":[{"type":"complete_workflow"}]}`).
			Expect(200).Is(map[string]any{"run_status": "completed"})

		fenced := p.Post("/worker/registrations/w/deregister", map[string]any{"registration_token": registered.Text("registration_token")}).Expect(200)
		p.Post("/worker/registrations/w/deregister", map[string]any{"registration_token": registered.Text("registration_token")}).Expect(200).
			Is(map[string]any{"outcome": "deregistered"})
		require.Equal(t, "deregistered", fenced.Text("outcome"))
		p.Do("DELETE", "/worker/registrations/w", nil).Refused(404, "worker_not_found")
		p.Post("/worker/heartbeat", `{"worker_id":"w"}`).Refused(404, "worker_not_registered")
	})
}

// TestACarriedPollIsThePollItself: the answer inside a completion is the body the worker's own poll gets.
func TestACarriedPollIsThePollItself(t *testing.T) {
	onEvery(t, func(on engine) {
		t := on.T
		p := serve(t, on.open())
		p.register(t, nil)
		p.start(map[string]any{})
		task := p.poll(t, "workflow-tasks")
		carried := p.Post("/worker/workflow-tasks/"+task.Text("task.task_id")+"/complete", `{"lease_owner":"w","workflow_task_attempt":1,
		  "commands":[{"type":"schedule_activity","activity_type":"greet","arguments":`+frame(5)+`}],
		  "activity_poll":{"worker_id":"w","task_queue":"default","poll_request_id":"next"}}`).Expect(200).Is(map[string]any{"activity_poll.leased": true})
		own := p.Post("/worker/activity-tasks/poll", pollBody(map[string]any{"poll_request_id": "next", "timeout_seconds": 0})).Expect(200)
		require.Equal(t, string(own.Body), memberText(t, carried.Body, "activity_poll.answer"), "the clock stands still, so not even server_time differs")

		attempt := `"activity_attempt_id":"` + own.Text("task.activity_attempt_id") + `","lease_owner":"w"`
		next := p.Post("/worker/activity-tasks/"+own.Text("task.task_id")+"/complete", `{`+attempt+`,
		  "workflow_poll":{"worker_id":"w","task_queue":"default","poll_request_id":"then"}}`).Expect(200).Is(map[string]any{"workflow_poll.leased": true})
		body := p.Post("/worker/workflow-tasks/poll", pollBody(map[string]any{"poll_request_id": "then", "timeout_seconds": 0})).Expect(200)
		require.Equal(t, string(body.Body), memberText(t, next.Body, "workflow_poll.answer"))
	})
}

// TestACarriedPollNeverRefusesItsCompletion: whatever is wrong with it, the completion is recorded.
func TestACarriedPollNeverRefusesItsCompletion(t *testing.T) {
	onEvery(t, func(on engine) {
		t := on.T
		p := serve(t, on.open())
		p.register(t, nil)
		for carried, reason := range map[string]string{
			`7`: "invalid_poll", `[]`: "invalid_poll", `{}`: "invalid_poll", `{"worker_id":"w","task_queue":"default"}`: "invalid_poll",
			`{"worker_id":"w","task_queue":"default","poll_request_id":"p","surprise":1}`: "invalid_poll",
			`{"worker_id":"v","task_queue":"default","poll_request_id":"p"}`:              "worker_mismatch",
			`{"worker_id":"w","task_queue":"other","poll_request_id":"p"}`:                "routing_mismatch",
			`{"worker_id":"w","task_queue":"default","poll_request_id":"p"}`:              "empty",
		} {
			p.start(map[string]any{})
			task := p.poll(t, "workflow-tasks")
			reply := p.Post("/worker/workflow-tasks/"+task.Text("task.task_id")+"/complete",
				`{"lease_owner":"w","workflow_task_attempt":1,"commands":[],"activity_poll":`+carried+`,"workflow_poll":null}`).Expect(200)
			reply.Is(map[string]any{"recorded": true, "activity_poll.leased": false, "activity_poll.reason": reason})
			require.False(t, reply.Has("", "workflow_poll"), "not sent, not attempted")
			var answer map[string]json.RawMessage
			require.NoError(t, json.Unmarshal([]byte(memberText(t, reply.Body, "activity_poll")), &answer))
			require.Len(t, answer, 2, "a decline carries nothing else")
		}
	})
}
