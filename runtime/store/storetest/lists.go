package storetest

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"dwserver/runtime/rules"
	"dwserver/runtime/store"
)

func testOpenRows(t *testing.T, x *suite) {
	run, other := x.newRun(t), x.newRun(t)
	e := &rules.Effects{}
	var openActs, openTimers, openWaits, openTasks, received []string
	for _, r := range []rules.Run{other, run} {
		mine := r.RunID == run.RunID
		for i, status := range []string{rules.ActivityPending, rules.ActivityRunning, rules.ActivityCompleted, rules.ActivityFailed, rules.ActivityCancelled} {
			act, task := x.activity(r, "open")
			act.Status = status
			task.Status = []string{rules.TaskReady, rules.TaskLeased, rules.TaskCompleted, rules.TaskCompleted, rules.TaskCancelled}[i]
			e.NewActs, e.NewTasks = append(e.NewActs, act), append(e.NewTasks, task)
			if mine && i < 2 {
				openActs, openTasks = append(openActs, act.ExecutionID), append(openTasks, task.TaskID)
			}
		}
		for _, status := range []string{rules.TimerFired, rules.TimerPending, rules.TimerCancelled, rules.TimerPending} {
			timer := rules.Timer{TimerID: x.id("timer"), RunID: r.RunID, Status: status, DueAt: rules.Never}
			e.NewTimers = append(e.NewTimers, timer)
			if mine && status == rules.TimerPending {
				openTimers = append(openTimers, timer.TimerID)
			}
		}
		for i, status := range []string{rules.WaitOpen, rules.WaitSatisfied, rules.WaitOpen, rules.WaitTimedOut, rules.WaitCancelled} {
			wait := rules.Wait{WaitID: x.id("wait"), RunID: r.RunID, Status: status, OpenedSequence: int64(10 - i)}
			e.NewWaits = append(e.NewWaits, wait)
			if mine && status == rules.WaitOpen {
				openWaits = append([]string{wait.WaitID}, openWaits...)
			}
		}
		for i, status := range []string{rules.SignalReceived, rules.SignalApplied, rules.SignalReceived, rules.SignalRejected} {
			signal := rules.Signal{SignalID: x.id("signal"), RunID: r.RunID, Status: status, CommandSequence: int64(10 - i)}
			e.NewSignals = append(e.NewSignals, signal)
			if mine && status == rules.SignalReceived {
				received = append([]string{signal.SignalID}, received...)
			}
		}
		open := x.ready(r, "open")
		e.NewTasks = append(e.NewTasks, open)
		if mine {
			openTasks = append(openTasks, open.TaskID)
			run.WorkflowTaskID = open.TaskID
		}
	}
	e.Run = &run
	x.apply(t, e)

	ctx := t.Context()
	acts, err := x.ListOpenActivitiesOf(ctx, run.RunID)
	require.NoError(t, err)
	require.Equal(t, openActs, ids(acts, func(a rules.Activity) string { return a.ExecutionID }))
	timers, err := x.ListOpenTimersOf(ctx, run.RunID)
	require.NoError(t, err)
	require.Equal(t, openTimers, ids(timers, func(v rules.Timer) string { return v.TimerID }))
	waits, err := x.ListOpenWaitsOf(ctx, run.RunID)
	require.NoError(t, err)
	require.Equal(t, openWaits, ids(waits, func(v rules.Wait) string { return v.WaitID }), "by opened sequence")
	x.inside(t, func(ctx context.Context, tx store.Tx) {
		acts, err := tx.ListOpenActivities(ctx, run.RunID)
		require.NoError(t, err)
		require.Equal(t, openActs, ids(acts, func(a rules.Activity) string { return a.ExecutionID }))
		timers, err := tx.ListOpenTimers(ctx, run.RunID)
		require.NoError(t, err)
		require.Equal(t, openTimers, ids(timers, func(v rules.Timer) string { return v.TimerID }))
		waits, err := tx.ListOpenWaits(ctx, run.RunID)
		require.NoError(t, err)
		require.Equal(t, openWaits, ids(waits, func(v rules.Wait) string { return v.WaitID }))
		open, err := tx.ListOpenTasks(ctx, run.RunID)
		require.NoError(t, err)
		require.Equal(t, openTasks, ids(open, taskID))
		signals, err := tx.ListReceivedSignals(ctx, run.RunID)
		require.NoError(t, err)
		require.Equal(t, received, ids(signals, func(v rules.Signal) string { return v.SignalID }), "by command sequence")
	})
	testWaitAndSignalRows(t, x)
}

