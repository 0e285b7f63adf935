package main

import (
	"maps"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"dwserver/handlers/handlertest"
	"dwserver/runtime/store"
)

// answerToCommitLost: the database commits, and the server does not hear of it. The client is told that the
// outcome is unknown; its repeat finds what was recorded.
func answerToCommitLost(t *testing.T, f *faulty) {
	commitFails(t, f, f.proxy.LoseAnswers, false)
}

// commitLost: the database never hears of the commit. The client is told the same, and its repeat is the
// first to have an effect.
func commitLost(t *testing.T, f *faulty) {
	commitFails(t, f, f.proxy.LoseRequests, true)
}

// commitFails sends each report and poll twice: once with a commit that fails, and again. first says that
// the second one is recorded.
func commitFails(t *testing.T, f *faulty, fail func(), first bool) {
	twice := func(t *testing.T, path string, body any, told map[string]any) *handlertest.Reply {
		t.Helper()
		t.Cleanup(f.heal)
		f.warm(t)
		f.at(fail)
		unavailable(f.In(t).Post(path, body), told)
		f.heal()
		return f.In(t).Post(path, body)
	}
	c := f.crew(t)
	t.Run("start", func(t *testing.T) {
		body := map[string]any{"workflow_id": "started", "workflow_type": "crash", "task_queue": c.queue, "request_id": "r"}
		run := twice(t, "/workflows", body, nil).Expect(201).Is(map[string]any{"outcome": "started_new"}).Text("run_id")
		require.Equal(t, run, f.In(t).Post("/workflows", body).Expect(201).Text("run_id"))
	})
	t.Run("workflow poll", func(t *testing.T) {
		body := c.poll("p1")
		told := map[string]any{"operation": "poll_workflow_task", "worker_id": c.worker, "task_queue": c.queue, "task": nil,
			"poll_status": "backend_unavailable", "poll_request_id": "p1", "retry_same_poll_request_id": true}
		task := twice(t, "/worker/workflow-tasks/poll", body, told).Expect(200).
			Is(map[string]any{"task.workflow_id": "started", "task.workflow_task_attempt": 1}).Text("task.task_id")
		require.Equal(t, task, f.In(t).Post("/worker/workflow-tasks/poll", body).Expect(200).Text("task.task_id"))
	})
	t.Run("workflow completion with a carried poll", func(t *testing.T) { carriedCommit(t, f, twice, first) })
	t.Run("activity completion", func(t *testing.T) {
		a := f.leaseActivity(t)
		told := map[string]any{"operation": "complete_activity_task", "task_id": a.id}
		maps.Copy(told, a.fence)
		twice(t, a.path+"/complete", a.with("result", payload("x")), told).Expect(200).Is(map[string]any{"recorded": first, "outcome": "completed"})
	})
	t.Run("activity failure", func(t *testing.T) {
		a := f.leaseActivity(t)
		told := map[string]any{"operation": "fail_activity_task", "task_id": a.id}
		twice(t, a.path+"/fail", a.with("failure", map[string]any{"message": "no"}), told).Expect(200).Is(map[string]any{"recorded": first})
	})
	t.Run("signal", func(t *testing.T) {
		id, _ := f.start(t, c)
		body := map[string]any{"request_id": "s"}
		command := twice(t, "/workflows/"+id+"/signal/go", body, nil).Expect(202).Text("command_id")
		require.Equal(t, command, f.In(t).Post("/workflows/"+id+"/signal/go", body).Expect(202).Text("command_id"))
	})
	t.Run("registration", func(t *testing.T) {
		told := map[string]any{"operation": "register_worker", "worker_id": "again", "task_queue": "q"}
		twice(t, "/worker/register", registration("again", "q"), told).Expect(201)
	})
	t.Run("heartbeats", func(t *testing.T) {
		w := f.leaseWorkflow(t)
		told := map[string]any{"operation": "heartbeat_workflow_task", "task_id": w.id, "workflow_task_attempt": 1, "lease_owner": w.worker}
		twice(t, w.path+"/heartbeat", w.fence, told).Expect(200).Is(map[string]any{"renewed": true})
		body := map[string]any{"worker_id": w.worker, "heartbeat_interval_seconds": 7}
		twice(t, "/worker/heartbeat", body, map[string]any{"operation": "heartbeat_worker", "worker_id": w.worker}).
			Expect(200).Is(map[string]any{"acknowledged": true})
	})
	status, out, stderr := call(t, nil, "check", "--database-url", f.dbURL)
	require.Equal(t, exitOK, status, out+stderr)
}

