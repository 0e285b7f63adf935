package handlers

import (
	"context"

	"dwserver/runtime"
	"dwserver/runtime/rules"
)

// workerEngine is what the worker plane asks of the engine. Every method answers a *runtime.Refusal or
// a fault; polls wait no longer than the request's context lives.
type workerEngine interface {
	Register(ctx context.Context, r runtime.RegisterRequest) (runtime.RegisterResult, error)
	Deregister(ctx context.Context, namespace, workerID string) (recovered int64, err error)
	DeregisterFenced(ctx context.Context, namespace, workerID, token string) (recovered int64, err error)
	HeartbeatWorker(ctx context.Context, r runtime.HeartbeatWorkerRequest) (rules.Worker, error)

	PollWorkflowTask(ctx context.Context, r runtime.PollRequest) (runtime.PollResult, error)
	WorkflowTaskHistory(ctx context.Context, r runtime.WorkflowHistoryRequest) (runtime.HistoryPage, error)
	HeartbeatWorkflowTask(ctx context.Context, f runtime.WorkflowFence) (runtime.WorkflowHeartbeatResult, error)
	CompleteWorkflowTask(ctx context.Context, r runtime.CompleteWorkflowTaskRequest) (runtime.CompleteWorkflowTaskResult, error)
	FailWorkflowTask(ctx context.Context, r runtime.FailWorkflowTaskRequest) (runtime.FailWorkflowTaskResult, error)

	PollQueryTask(ctx context.Context, r runtime.PollRequest) (runtime.PollResult, error)

	PollActivityTask(ctx context.Context, r runtime.PollRequest) (runtime.PollResult, error)
	HeartbeatActivity(ctx context.Context, r runtime.HeartbeatActivityRequest) (runtime.ActivityState, error)
	CompleteActivity(ctx context.Context, r runtime.CompleteActivityRequest) (runtime.ActivityOutcomeResult, error)
	FailActivity(ctx context.Context, r runtime.FailActivityRequest) (runtime.ActivityOutcomeResult, error)
	ActivityStatus(ctx context.Context, f runtime.ActivityFence) (runtime.ActivityState, error)
}