// testWaitAndSignalRows: every column of the two tables that are only listed.
func testWaitAndSignalRows(t *testing.T, x *suite) {
	wait, signal := fill[rules.Wait](x.last.Add(1)), fill[rules.Signal](x.last.Add(1))
	wait.Status, signal.Status = rules.WaitOpen, rules.SignalReceived
	x.apply(t, &rules.Effects{NewWaits: []rules.Wait{wait}, NewSignals: []rules.Signal{signal}})
	require.ErrorIs(t, x.try(t, &rules.Effects{NewWaits: []rules.Wait{wait}}), store.ErrConflict)
	require.ErrorIs(t, x.try(t, &rules.Effects{NewSignals: []rules.Signal{signal}}), store.ErrConflict)
	requireRows := func() {
		t.Helper()
		waits, err := x.ListOpenWaitsOf(t.Context(), wait.RunID)
		require.NoError(t, err)
		require.Equal(t, []rules.Wait{wait}, waits)
		x.inside(t, func(ctx context.Context, tx store.Tx) {
			signals, err := tx.ListReceivedSignals(ctx, signal.RunID)
			require.NoError(t, err)
			require.Equal(t, []rules.Signal{signal}, signals)
		})
	}
	requireRows()
	nextWait, nextSignal := fill[rules.Wait](x.last.Add(1)), fill[rules.Signal](x.last.Add(1))
	nextWait.WaitID, nextWait.Status = wait.WaitID, rules.WaitOpen
	nextSignal.SignalID, nextSignal.Status = signal.SignalID, rules.SignalReceived
	x.apply(t, &rules.Effects{Waits: []rules.Wait{nextWait}, Signals: []rules.Signal{nextSignal}})
	wait = mix(wait, nextWait, "RunID", "Kind", "Sequence", "Name", "Fingerprint", "OccurrenceID", "Parallel", "CreatedAt")
	signal = mix(signal, nextSignal, "WorkflowID", "CommandID", "Name", "Arguments", "CreatedAt")
	requireRows()
	require.ErrorIs(t, x.try(t, &rules.Effects{Waits: []rules.Wait{{WaitID: "absent"}}}), store.ErrConflict)
	require.ErrorIs(t, x.try(t, &rules.Effects{Signals: []rules.Signal{{SignalID: "absent"}}}), store.ErrConflict)
}

