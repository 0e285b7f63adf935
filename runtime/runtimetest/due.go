package runtimetest

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"dwserver/runtime"
	"dwserver/runtime/rules"
)

var dueCases = []testCase{
	{"LongTimers", testLongTimers}, {"ClockSteps", testClockSteps}, {"LoopFires", testLoopFires},
	{"LoopAfterReopen", testLoopAfterReopen}, {"ManyTimers", testManyTimers}, {"RunTimeouts", testRunTimeouts},
	{"ZeroDelay", testZeroDelay}, {"TwoLoops", testTwoLoops}, {"SickWork", testSickWork},
}

// testLongTimers: delays of minutes, days and more than a year fire once, at their time, also when
// the server was restarted in between (R53).
func testLongTimers(t *testing.T, open Open) {
	for _, d := range []time.Duration{20 * time.Minute, 25 * time.Hour, 400 * 24 * time.Hour} {
		x := newFixture(t, open)
		x.register("w")
		run := x.begun("wf")
		x.step("w", timer(int64(d.Seconds())))
		x.due(d / 2)
		x.restart()
		x.due(d/2 - time.Microsecond)
		require.NotContains(t, x.history(run.RunID, 0), "TimerFired#1", "not early")
		x.due(time.Microsecond)
		x.due(d)
		require.Equal(t, []string{"TimerScheduled#1", "TimerFired#1"}, x.history(run.RunID, 2), "once")
		fired := x.payload(run.RunID, "TimerFired")
		require.Equal(t, fired["fire_at"], fired["fired_at"])
		x.register("w")
		x.step("w", finish())
	}
}

// testClockSteps: the wall clock is set back a minute and on an hour: each timer fires once, no
// lease lasts for ever, and a small step does not end them all (R55).
func testClockSteps(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	run := x.begun("wf")
	x.step("w", timer(30), timer(600))
	x.begun("other")
	x.takeWorkflow("w")
	x.due(20e9)
	x.Clock.Step(-60 * time.Second)
	require.NoError(t, x.RunDue(x.ctx()))
	x.due(69e9)
	require.NotContains(t, x.history(run.RunID, 0), "TimerFired#1")
	x.due(1e9)
	require.Contains(t, x.history(run.RunID, 0), "TimerFired#1", "30 s by the clock on the wall")
	task := x.takeWorkflow("w")
	x.due(30e9)
	x.takeWorkflow("w") // the other's lease ended, a minute late
	x.Clock.Step(5 * time.Second)
	require.NoError(t, x.RunDue(x.ctx()))
	_, err := x.HeartbeatWorkflowTask(x.ctx(), workflowFence(&task.Task))
	require.NoError(t, err)
	x.Clock.Step(time.Hour)
	require.NoError(t, x.RunDue(x.ctx()))
	require.Contains(t, x.history(run.RunID, 0), "TimerFired#2")
	x.due(3600e9)
	fired := 0
	for _, ev := range x.history(run.RunID, 0) {
		if ev == "TimerFired#1" || ev == "TimerFired#2" {
			fired++
		}
	}
	require.Equal(t, 2, fired, "each once")
	_, err = x.HeartbeatWorkflowTask(x.ctx(), workflowFence(&task.Task))
	x.refusal("task_not_leased", err)
	x.takeWorkflow("w")
	x.takeWorkflow("w")
}

// await waits until a run's history holds an event so many times. It moves no clock: a commit tells.
func (x *fixture) await(run rules.Run, eventType string, times int) {
	x.Helper()
	require.NoError(x, x.within(func(ctx context.Context) error {
		seen, after := 0, int64(0)
		for seen < times {
			page, err := x.History(ctx, runtime.HistoryRequest{Target: runTarget(run), After: after, Wait: true, Timeout: 1000 * time.Hour})
			if err != nil {
				return err
			}
			for _, ev := range page.Events {
				after = ev.Sequence
				if ev.EventType == eventType {
					seen++
				}
			}
		}
		return nil
	}), "waiting for %s", eventType)
}

func runTarget(run rules.Run) runtime.Target {
	return runtime.Target{Namespace: run.Namespace, WorkflowID: run.WorkflowID, RunID: run.RunID}
}

