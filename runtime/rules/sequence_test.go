package rules

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The worked example of commands-and-history.md 2.3, event by event.
func TestWorkedExample(t *testing.T) {
	w := newWorld(t)
	require.Equal(t, []string{"StartAccepted", "WorkflowStarted"}, w.history(1))

	out := w.complete(scheduleActivity("charge"), sideEffect(), signalWait("go", within(60)))
	require.Equal(t, []string{"ActivityScheduled#1", "SideEffectRecorded#2", "SignalWaitOpened#3", "TimerScheduled#3"}, w.history(3))
	require.Equal(t, "signal_timeout", w.event("TimerScheduled")["timer_kind"])
	timer := w.timers.where(func(*Timer) bool { return true })[0]
	require.Equal(t, []string{w.activity(1).TaskID, timer.TaskID}, out.CreatedTaskIDs)
	require.Equal(t, RunWaiting, w.run().Status)

	w.start(1)
	w.signal("go")
	require.Equal(t, []string{"ActivityStarted#1", "SignalReceived"}, w.history(7))
	require.Equal(t, "workflow_signal", w.resume("resume_source_kind"))

	w.complete()
	require.Equal(t, []string{"MessageCursorAdvanced", "TimerCancelled#3", "SignalApplied#3"}, w.history(9))
	require.Equal(t, int64(3), w.run().LastStepSequence, "the next authored base is 4")
	w.succeed(1)
	w.complete(startTimer(1))
	require.Equal(t, "TimerScheduled#4", w.history(13)[0])
}

func TestLeasingLeavesRunPending(t *testing.T) {
	w := newWorld(t)
	task := w.claim()
	require.Equal(t, RunPending, w.run().Status)
	require.Equal(t, int64(2), task.ClaimedSequence)
	require.Equal(t, int64(1), task.AttemptCount)
	require.Equal(t, []string{"StartAccepted", "WorkflowStarted"}, w.history(1), "leasing writes no history")
	_, r := w.answer(task)
	require.Nil(t, r)
	require.Equal(t, RunWaiting, w.run().Status, "empty commands are nothing new")
}

func TestAuthoredSequences(t *testing.T) {
	w := newWorld(t)
	w.complete(versionMarker(), sideEffect(), startTimer(5), conditionWait("k", within(9)), scheduleActivity("a"))
	require.Equal(t, []string{"VersionMarkerRecorded#1", "SideEffectRecorded#2", "TimerScheduled#3",
		"ConditionWaitOpened#4", "TimerScheduled#4", "ActivityScheduled#5"}, w.history(3))
	w.start(5)
	w.after(5)
	require.Equal(t, 1, w.fireDue())
	require.Equal(t, []string{"ActivityStarted#5", "TimerFired#3"}, w.history(9), "later events repeat the step's sequence")
	w.complete(startTimer(0), continueAsNew())
	old := w.events[w.runs[0].RunID]
	last := old[len(old)-1]
	require.Equal(t, "WorkflowContinuedAsNew#7", w.short(last), "continue_as_new stamps the next position")
	require.Equal(t, int64(7), w.runs[0].LastStepSequence)
	require.Zero(t, w.run().LastStepSequence, "a new run counts from 1")
}

func TestEventsNameTheirTask(t *testing.T) {
	w := newWorld(t)
	task := w.claim()
	_, r := w.answer(task, scheduleActivity("a"))
	require.Nil(t, r)
	ev := w.events[w.run().RunID][2]
	require.Equal(t, task.TaskID, ev.WorkflowTaskID)
	snapshot := fields(t, ev.Payload)["task"].(map[string]any)
	require.Equal(t, task.TaskID, snapshot["id"])
	require.Equal(t, "leased", snapshot["status"])
	w.start(1)
	started := w.events[w.run().RunID][3]
	require.Empty(t, started.WorkflowTaskID, "a claim is written with no workflow task")
}

func TestPayloadsOfStepEvents(t *testing.T) {
	w := newWorld(t)
	w.complete(scheduleActivity("charge", func(c *WorkflowCommand) {
		c.Arguments, c.Queue = []byte(`"AAEC"`), ptr(" fast ")
	}, retrying(3, 1, 2)), startTimer(7), versionMarker(), sideEffect(),
		conditionWait("ready", within(4), func(c *WorkflowCommand) {
			c.ConditionDefinitionFingerprint = ptr("sha256:" + hex64)
		}))
	act := w.activity(1)
	require.Equal(t, "fast", act.TaskQueue)
	scheduled := w.event("ActivityScheduled")
	view := scheduled["activity"].(map[string]any)
	require.Equal(t, act.ExecutionID, scheduled["activity_execution_id"])
	require.Equal(t, act.ExecutionID, view["idempotency_key"])
	require.Equal(t, "pending", view["status"])
	require.Equal(t, map[string]any{"codec": "avro", "blob": "AAEC"}, view["arguments"])
	require.Equal(t, "charge", scheduled["activity_type"])
	require.Equal(t, "charge", scheduled["activity_class"])
	require.NotContains(t, scheduled, "payload_codec")

	marker := w.event("VersionMarkerRecorded")
	require.Equal(t, []any{"c1", int64(2), int64(1), int64(2)},
		[]any{marker["change_id"], marker["version"], marker["min_supported"], marker["max_supported"]})
	effect := w.event("SideEffectRecorded")
	require.Equal(t, map[string]any{"codec": "avro", "blob": "wwHioz3/VYAiNwQO"}, effect["result"])
	require.Equal(t, "avro", effect["payload_codec"])

	opened := w.event("ConditionWaitOpened")
	require.Equal(t, "ready", opened["condition_key"])
	require.Equal(t, "sha256:"+hex64, opened["condition_definition_fingerprint"])
	require.Equal(t, int64(4), opened["timeout_seconds"])
	timeout := w.event("TimerScheduled")
	require.Equal(t, opened["condition_wait_id"], timeout["condition_wait_id"])
	require.Equal(t, "condition_timeout", timeout["timer_kind"])
	require.Equal(t, FormatTime(epoch+4*second), timeout["fire_at"])
	plain := fields(t, w.events[w.run().RunID][3].Payload)
	require.NotContains(t, plain, "timer_kind", "a plain timer has no kind")
	require.Equal(t, int64(7), plain["delay_seconds"])
}

const hex64 = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