func testSteps(t *testing.T, x *suite) {
	run, other := x.newRun(t), x.newRun(t)
	e := &rules.Effects{}
	var want []rules.Step
	add := func(s rules.Step) {
		s.Sequence, s.Parallel = int64(len(want)+10), []byte(fmt.Sprintf(`{"n":%d}`, len(want)))
		want = append(want, s)
		for _, r := range []rules.Run{run, other} {
			switch s.Kind {
			case "activity":
				act, _ := x.activity(r, "steps")
				act.Sequence, act.Status, act.ActivityType, act.Parallel = s.Sequence, s.Status, s.Name, s.Parallel
				e.NewActs = append(e.NewActs, act)
			case "timer":
				e.NewTimers = append(e.NewTimers, rules.Timer{TimerID: x.id("timer"), RunID: r.RunID, Sequence: s.Sequence,
					Status: s.Status, Parallel: s.Parallel, DueAt: rules.Never})
			default:
				e.NewWaits = append(e.NewWaits, rules.Wait{WaitID: x.id("wait"), RunID: r.RunID, Kind: s.Kind, Name: s.Name,
					Sequence: s.Sequence, Status: s.Status, Parallel: s.Parallel})
				e.NewTimers = append(e.NewTimers, rules.Timer{TimerID: x.id("timer"), RunID: r.RunID, Sequence: s.Sequence,
					Kind: rules.TimerSignalTimeout, Status: rules.TimerFired, DueAt: rules.Never})
			}
		}
	}
	for _, status := range []string{rules.ActivityPending, rules.ActivityRunning, rules.ActivityCompleted, rules.ActivityFailed, rules.ActivityCancelled} {
		add(rules.Step{Kind: "activity", Name: "act", Status: status})
	}
	for _, status := range []string{rules.TimerPending, rules.TimerFired, rules.TimerCancelled} {
		add(rules.Step{Kind: "timer", Status: status})
	}
	for _, kind := range []string{rules.WaitSignal, rules.WaitCondition} {
		for _, status := range []string{rules.WaitOpen, rules.WaitSatisfied, rules.WaitTimedOut, rules.WaitCancelled} {
			add(rules.Step{Kind: kind, Name: "name", Status: status})
		}
	}
	for i := range int64(40) { // of which two are counted, out of the range above
		act, _ := x.activity(run, "steps")
		act.Sequence, act.Status = 1000+i, rules.ActivityPending
		e.NewActs = append(e.NewActs, act)
	}
	x.apply(t, e)
	for _, c := range []struct{ from, to, open int64 }{
		{10, 15, 2}, {11, 15, 1}, {15, 18, 1}, {18, 22, 1}, {22, 26, 0}, {10, 26, 4}, {12, 13, 0}, {26, 99, 0}, {10, 10, 0},
		{1000, 1040, 2}, {1039, 1041, 1},
	} {
		x.inside(t, func(ctx context.Context, tx store.Tx) {
			n, err := tx.CountOpen(ctx, run.RunID, c.from, c.to)
			require.NoError(t, err)
			require.Equal(t, c.open, n, "open of [%d, %d)", c.from, c.to)
			if c.from >= 1000 {
				return
			}
			steps, err := tx.ListSteps(ctx, run.RunID, c.from, c.to)
			require.NoError(t, err)
			require.Len(t, steps, int(min(c.to, 26)-min(c.from, 26)))
			for _, s := range steps {
				require.Equal(t, want[s.Sequence-10], s)
			}
		})
	}
}

func testLeases(t *testing.T, x *suite) {
	run := x.newRun(t)
	owner := x.id("worker")
	e := &rules.Effects{}
	var want []string
	for i, status := range []string{rules.TaskLeased, rules.TaskReady, rules.TaskLeased, rules.TaskCompleted, rules.TaskLeased, rules.TaskLeased} {
		task := x.ready(run, "leases")
		task.Status, task.LeaseOwner = status, owner
		switch i {
		case 4:
			task.Namespace = "other"
		case 5:
			task.LeaseOwner = owner + " "
		}
		if status == rules.TaskLeased && i < 4 {
			want = append(want, task.TaskID)
		}
		e.NewTasks = append(e.NewTasks, task)
	}
	x.apply(t, e)
	x.inside(t, func(ctx context.Context, tx store.Tx) {
		got, err := tx.ListLeases(ctx, "default", owner)
		require.NoError(t, err)
		require.Equal(t, want, ids(got, taskID))
	})
	live := x.ready(run, "leases")
	live.Status, live.LeaseOwner, live.LeaseExpiresAt = rules.TaskLeased, owner, 700
	x.apply(t, &rules.Effects{NewTasks: []rules.Task{live}})
	x.inside(t, func(ctx context.Context, tx store.Tx) {
		for now, want := range map[int64]int64{699: 3, 700: 2} {
			n, err := tx.CountLeases(ctx, "default", owner, rules.KindWorkflow, now)
			require.NoError(t, err)
			require.Equal(t, want, n)
			n, err = tx.CountLeases(ctx, "default", owner, rules.KindActivity, now)
			require.NoError(t, err)
			require.Zero(t, n)
		}
	})
}

