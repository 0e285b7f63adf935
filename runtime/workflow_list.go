package runtime

import (
	"context"

	"dwserver/runtime/rules"
	"dwserver/runtime/store"
)

// List page sizes (control-plane.md 5).
const (
	DefaultListPage = 50
	MaxListPage     = 200
)

// statusFilter maps a list filter to the run statuses it covers.
var statusFilter = map[string][]string{
	"running":    {rules.RunPending, rules.RunRunning, rules.RunWaiting},
	"completed":  {rules.RunCompleted},
	"failed":     {rules.RunFailed, rules.RunCancelled, rules.RunTerminated},
	"cancelled":  {rules.RunCancelled},
	"terminated": {rules.RunTerminated},
}

// ListWorkflows pages through the runs of a namespace, newest start first.
func (e *Engine) ListWorkflows(ctx context.Context, req ListRequest) (ListAnswer, error) {
	size := req.PageSize
	if size <= 0 {
		size = DefaultListPage
	}
	size = min(size, MaxListPage)
	runs, err := e.store.ListWorkflows(ctx, store.ListPage{
		Namespace: req.Namespace, WorkflowType: req.WorkflowType, Statuses: statusFilter[req.Status],
		StartedAt: req.After.StartedAt, RunID: req.After.RunID, Limit: size + 1,
	})
	if err != nil {
		return ListAnswer{}, err
	}
	answer := ListAnswer{Runs: runs}
	if int64(len(runs)) > size { // one more than asked tells that there is a next page
		answer.Runs = runs[:size]
		last := answer.Runs[size-1]
		answer.Next = ListPosition{StartedAt: last.StartedAt, RunID: last.RunID}
	}
	answer.Labels, err = e.labels(ctx, answer.Runs)
	return answer, err
}
