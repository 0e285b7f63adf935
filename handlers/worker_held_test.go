package handlers_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"dwserver/handlers/handlertest"

	"github.com/stretchr/testify/require"
)

const pollTime = 30 * time.Second

// pollBody is a poll of the worker "w" that is held for the server's own time.
func pollBody(more map[string]any) map[string]any {
	body := map[string]any{"worker_id": "w", "task_queue": "default"}
	for name, value := range more {
		body[name] = value
	}
	return body
}

// inBackground sends a request that is held; the reply arrives on the channel.
func (p *plane) inBackground(path string, body any) <-chan *handlertest.Reply {
	replies := make(chan *handlertest.Reply, 1)
	go func() { replies <- p.Post(path, body) }()
	return replies
}

func within(t *testing.T, replies <-chan *handlertest.Reply) *handlertest.Reply {
	t.Helper()
	select {
	case reply := <-replies:
		require.NotNil(t, reply)
		return reply
	case <-time.After(10 * time.Second):
		t.Fatal("the held request was not answered")
		return nil
	}
}

func TestHeldPollsAreWoken(t *testing.T) {
	onEvery(t, func(on engine) {
		t := on.T
		p := serve(t, on.open())
		p.register(t, nil)
		held := p.inBackground("/worker/workflow-tasks/poll", pollBody(nil))
		p.clock.await(t, pollTime)
		run := p.start(map[string]any{})
		task := within(t, held).Expect(200).Is(map[string]any{"poll_status": "leased", "task.run_id": run, "task.workflow_task_attempt": 1})

		held = p.inBackground("/worker/activity-tasks/poll", pollBody(map[string]any{"poll_request_id": "a-1"}))
		p.clock.await(t, pollTime)
		p.Post("/worker/workflow-tasks/"+task.Text("task.task_id")+"/complete", map[string]any{"lease_owner": "w", "workflow_task_attempt": 1,
			"commands": []map[string]any{{"type": "schedule_activity", "activity_type": "greet", "start_to_close_timeout": 60}}}).Expect(200)
		within(t, held).Expect(200).Is(map[string]any{"poll_status": "leased", "task.attempt_number": 1, "task.activity_type": "greet",
			"task.deadlines.start_to_close": "2026-01-02T03:05:05.000678Z", "server_time": "2026-01-02T03:04:05.000678Z"})
	})
}

func TestHeldPollsEnd(t *testing.T) {
	onEvery(t, func(on engine) {
		t := on.T
		p := serve(t, on.open())
		p.register(t, nil)
		for _, kind := range []string{"workflow-tasks", "activity-tasks"} {
			held := p.inBackground("/worker/"+kind+"/poll", pollBody(map[string]any{"timeout_seconds": 7}))
			p.clock.await(t, 7*time.Second)
			p.clock.advance(7 * time.Second)
			within(t, held).Expect(200).Is(map[string]any{"poll_status": "empty", "task": nil})

			held = p.inBackground("/worker/"+kind+"/poll", pollBody(nil))
			p.clock.await(t, pollTime)
			p.register(t, nil)
			within(t, held).Expect(200).Is(map[string]any{"poll_status": "stale_worker_registration", "reason": "stale_worker_registration", "task": nil})
		}
		// A worker heartbeat alone ends nothing; a drain does.
		held := p.inBackground("/worker/workflow-tasks/poll", pollBody(nil))
		p.clock.await(t, pollTime)
		p.Post("/worker/heartbeat", map[string]any{"worker_id": "w"}).Expect(200)
		p.engine.Drain()
		within(t, held).Expect(200).Is(map[string]any{"poll_status": "empty", "task": nil})
		p.start(map[string]any{})
	})
}

func TestAWorkerWithoutTypesIsHeldForAMoment(t *testing.T) {
	onEvery(t, func(on engine) {
		t := on.T
		p := serve(t, on.open())
		p.register(t, map[string]any{"supported_workflow_types": []string{}, "supported_activity_types": []string{}})
		for kind, status := range map[string]string{"workflow-tasks": "no_workflow_capability", "activity-tasks": "no_activity_capability"} {
			held := p.inBackground("/worker/"+kind+"/poll", pollBody(nil))
			require.Eventually(t, func() bool { return p.engine.HeldPolls() == 1 }, 10*time.Second, time.Millisecond)
			require.Empty(t, held)
			// Others wait for a second too, so that the clock is moved until the poll has seen it.
			require.Eventually(t, func() bool { p.clock.advance(time.Second); return len(held) == 1 }, 10*time.Second, time.Millisecond)
			within(t, held).Expect(200).Is(map[string]any{"poll_status": status, "task": nil})
		}
	})
}

// TestACallerWhoLeavesTakesNoTask: a poll whose connection is gone is over, and what becomes ready later
// goes to the next poll.
func TestACallerWhoLeavesTakesNoTask(t *testing.T) {
	onEvery(t, func(on engine) {
		t := on.T
		p := serve(t, on.open())
		p.register(t, nil)
		ctx, leave := context.WithCancel(t.Context())
		left := make(chan error, 1)
		go func() {
			left <- p.Abandoned(ctx, http.MethodPost, "/worker/workflow-tasks/poll", pollBody(map[string]any{"poll_request_id": "gone"}))
		}()
		p.clock.await(t, pollTime)
		require.Eventually(t, func() bool { return p.engine.HeldPolls() == 1 }, 10*time.Second, time.Millisecond)
		leave()
		require.ErrorIs(t, <-left, context.Canceled)
		require.Eventually(t, func() bool { return p.engine.HeldPolls() == 0 }, 10*time.Second, time.Millisecond)
		p.start(map[string]any{})
		p.poll(t, "workflow-tasks").Is(map[string]any{"task.workflow_task_attempt": 1})
	})
}

// TestALostAnswerIsFoundAgain: the lease of a poll whose answer was lost comes back under its id, and only
// under its id (field report R11).
func TestALostAnswerIsFoundAgain(t *testing.T) {
	onEvery(t, func(on engine) {
		t := on.T
		p := serve(t, on.open())
		p.register(t, nil)
		p.start(map[string]any{})
		first := p.Post("/worker/workflow-tasks/poll", pollBody(map[string]any{"poll_request_id": "x", "timeout_seconds": 0})).Expect(200)
		p.clock.advance(10 * time.Second)
		again := p.Post("/worker/workflow-tasks/poll", pollBody(map[string]any{"poll_request_id": "x", "timeout_seconds": 0})).Expect(200)
		require.JSONEq(t, string(first.Body), string(again.Body), "attempt, lease and history are those of the first answer")
		p.Post("/worker/workflow-tasks/poll", pollBody(map[string]any{"poll_request_id": "y", "timeout_seconds": 0})).Expect(200).
			Is(map[string]any{"poll_status": "empty"})

		// Two polls under one id at the same time are one poll.
		p.Post("/worker/workflow-tasks/"+first.Text("task.task_id")+"/complete", map[string]any{"lease_owner": "w", "workflow_task_attempt": 1,
			"commands": []map[string]any{{"type": "schedule_activity", "activity_type": "greet"}, {"type": "schedule_activity", "activity_type": "greet"}}}).Expect(200)
		body := pollBody(map[string]any{"poll_request_id": "both"})
		one, two := p.inBackground("/worker/activity-tasks/poll", body), p.inBackground("/worker/activity-tasks/poll", body)
		a, b := within(t, one).Expect(200), within(t, two).Expect(200)
		require.Equal(t, a.Text("task.activity_attempt_id"), b.Text("task.activity_attempt_id"))
		require.NotEmpty(t, a.Text("task.activity_attempt_id"))
	})
}
