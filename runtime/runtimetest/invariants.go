package runtimetest

import (
	"context"
	"encoding/json"

	"github.com/stretchr/testify/require"

	"dwserver/runtime/rules"
	"dwserver/runtime/store"
)

// checkAll holds every run of the database to its invariants.
func (x *fixture) checkAll() {
	x.Helper()
	page := store.ListPage{Namespace: "default", Limit: 500}
	for {
		runs, err := x.Store.ListWorkflows(x.ctx(), page)
		require.NoError(x, err)
		for i := range runs {
			x.check(&runs[i])
		}
		if int64(len(runs)) < page.Limit {
			return
		}
		page.StartedAt, page.RunID = runs[len(runs)-1].StartedAt, runs[len(runs)-1].RunID
	}
}

// check holds one run to its invariants: contiguous sequences, counters that tell the open rows, one
// open workflow task, attempts without gaps, nothing open on a closed run.
func (x *fixture) check(run *rules.Run) {
	x.Helper()
	events := x.events(run.RunID)
	require.Len(x, events, int(run.LastHistorySequence), "events of run %s", run.RunID)
	size := int64(0)
	for i, ev := range events {
		require.Equal(x, int64(i+1), ev.Sequence, "sequences are contiguous from 1")
		require.True(x, json.Valid(ev.Payload), "payload of event %d", i+1)
		size += int64(len(ev.Payload) + len(ev.EventType))
	}
	require.Equal(x, size, run.HistorySizeBytes, "history size")
	open := x.openRows(run.RunID)
	require.Equal(x, [4]int{len(open.activities), len(open.timers), len(open.waits), len(open.signals)},
		[4]int{int(run.OpenActivities), int(run.OpenTimers), int(run.OpenWaits), int(run.PendingSignals)},
		"counters of the run: activities, timers, waits, signals")
	x.checkTasks(run, open)
	x.checkAttempts(events)
	if run.IsClosed() {
		require.Zero(x, run.OpenActivities+run.OpenTimers+run.OpenWaits+run.PendingSignals, "a closed run has nothing open")
		require.Empty(x, open.tasks)
		require.Equal(x, run.LastHistorySequence, run.ClosedEventSequence, "the closing event is the last")
		require.Equal(x, rules.Never, run.DeadlineAt)
	}
}

type openRows struct {
	activities []rules.Activity
	timers     []rules.Timer
	waits      []rules.Wait
	signals    []rules.Signal
	tasks      []rules.Task
}

func (x *fixture) openRows(runID string) (open openRows) {
	x.Helper()
	require.NoError(x, x.Store.Transition(x.ctx(), func(ctx context.Context, tx store.Tx) (err error) {
		if open.activities, err = tx.ListOpenActivities(ctx, runID); err != nil {
			return err
		}
		if open.timers, err = tx.ListOpenTimers(ctx, runID); err != nil {
			return err
		}
		if open.waits, err = tx.ListOpenWaits(ctx, runID); err != nil {
			return err
		}
		if open.signals, err = tx.ListReceivedSignals(ctx, runID); err != nil {
			return err
		}
		open.tasks, err = tx.ListOpenTasks(ctx, runID)
		return err
	}))
	return open
}

// checkTasks: the run names its one open workflow task, and every open activity has its open task.
func (x *fixture) checkTasks(run *rules.Run, open openRows) {
	x.Helper()
	workflow := 0
	byActivity := map[string]rules.Task{}
	for _, task := range open.tasks {
		if task.Kind == rules.KindWorkflow {
			workflow++
			require.Equal(x, run.WorkflowTaskID, task.TaskID)
			continue
		}
		byActivity[task.ActivityExecutionID] = task
	}
	want := 0
	if run.WorkflowTaskID != "" {
		want = 1
	}
	require.Equal(x, want, workflow, "one open workflow task")
	for _, a := range open.activities {
		task := byActivity[a.ExecutionID]
		status := map[string]string{rules.ActivityPending: rules.TaskReady, rules.ActivityRunning: rules.TaskLeased}[a.Status]
		require.Equal(x, status, task.Status, "the task of activity %s", a.ExecutionID)
		require.Equal(x, a.TaskID, task.TaskID)
	}
}

// checkAttempts: attempts of every activity are numbered from 1 without a gap, at most the last runs,
// and every ended one was reported once.
func (x *fixture) checkAttempts(events []rules.Event) {
	x.Helper()
	seen := map[string][]string{}
	for _, ev := range events {
		p := decode(x.T, ev.Payload)
		execution, _ := p["activity_execution_id"].(string)
		attempt, _ := p["activity_attempt_id"].(string)
		if list := seen[execution]; attempt != "" && (len(list) == 0 || list[len(list)-1] != attempt) {
			seen[execution] = append(list, attempt)
		}
	}
	for execution, ids := range seen {
		act, err := x.Store.ReadActivity(x.ctx(), execution)
		require.NoError(x, err)
		require.Len(x, ids, int(act.AttemptCount), "attempts of %s", execution)
		for i, id := range ids {
			attempt, err := x.Store.ReadAttempt(x.ctx(), id)
			require.NoError(x, err)
			require.Equal(x, int64(i+1), attempt.AttemptNumber, "attempts without a gap")
			running := i == len(ids)-1 && act.Status == rules.ActivityRunning
			require.Equal(x, running, attempt.Status == rules.AttemptRunning, "attempt %d of %s is %s", i+1, execution, attempt.Status)
		}
	}
}
