package runtimetest

import (
	"context"
	"time"

	"github.com/stretchr/testify/require"

	"dwserver/runtime"
	"dwserver/runtime/rules"
)

// register registers a worker for queue q and the types that the tests use.
func (x *fixture) register(worker string, change ...func(*runtime.RegisterRequest)) rules.Worker {
	x.Helper()
	result, err := x.Register(x.ctx(), registration(worker, change...))
	require.NoError(x, err)
	return result.Worker
}

func registration(worker string, change ...func(*runtime.RegisterRequest)) runtime.RegisterRequest {
	req := runtime.RegisterRequest{
		Namespace: "default", WorkerID: worker, TaskQueue: "q", Runtime: "python", ProtocolMinor: 20,
		WorkflowTypes: []string{"flow"}, ActivityTypes: []string{"act", "b", "c"},
		MaxWorkflowTasks: 10, MaxActivityTasks: 10, MaxSessions: 1,
	}
	for _, c := range change {
		c(&req)
	}
	return req
}

// begun starts a workflow.
func (x *fixture) begun(id string, change ...func(*runtime.StartRequest)) rules.Run {
	x.Helper()
	result, err := x.StartWorkflow(x.ctx(), startRequest(id, change...))
	require.NoError(x, err)
	require.Equal(x, runtime.StartedNew, result.Outcome)
	return result.Run
}

func startRequest(id string, change ...func(*runtime.StartRequest)) runtime.StartRequest {
	req := runtime.StartRequest{
		Namespace: "default", WorkflowID: id, WorkflowType: "flow", TaskQueue: "q", Priority: 5, FairnessWeight: 1,
		Arguments: []byte(`{"codec":"avro","blob":"AA=="}`),
	}
	for _, c := range change {
		c(&req)
	}
	return req
}

func poll(worker string, change ...func(*runtime.PollRequest)) runtime.PollRequest {
	req := runtime.PollRequest{Namespace: "default", WorkerID: worker, TaskQueue: "q", ProtocolMinor: 20}
	for _, c := range change {
		c(&req)
	}
	return req
}

func named(id string) func(*runtime.PollRequest) {
	return func(r *runtime.PollRequest) { r.PollRequestID = id }
}

func held(r *runtime.PollRequest) { r.Timeout = 1000 * time.Hour }

// takeWorkflow probes for a workflow task, which must be there.
func (x *fixture) takeWorkflow(worker string, change ...func(*runtime.PollRequest)) *runtime.WorkflowTaskAnswer {
	x.Helper()
	result, err := x.PollWorkflowTask(x.ctx(), poll(worker, change...))
	require.NoError(x, err)
	require.Equal(x, runtime.PollLeased, result.Status, "a workflow task")
	return result.Workflow
}

// takeActivity probes for an activity task, which must be there.
func (x *fixture) takeActivity(worker string, change ...func(*runtime.PollRequest)) *runtime.ActivityTaskAnswer {
	x.Helper()
	result, err := x.PollActivityTask(x.ctx(), poll(worker, change...))
	require.NoError(x, err)
	require.Equal(x, runtime.PollLeased, result.Status, "an activity task")
	return result.Activity
}

// nothing probes both kinds and must find none.
func (x *fixture) nothing(worker string) {
	x.Helper()
	for _, ask := range []func(context.Context, runtime.PollRequest) (runtime.PollResult, error){x.PollWorkflowTask, x.PollActivityTask} {
		result, err := ask(x.ctx(), poll(worker))
		require.NoError(x, err)
		require.Equal(x, runtime.PollEmpty, result.Status)
	}
}

func workflowFence(task *rules.Task) runtime.WorkflowFence {
	return runtime.WorkflowFence{Namespace: task.Namespace, TaskID: task.TaskID, LeaseOwner: task.LeaseOwner, Attempt: task.AttemptCount}
}

func activityFence(a *runtime.ActivityTaskAnswer) runtime.ActivityFence {
	return runtime.ActivityFence{Namespace: a.Task.Namespace, TaskID: a.Task.TaskID, AttemptID: a.Attempt.AttemptID, LeaseOwner: a.Task.LeaseOwner}
}

func completion(task *rules.Task, commands ...rules.WorkflowCommand) runtime.CompleteWorkflowTaskRequest {
	return runtime.CompleteWorkflowTaskRequest{
		WorkflowFence: workflowFence(task), Commands: commands, BodyDigest: []byte("digest"), ProtocolMinor: 20,
	}
}

// complete completes a leased workflow task.
func (x *fixture) complete(a *runtime.WorkflowTaskAnswer, commands ...rules.WorkflowCommand) runtime.CompleteWorkflowTaskResult {
	x.Helper()
	result, err := x.CompleteWorkflowTask(x.ctx(), completion(&a.Task, commands...))
	require.NoError(x, err)
	require.True(x, result.Recorded)
	return result
}

// step takes the next workflow task and completes it.
func (x *fixture) step(worker string, commands ...rules.WorkflowCommand) runtime.CompleteWorkflowTaskResult {
	x.Helper()
	return x.complete(x.takeWorkflow(worker), commands...)
}

func success(a *runtime.ActivityTaskAnswer) runtime.CompleteActivityRequest {
	return runtime.CompleteActivityRequest{
		ActivityFence: activityFence(a), Result: []byte(`{"codec":"avro","blob":"AQ=="}`), ResultSize: 1, BodyDigest: []byte("ok"),
	}
}

func failure(a *runtime.ActivityTaskAnswer, change ...func(*rules.ActivityFailureReport)) runtime.FailActivityRequest {
	req := runtime.FailActivityRequest{
		ActivityFence: activityFence(a), BodyDigest: []byte("bad"),
		Failure: rules.ActivityFailureReport{Message: "no", Type: "Oops"},
	}
	for _, c := range change {
		c(&req.Failure)
	}
	return req
}

// succeed completes a leased activity.
func (x *fixture) succeed(a *runtime.ActivityTaskAnswer) runtime.ActivityOutcomeResult {
	x.Helper()
	result, err := x.CompleteActivity(x.ctx(), success(a))
	require.NoError(x, err)
	require.True(x, result.Recorded)
	return result
}

// failed fails a leased activity.
func (x *fixture) failed(a *runtime.ActivityTaskAnswer, change ...func(*rules.ActivityFailureReport)) runtime.ActivityOutcomeResult {
	x.Helper()
	result, err := x.FailActivity(x.ctx(), failure(a, change...))
	require.NoError(x, err)
	require.True(x, result.Recorded)
	return result
}

func target(id string) runtime.Target { return runtime.Target{Namespace: "default", WorkflowID: id} }

// signal sends a signal.
func (x *fixture) signal(id, name string) runtime.CommandResult {
	x.Helper()
	result, err := x.SignalWorkflow(x.ctx(), signalRequest(id, name))
	require.NoError(x, err)
	return result
}

func signalRequest(id, name string) runtime.SignalRequest {
	return runtime.SignalRequest{
		Target: target(id), Name: name, Arguments: []byte(`{"codec":"avro","blob":"Ag=="}`), ArgumentCount: -1,
	}
}

// terminate terminates the current run.
func (x *fixture) terminate(id string) {
	x.Helper()
	_, err := x.TerminateWorkflow(x.ctx(), runtime.CloseRequest{Target: target(id)})
	require.NoError(x, err)
}