// testLoopFires: the loop itself does each kind of due work, told by the commit that made it due.
func testLoopFires(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	run := x.begun("wf", func(r *runtime.StartRequest) { r.RunTimeout = 100 })
	x.step("w", timer(0)) // the clock stands still
	x.await(run, "TimerFired", 1)
	x.step("w", timer(2), activity("act", retrying(2), func(c *command) { c.ScheduleToStartTimeout = ptr[int64](3) }))
	x.Clock.Advance(2 * time.Second)
	x.await(run, "TimerFired", 2)
	x.Clock.Advance(time.Second)
	x.await(run, "ActivityRetryScheduled", 1)
	x.takeActivity("w")
	x.takeWorkflow("w")
	x.Clock.Advance(97 * time.Second)
	x.await(run, "WorkflowTimedOut", 1)
}

// testLoopAfterReopen: what is due is known from the database alone.
func testLoopAfterReopen(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	run := x.begun("wf", func(r *runtime.StartRequest) { r.RunTimeout = 1000 })
	x.step("w", timer(5), activity("act", retrying(3)), activity("b", func(c *command) { c.ScheduleToCloseTimeout = ptr[int64](6) }))
	x.takeActivity("w")
	x.end()
	x.Clock.Advance(400 * time.Second) // everything but the run's own time passed while nobody was there
	x.begin()
	x.await(run, "TimerFired", 1)
	x.await(run, "ActivityTimedOut", 1)
	x.await(run, "ActivityRetryScheduled", 1)
	x.end()
	x.Clock.Advance(600 * time.Second)
	x.begin()
	x.await(run, "WorkflowTimedOut", 1)
}

// testManyTimers: more than a batch of timers due at one moment, each fires once.
func testManyTimers(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	const runs, timers = 8, 100
	var all []rules.Run
	for range runs {
		all = append(all, x.begun(""))
		var commands []command
		for range timers {
			commands = append(commands, timer(60))
		}
		x.step("w", commands...)
	}
	x.due(60e9)
	for _, run := range all {
		fired := 0
		for _, ev := range x.events(run.RunID) {
			if ev.EventType == "TimerFired" {
				fired++
			}
		}
		require.Equal(t, timers, fired)
		x.step("w", finish())
	}
}

func testRunTimeouts(t *testing.T, open Open) {
	for kind, change := range map[string]func(*runtime.StartRequest){
		"run_timeout":       func(r *runtime.StartRequest) { r.RunTimeout = 10 },
		"execution_timeout": func(r *runtime.StartRequest) { r.ExecutionTimeout, r.RunTimeout = 10, 5000 },
	} {
		x := newFixture(t, open)
		x.register("w")
		run := x.begun("wf", change)
		x.step("w", activity("act"), timer(100), awaitSignal("go", within(90)))
		x.takeActivity("w")
		x.signal("wf", "other")
		x.due(10e9 - 1000)
		require.False(t, closed(x.run(run.RunID)))
		x.due(1000)
		require.Equal(t, kind, x.payload(run.RunID, "WorkflowTimedOut")["timeout_kind"])
		require.Equal(t, []string{"ActivityCancelled#1", "TimerCancelled#2", "TimerCancelled#3", "SignalRejected", "WorkflowTimedOut"},
			x.history(run.RunID, len(x.events(run.RunID))-5))
		_, err := x.SignalWorkflow(x.ctx(), signalRequest("wf", "go"))
		x.refusal("run_not_active", err)
		x.nothing("w")
	}
}

func closed(run rules.Run) bool { return run.IsClosed() }

func testZeroDelay(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	x.begun("wf")
	x.step("w", timer(0))
	require.NoError(t, x.RunDue(x.ctx()))
	x.step("w", finish())
}

// testTwoLoops: many processes share the work of one database, and each piece is done once.
func testTwoLoops(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	run := x.begun("wf")
	var commands []command
	for i := range int64(60) {
		commands = append(commands, timer(1+i%3))
	}
	x.step("w", commands...)
	other := runtime.New(x.Store, x.options)
	require.NoError(t, other.Start(x.ctx()))
	defer other.Close()
	for range 3 {
		x.Clock.Advance(time.Second)
		done := make(chan error, 1)
		go func() { done <- other.RunDue(x.ctx()) }()
		require.NoError(t, x.RunDue(x.ctx()))
		require.NoError(t, <-done)
	}
	require.Len(t, x.events(run.RunID), 2+60+60)
}
