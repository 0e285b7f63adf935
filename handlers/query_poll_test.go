package handlers_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const queryPoll = "/worker/query-tasks/poll"

func TestQueryPollsAreHeld(t *testing.T) {
	onEvery(t, func(on engine) {
		t := on.T
		p := serve(t, on.open())
		p.register(t, nil)
		held := p.inBackground(queryPoll, pollBody(map[string]any{"timeout_seconds": 7, "poll_request_id": "q-1"}))
		p.clock.await(t, 7*time.Second)
		require.Eventually(t, func() bool { return p.engine.HeldPolls() == 1 }, 10*time.Second, time.Millisecond)
		newer := p.inBackground(queryPoll, pollBody(map[string]any{"timeout_seconds": 9, "poll_request_id": "q-2"}))
		within(t, held).Expect(200).Is(map[string]any{"poll_status": "empty", "task": nil}) // the newer one ended it
		p.clock.await(t, 9*time.Second)
		p.clock.advance(9 * time.Second)
		within(t, newer).Expect(200).Is(map[string]any{"poll_status": "empty", "task": nil})

		held = p.inBackground(queryPoll, pollBody(nil))
		p.clock.await(t, pollTime)
		require.Eventually(t, func() bool { return p.engine.HeldPolls() == 1 }, 10*time.Second, time.Millisecond)
		p.register(t, nil)
		within(t, held).Expect(200).Is(map[string]any{"poll_status": "stale_worker_registration", "task": nil})
	})
}

// TestQueryPollsStandBehindWorkflowPolls: a task that a poll waits for is no reason to end the query poll; one
// that nobody waits for is, at once.
func TestQueryPollsStandBehindWorkflowPolls(t *testing.T) {
	onEvery(t, func(on engine) {
		t := on.T
		p := serve(t, on.open())
		p.register(t, nil)
		query := p.inBackground(queryPoll, pollBody(nil))
		require.Eventually(t, func() bool { return p.engine.HeldPolls() == 1 }, 10*time.Second, time.Millisecond)
		held := p.inBackground("/worker/workflow-tasks/poll", pollBody(nil))
		require.Eventually(t, func() bool { return p.engine.HeldPolls() == 2 }, 10*time.Second, time.Millisecond)
		p.start(map[string]any{})
		task := within(t, held).Expect(200).Is(map[string]any{"poll_status": "leased"})
		require.Empty(t, query)
		second := p.start(map[string]any{})
		within(t, query).Expect(200).Is(map[string]any{"poll_status": "workflow_task_pending", "task": nil})

		// The worker has a task in hand: it is not told again and again of one that it has no room for.
		p.Post(queryPoll, pollBody(map[string]any{"timeout_seconds": 0})).Expect(200).Is(map[string]any{"poll_status": "empty"})
		p.Post("/worker/workflow-tasks/"+task.Text("task.task_id")+"/complete", map[string]any{"lease_owner": "w", "workflow_task_attempt": 1,
			"commands": []map[string]any{{"type": "complete_workflow"}}}).Expect(200)
		p.Post(queryPoll, pollBody(nil)).Expect(200).Is(map[string]any{"poll_status": "workflow_task_pending"})
		p.poll(t, "workflow-tasks").Is(map[string]any{"task.run_id": second})
	})
}
