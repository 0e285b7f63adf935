package storetest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"dwserver/runtime/rules"
	"dwserver/runtime/store"
)

// testDue: each kind of due thing, oldest first, limited, and the earliest of them all.
func testDue(t *testing.T, x *suite) {
	x = x.fresh(t)
	next := func(want int64) {
		t.Helper()
		at, err := x.NextDue(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, at)
	}
	next(rules.Never)
	timer := func(id string, due int64) *rules.Effects {
		return &rules.Effects{NewTimers: []rules.Timer{{TimerID: id, DueAt: due, Status: rules.TimerPending}}}
	}
	activity := func(id string, due int64) *rules.Effects {
		return &rules.Effects{NewActs: []rules.Activity{{ExecutionID: id, NextDeadlineAt: due}}}
	}
	run := func(id string, due int64) *rules.Effects {
		return &rules.Effects{NewRuns: []rules.Run{{RunID: id, WorkflowID: id, DeadlineAt: due}}}
	}
	lease := func(id string, due int64) *rules.Effects {
		return &rules.Effects{NewTasks: []rules.Task{{TaskID: id, Status: rules.TaskLeased, LeaseExpiresAt: due}}}
	}
	ctx := t.Context()
	for i, kind := range []struct {
		put  func(string, int64) *rules.Effects
		list func(now, limit int64) ([]string, error)
	}{
		{lease, func(now, limit int64) ([]string, error) {
			list, err := x.DueLeases(ctx, now, limit)
			return ids(list, taskID), err
		}},
		{run, func(now, limit int64) ([]string, error) {
			list, err := x.DueRuns(ctx, now, limit)
			return ids(list, func(r rules.Run) string { return r.RunID }), err
		}},
		{activity, func(now, limit int64) ([]string, error) {
			list, err := x.DueActivities(ctx, now, limit)
			return ids(list, func(a rules.Activity) string { return a.ExecutionID }), err
		}},
		{timer, func(now, limit int64) ([]string, error) {
			list, err := x.DueTimers(ctx, now, limit)
			return ids(list, func(v rules.Timer) string { return v.TimerID }), err
		}},
	} {
		base := int64(1000 - 100*i)
		x.apply(t, kind.put("never", rules.Never))
		x.apply(t, kind.put("third", base+30))
		next(base + 30)
		x.apply(t, kind.put("first", base+10))
		next(base + 10)
		x.apply(t, kind.put("second", base+20))
		for _, c := range []struct {
			now, limit int64
			want       []string
		}{
			{base + 9, 10, []string{}}, {base + 10, 10, []string{"first"}}, {base + 29, 10, []string{"first", "second"}},
			{base + 30, 2, []string{"first", "second"}}, {rules.Never, 10, []string{"first", "second", "third"}},
		} {
			got, err := kind.list(c.now, c.limit)
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		}
	}
}

// testDelayed: ready tasks that wait for their time, soonest first.
func testDelayed(t *testing.T, x *suite) {
	x = x.fresh(t)
	run := x.newRun(t)
	e := &rules.Effects{}
	for _, c := range []struct {
		at     int64
		status string
	}{{900, rules.TaskReady}, {100, rules.TaskReady}, {500, rules.TaskReady}, {600, rules.TaskLeased}, {501, rules.TaskReady}} {
		task := x.ready(run, "delayed")
		task.AvailableAt, task.Status = c.at, c.status
		e.NewTasks = append(e.NewTasks, task)
	}
	x.apply(t, e)
	got, err := x.ListDelayed(t.Context(), 499, 2)
	require.NoError(t, err)
	require.Equal(t, []string{e.NewTasks[2].TaskID, e.NewTasks[4].TaskID}, ids(got, taskID))
	got, err = x.ListDelayed(t.Context(), 500, 9)
	require.NoError(t, err)
	require.Equal(t, []string{e.NewTasks[4].TaskID, e.NewTasks[0].TaskID}, ids(got, taskID))
}

