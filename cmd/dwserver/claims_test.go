package main

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dwserver/runtime/store/storetest/cluster"
)

// fleet is a few server processes on one new database.
type fleet struct {
	dbURL   string
	servers []*instance
	apis    []*api
}

// launchFleet starts so many servers, one on SQLite.
func launchFleet(t *testing.T, engine string, n int, settings ...string) *fleet {
	t.Helper()
	f := &fleet{dbURL: cluster.URL(t, engine)}
	if engine == cluster.SQLite {
		n = 1
	}
	for range n {
		p := launch(t, "", append([]string{"DW_DATABASE_URL=" + f.dbURL}, settings...)...)
		f.servers = append(f.servers, p)
		f.apis = append(f.apis, newAPI(p.base(t)))
	}
	t.Cleanup(func() {
		for _, p := range f.servers { // before the database goes
			_ = p.cmd.Process.Kill()
			<-p.exited
		}
	})
	return f
}

// post sends a request to one of the servers; which is the caller's choice. Every answer has to be one of
// the statuses.
func (f *fleet) post(t *testing.T, server int, path string, body any, statuses ...int) envelope {
	t.Helper()
	answer, err := f.apis[server%len(f.apis)].call(t.Context(), http.MethodPost, path, body)
	if assert.NoError(t, err, path) {
		assert.Contains(t, statuses, answer.status, "%s: %s", path, answer)
	}
	return answer
}

// register registers a worker of one workflow type and one activity type.
func (f *fleet) register(t *testing.T, worker string) {
	t.Helper()
	f.post(t, 0, "/worker/register", registration(worker, "crash"), http.StatusCreated)
}

// schedule starts a workflow and lets it schedule activities.
func (f *fleet) schedule(t *testing.T, id string, commands ...any) {
	t.Helper()
	f.post(t, 0, "/workflows", map[string]any{"workflow_id": id, "workflow_type": "crash", "task_queue": "crash"}, http.StatusCreated)
	answer := f.post(t, 1, "/worker/workflow-tasks/poll", map[string]any{"worker_id": "scheduler", "task_queue": "crash", "timeout_seconds": 5}, http.StatusOK)
	var got struct{ Task workflowTask }
	require.NoError(t, answer.decode(&got))
	require.Equal(t, id, got.Task.WorkflowID, "%s", answer)
	f.post(t, 1, "/worker/workflow-tasks/"+got.Task.TaskID+"/complete", map[string]any{"lease_owner": "scheduler",
		"workflow_task_attempt": got.Task.Attempt, "commands": commands}, http.StatusOK)
}

// claim is a claimed activity task.
type claim struct {
	TaskID    string `json:"task_id"`
	Execution string `json:"activity_execution_id"`
	AttemptID string `json:"activity_attempt_id"`
	Attempt   int64  `json:"attempt_number"`
	owner     string
}

// claim polls once for an activity; nil when there was none.
func (f *fleet) claim(t *testing.T, server int, worker string, seconds int) *claim {
	answer := f.post(t, server, "/worker/activity-tasks/poll",
		map[string]any{"worker_id": worker, "task_queue": "crash", "timeout_seconds": seconds}, http.StatusOK)
	var got struct{ Task *claim }
	if assert.NoError(t, answer.decode(&got)) && got.Task != nil {
		got.Task.owner = worker
	}
	return got.Task
}

func (f *fleet) complete(t *testing.T, server int, c *claim, statuses ...int) envelope {
	return f.post(t, server, "/worker/activity-tasks/"+c.TaskID+"/complete",
		map[string]any{"activity_attempt_id": c.AttemptID, "lease_owner": c.owner}, statuses...)
}

const (
	claimActivities = 1000
	claimPolls      = 50
)

// Two processes hand out a thousand activities to fifty polls at a time: each attempt once, whether the
// activities are one run's, whose lock every claim needs, or those of many runs.
func TestClaimsOfTwoProcesses(t *testing.T) {
	cluster.Each(t, func(t *testing.T, engine string) {
		for _, c := range []struct {
			name string
			runs int
		}{{"one run", 1}, {"many runs", 50}} {
			t.Run(c.name, func(t *testing.T) { claimAll(t, launchFleet(t, engine, 2), c.runs) })
		}
	})
}

func claimAll(t *testing.T, f *fleet, runs int) {
	f.register(t, "scheduler")
	for i := range runs {
		commands := make([]any, claimActivities/runs)
		for j := range commands {
			commands[j] = activityCommand()
		}
		f.schedule(t, fmt.Sprintf("claims-%d", i), commands...)
	}
	began := time.Now()
	claims := f.claimAll(t)
	claimed := time.Since(began)
	require.Len(t, claims, claimActivities)
	began = time.Now()
	f.completeAll(t, claims)
	t.Logf("%d claims in %s, as many completions in %s", len(claims), claimed, time.Since(began))
	for worker := range claimPolls {
		require.Nil(t, f.claim(t, worker, fmt.Sprintf("poll-%d", worker), 0), "nothing is left")
	}
	status, out, stderr := call(t, nil, "check", "--database-url", f.dbURL)
	require.Equal(t, exitOK, status, out+stderr)
}

// claimAll claims with all workers side by side until every activity is claimed.
func (f *fleet) claimAll(t *testing.T) []*claim {
	t.Helper()
	var mu sync.Mutex
	var claims []*claim
	seen := map[string]string{}
	var group sync.WaitGroup
	for i := range claimPolls {
		worker := fmt.Sprintf("poll-%d", i)
		f.register(t, worker)
		group.Go(func() {
			for got := f.claim(t, i, worker, 0); got != nil; got = f.claim(t, i, worker, 0) {
				key := fmt.Sprintf("%s attempt %d", got.Execution, got.Attempt)
				mu.Lock()
				assert.Empty(t, seen[key], "%s was given to %s too", key, worker)
				seen[key] = worker
				claims = append(claims, got)
				mu.Unlock()
				assert.Equal(t, int64(1), got.Attempt)
			}
		})
	}
	group.Wait()
	return claims
}

// completeAll completes all claims, by as many clients as there were polls.
func (f *fleet) completeAll(t *testing.T, claims []*claim) {
	t.Helper()
	queue := make(chan *claim, len(claims))
	for _, c := range claims {
		queue <- c
	}
	close(queue)
	var group sync.WaitGroup
	for i := range claimPolls {
		group.Go(func() {
			for c := range queue {
				f.complete(t, i+1, c, http.StatusOK)
			}
		})
	}
	group.Wait()
}
