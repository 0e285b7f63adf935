package runtimetest

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dwserver/runtime"
)

var activityEndCases = []testCase{
	{"Timeouts", testActivityTimeouts}, {"ScheduleToClose", testScheduleToClose}, {"MaxAttempts", testActivityMaxAttempts},
	{"LeaseLost", testActivityLeaseLost}, {"HeartbeatAgainstScan", testHeartbeatAgainstScan}, {"MissedStart", testMissedStart},
}

func testActivityTimeouts(t *testing.T, open Open) {
	for kind, row := range map[string]struct {
		change  func(*command)
		started bool
	}{
		"schedule_to_close": {func(c *command) { c.ScheduleToCloseTimeout = ptr[int64](5) }, true},
		"schedule_to_start": {func(c *command) { c.ScheduleToStartTimeout = ptr[int64](5) }, false},
		"start_to_close":    {func(c *command) { c.StartToCloseTimeout = ptr[int64](5) }, true},
		"heartbeat":         {func(c *command) { c.HeartbeatTimeout = ptr[int64](5) }, true},
	} {
		x := newFixture(t, open)
		x.register("w")
		run := x.begun("wf")
		x.step("w", activity("act", row.change))
		if row.started {
			x.takeActivity("w")
		}
		x.due(5e9 - 1000)
		require.NotContains(t, x.history(run.RunID, 0), "ActivityTimedOut#1", "not early")
		x.due(1000)
		require.Equal(t, kind, x.payload(run.RunID, "ActivityTimedOut")["timeout_kind"])
		x.nothing2("w", x.PollActivityTask)
		require.Equal(t, "ActivityTimedOut", decode(t, x.takeWorkflow("w").Task.Payload)["workflow_event_type"])
	}
}

// testScheduleToClose: after a crash, an activity whose whole time is over is not run again; its late
// result is refused (R05).
func testScheduleToClose(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	act := x.takeActivityOf("w", "wf", retrying(5), func(c *command) { c.ScheduleToCloseTimeout = ptr[int64](3) })
	x.restart()
	x.Clock.Advance(4e9)
	x.nothing2("w", x.PollActivityTask)
	_, err := x.CompleteActivity(x.ctx(), success(act))
	x.refusal("stale_attempt", err)
	require.NoError(t, x.RunDue(x.ctx()))
	timedOut := 0
	for _, ev := range x.history(act.Run.RunID, 0) {
		if ev == "ActivityTimedOut#1" {
			timedOut++
		}
	}
	require.Equal(t, 1, timedOut)
	x.nothing2("w", x.PollActivityTask)
}

// testActivityMaxAttempts: max_attempts is the number of deliveries, whatever ends them (R81).
func testActivityMaxAttempts(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	x.begun("wf")
	x.step("w", activity("act", retrying(3), func(c *command) { c.StartToCloseTimeout = ptr[int64](5) }))
	x.failed(x.takeActivity("w"))
	x.takeActivity("w")
	x.due(5e9) // times out
	x.takeActivity("w")
	x.register("w") // is lost
	x.nothing2("w", x.PollActivityTask)
	x.due(3600e9)
	x.nothing2("w", x.PollActivityTask)
	x.step("w", finish())
}

func testActivityLeaseLost(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	once := x.takeActivityOf("w", "once")
	twice := x.takeActivityOf("w", "twice", retrying(2, 4))
	x.due(300e9)
	require.Equal(t, "ActivityLeaseExpired", x.payload(once.Run.RunID, "ActivityFailed")["exception_type"], "one attempt is one delivery")
	require.Equal(t, "timeout", x.payload(twice.Run.RunID, "ActivityRetryScheduled")["retry_reason"])
	x.nothing2("w", x.PollActivityTask)
	x.due(4e9)
	second := x.takeActivity("w")
	require.Equal(t, int64(2), second.Attempt.AttemptNumber)
	_, err := x.CompleteActivity(x.ctx(), success(twice))
	x.refusal("stale_attempt", err)
	x.succeed(second)
}

// testHeartbeatAgainstScan: heartbeats in time always win over the timeout scan (R01).
func testHeartbeatAgainstScan(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	var acts []*runtime.ActivityTaskAnswer
	for range 20 {
		acts = append(acts, x.takeActivityOf("w", "", func(c *command) { c.HeartbeatTimeout = ptr[int64](2) }))
	}
	for range 10 {
		x.Clock.Advance(1_900_000_000)
		var wg sync.WaitGroup
		for _, act := range acts {
			wg.Go(func() {
				state, err := x.HeartbeatActivity(x.ctx(), runtime.HeartbeatActivityRequest{ActivityFence: activityFence(act)})
				assert.NoError(t, err)
				assert.True(t, state.HeartbeatRecorded)
			})
			wg.Go(func() { assert.NoError(t, x.RunDue(x.ctx())) })
		}
		wg.Wait()
	}
	for _, act := range acts {
		require.NotContains(t, x.history(act.Run.RunID, 0), "ActivityTimedOut#1")
		x.succeed(act)
	}
}

func testMissedStart(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	run := x.begun("wf")
	x.step("w", activity("act", retrying(3, 1), func(c *command) { c.ScheduleToStartTimeout = ptr[int64](5) }))
	x.due(5e9)
	x.due(6e9)
	x.due(1e9)
	act := x.takeActivity("w")
	require.Equal(t, int64(3), act.Attempt.AttemptNumber)
	x.failed(act)
	require.Equal(t, 3.0, x.payload(run.RunID, "ActivityFailed")["attempt_number"])
}