// testWorkflows: pages over runs, newest first, with equal start times, while filters hold.
func testWorkflows(t *testing.T, x *suite) {
	x = x.fresh(t)
	e := &rules.Effects{}
	for i := range 40 {
		r := rules.Run{RunID: x.id("run"), WorkflowID: x.id("wf"), Namespace: "default", WorkflowType: "even",
			Status: rules.RunRunning, StartedAt: int64(1 + i/9), DeadlineAt: rules.Never}
		if i%2 == 1 {
			r.WorkflowType, r.Status = "odd", rules.RunCompleted
		}
		if i%10 == 9 {
			r.Namespace = "other"
		}
		e.NewRuns = append(e.NewRuns, r)
	}
	x.apply(t, e)
	for _, c := range []struct {
		page store.ListPage
		keep func(rules.Run) bool
	}{
		{store.ListPage{}, func(r rules.Run) bool { return true }},
		{store.ListPage{WorkflowType: "odd"}, func(r rules.Run) bool { return r.WorkflowType == "odd" }},
		{store.ListPage{Statuses: []string{rules.RunRunning, rules.RunWaiting}}, func(r rules.Run) bool { return r.Status == rules.RunRunning }},
		{store.ListPage{WorkflowType: "odd", Statuses: []string{rules.RunRunning}}, func(r rules.Run) bool { return false }},
	} {
		var want, got []rules.Run
		for i := len(e.NewRuns) - 1; i >= 0; i-- {
			if r := e.NewRuns[i]; r.Namespace == "default" && c.keep(r) {
				want = append(want, r)
			}
		}
		c.page.Namespace, c.page.Limit = "default", 7
		for {
			list, err := x.ListWorkflows(t.Context(), c.page)
			require.NoError(t, err)
			require.LessOrEqual(t, len(list), 7)
			if got = append(got, list...); len(list) < 7 {
				break
			}
			c.page.StartedAt, c.page.RunID = list[6].StartedAt, list[6].RunID
		}
		same(t, want, got)
	}
	first := e.NewRuns[0]
	for n := int64(3); n > 0; n-- {
		r := first
		r.RunID, r.RunNumber = x.id("run"), n
		x.apply(t, &rules.Effects{NewRuns: []rules.Run{r}})
	}
	chain, err := x.ListRuns(t.Context(), first.WorkflowID)
	require.NoError(t, err)
	require.Len(t, chain, 4)
	for i, r := range chain {
		require.EqualValues(t, i, r.RunNumber)
	}
}

// testPrune: what is over goes in small steps, what is live stays.
func testPrune(t *testing.T, x *suite) {
	x = x.fresh(t)
	e := &rules.Effects{}
	receipt := func(id string, prune int64, change func(*rules.Task)) {
		task := x.ready(rules.Run{RunID: id, Namespace: "default"}, "prune")
		task.Status, task.LeaseOwner, task.LeaseExpiresAt, task.AttemptCount = rules.TaskLeased, "w", 200, 3
		change(&task)
		e.NewTasks = append(e.NewTasks, task)
		e.PollReceipts = append(e.PollReceipts, rules.PollReceipt{Namespace: "default", WorkerID: "w", PollRequestID: id,
			TaskID: task.TaskID, Attempt: 3, PruneAt: prune})
	}
	receipt("live", 50, func(*rules.Task) {})
	receipt("young", 101, func(task *rules.Task) { task.Status = rules.TaskCompleted })
	receipt("closed", 50, func(task *rules.Task) { task.Status = rules.TaskCompleted })
	receipt("expired", 51, func(task *rules.Task) { task.LeaseExpiresAt = 100 })
	receipt("later attempt", 52, func(task *rules.Task) { task.AttemptCount = 4 })
	receipt("other owner", 100, func(task *rules.Task) { task.LeaseOwner = "x" })
	e.Registrations = []rules.Registration{{Token: "active"}, {Token: "old", EndedAt: 5}, {Token: "older", EndedAt: 4}, {Token: "recent", EndedAt: 100}}
	x.apply(t, e)

	for _, want := range []int64{3, 1, 0} {
		n, err := x.PrunePollReceipts(t.Context(), 100, 3)
		require.NoError(t, err)
		require.Equal(t, want, n)
	}
	for _, p := range e.PollReceipts {
		_, err := x.ReadPollReceipt(t.Context(), "default", "w", "", p.PollRequestID)
		if p.PollRequestID == "live" || p.PollRequestID == "young" {
			require.NoError(t, err, p.PollRequestID)
		} else {
			require.ErrorIs(t, err, store.ErrNotFound, p.PollRequestID)
		}
	}
	for _, want := range []int64{1, 1, 0} {
		n, err := x.PruneRegistrations(t.Context(), 100, 1)
		require.NoError(t, err)
		require.Equal(t, want, n)
	}
	x.inside(t, func(ctx context.Context, tx store.Tx) {
		for _, token := range []string{"active", "recent"} {
			_, err := tx.GetRegistration(ctx, token)
			require.NoError(t, err, token)
		}
	})
}

// testClose: a closed store refuses, and says so.
func testClose(t *testing.T, x *suite) {
	x = x.fresh(t)
	require.NoError(t, x.Ping(t.Context()))
	x.Notify(func(store.Wake) {})
	require.Positive(t, x.WakeInterval())
	require.NoError(t, x.Close())
	require.ErrorIs(t, x.try(t, &rules.Effects{Seen: &rules.WorkerSeen{}}), store.ErrClosed)
	_, err := x.ReadRun(t.Context(), "any")
	require.Error(t, err)
	require.NotErrorIs(t, err, store.ErrNotFound)
	require.Error(t, x.Ping(t.Context()))
	require.NoError(t, x.Close(), "closing twice")
}