// warm makes the one connection prepare the statements of reports, so that what is cut next is the round trip
// with COMMIT and not one before it.
func (f *faulty) warm(t *testing.T) {
	t.Helper()
	for end, outcome := range map[string]any{"complete": payload("x"), "fail": map[string]any{"message": "no"}} {
		member := map[string]string{"complete": "result", "fail": "failure"}[end]
		w := f.leaseWorkflow(t)
		f.In(t).Post(w.path+"/complete", w.with("commands", []any{activityCommand()}, "activity_poll", w.poll("warm"))).Expect(200)
		task := f.In(t).Post("/worker/activity-tasks/poll", w.poll("warm")).Expect(200)
		f.In(t).Post("/worker/activity-tasks/"+task.Text("task.task_id")+"/"+end, map[string]any{"lease_owner": w.worker,
			"activity_attempt_id": task.Text("task.activity_attempt_id"), member: outcome}).Expect(200)
	}
}

// carriedCommit: after a lost answer the repeat tells what was recorded, and the worker's own poll under the
// carried id has the lease.
func carriedCommit(t *testing.T, f *faulty, twice func(*testing.T, string, any, map[string]any) *handlertest.Reply, first bool) {
	w := f.leaseWorkflow(t)
	body := w.with("commands", []any{activityCommand()}, "activity_poll", w.poll("carried"))
	told := map[string]any{"operation": "complete_workflow_task", "task_id": w.id}
	maps.Copy(told, w.fence)
	answer := twice(t, w.path+"/complete", body, told).Expect(200).Is(map[string]any{"recorded": first})
	if first {
		answer.Is(map[string]any{"activity_poll.leased": true})
	} else {
		require.Nil(t, answer.Any("activity_poll"), "a repeat dispatches nothing")
	}
	f.In(t).Post("/worker/activity-tasks/poll", w.poll("carried")).Expect(200).
		Is(map[string]any{"task.workflow_id": w.workflow, "task.attempt_number": 1})
}

// cutBeforeCommit: nothing was sent for good, so the server tries again by itself and the client notices nothing.
func cutBeforeCommit(t *testing.T, f *faulty) {
	a := f.leaseActivity(t)
	f.proxy.Cut() // the pool's connections; the first statement meets them
	f.In(t).Post(a.path+"/complete", a.fence).Expect(200).Is(map[string]any{"recorded": true})
	w := f.leaseWorkflow(t)
	f.proxy.Cut()
	f.In(t).Post(w.path+"/complete", w.with("commands", []any{})).Expect(200).Is(map[string]any{"recorded": true})
}

// cutAfterCommit: what the server has heard is what the client is told.
func cutAfterCommit(t *testing.T, f *faulty) {
	for range 3 {
		a := f.leaseActivity(t)
		f.In(t).Post(a.path+"/complete", a.fence).Expect(200).Is(map[string]any{"recorded": true})
		f.proxy.Cut()
		f.In(t).Post(a.path+"/complete", a.fence).Expect(200).Is(map[string]any{"recorded": false, "reason": "already_completed"})
	}
}

// repeatedCarriers: a transaction that runs again claims anew, and its answer tells only of what that claim
// got. The first try finds no activity and takes a workflow task; before the second an activity is there.
func repeatedCarriers(t *testing.T, f *faulty) {
	a := f.leaseActivity(t)
	other := crew{"other", a.queue}
	f.Post("/worker/register", other.registration()).Expect(201)
	f.start(t, a.crew)
	task := f.Post("/worker/workflow-tasks/poll", other.poll("")).Expect(200).Text("task.task_id")
	f.start(t, a.crew) // the workflow task that the first try takes
	var tries atomic.Int64
	f.onCommit.Store(func() error {
		if tries.Add(1) != 1 {
			return nil
		}
		f.Post("/worker/workflow-tasks/"+task+"/complete", map[string]any{"lease_owner": "other",
			"workflow_task_attempt": 1, "commands": []any{activityCommand()}}).Expect(200)
		return store.ErrContention
	})
	answer := f.Post(a.path+"/complete", a.with("activity_poll", a.poll("a"), "workflow_poll", a.poll("b"))).Expect(200)
	f.heal()
	require.Greater(t, tries.Load(), int64(2))
	answer.Is(map[string]any{"recorded": true, "activity_poll.leased": true})
	require.Nil(t, answer.Any("workflow_poll"), "not attempted: the worker got an activity")
}