func testEvents(t *testing.T, x *suite) {
	run := x.newRun(t)
	e := &rules.Effects{}
	for i := range int64(20) {
		ev := fill[rules.Event](x.last.Add(1))
		ev.RunID, ev.Sequence = run.RunID, i+1
		e.Events = append(e.Events, ev)
	}
	x.apply(t, e)
	for _, c := range []struct{ after, upTo, limit, from, to int64 }{
		{0, 20, 100, 0, 20}, {0, rules.Never, 7, 0, 7}, {7, 20, 7, 7, 14}, {14, 16, 7, 14, 16}, {20, 30, 5, 20, 20}, {5, 5, 5, 5, 5},
	} {
		got, err := x.ListEvents(t.Context(), run.RunID, c.after, c.upTo, c.limit)
		require.NoError(t, err)
		require.Len(t, got, int(c.to-c.from))
		for i, ev := range got {
			require.Equal(t, e.Events[int(c.from)+i], ev)
		}
		x.inside(t, func(ctx context.Context, tx store.Tx) {
			inside, err := tx.ListEvents(ctx, run.RunID, c.after, c.upTo, c.limit)
			require.NoError(t, err)
			require.Equal(t, got, inside)
		})
	}
	x.inside(t, func(ctx context.Context, tx store.Tx) {
		got, err := tx.GetEvent(ctx, run.RunID, 3)
		require.NoError(t, err)
		require.Equal(t, e.Events[2], got)
		_, err = tx.GetEvent(ctx, run.RunID, 21)
		require.ErrorIs(t, err, store.ErrNotFound)
	})
	got, err := x.ReadEvent(t.Context(), run.RunID, 20)
	require.NoError(t, err)
	require.Equal(t, e.Events[19], got)
	_, err = x.ReadEvent(t.Context(), run.RunID, 21)
	require.ErrorIs(t, err, store.ErrNotFound)
}

// testRunActivities: the view of a run's activities and their attempts, open or not.
func testRunActivities(t *testing.T, x *suite) {
	run, other := x.newRun(t), x.newRun(t)
	statuses := []string{rules.ActivityPending, rules.ActivityRunning, rules.ActivityCompleted, rules.ActivityFailed, rules.ActivityCancelled}
	e := &rules.Effects{}
	for i := range int64(6) {
		for _, r := range []rules.Run{run, other} {
			act := fill[rules.Activity](x.last.Add(1))
			act.RunID, act.Sequence = r.RunID, 10-i
			act.Status = statuses[i%5]
			e.NewActs = append(e.NewActs, act)
		}
	}
	for i := range int64(3) {
		for _, id := range []string{e.NewActs[0].ExecutionID, e.NewActs[1].ExecutionID} {
			try := fill[rules.Attempt](x.last.Add(1))
			try.ExecutionID, try.AttemptNumber = id, 3-i
			e.NewTries = append(e.NewTries, try)
		}
	}
	x.apply(t, e)
	for _, c := range []struct{ after, limit, first, n int64 }{{0, 100, 5, 6}, {7, 2, 8, 2}, {8, 100, 9, 2}, {10, 5, 0, 0}} {
		list, err := x.ListActivities(t.Context(), run.RunID, c.after, c.limit)
		require.NoError(t, err)
		require.Len(t, list, int(c.n))
		for i, act := range list {
			require.Equal(t, e.NewActs[2*(10-(c.first+int64(i)))], act)
		}
	}
	tries, err := x.ListAttempts(t.Context(), e.NewActs[0].ExecutionID)
	require.NoError(t, err)
	require.Equal(t, []rules.Attempt{e.NewTries[4], e.NewTries[2], e.NewTries[0]}, tries)
}
