package rules

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSignalEligibility(t *testing.T) {
	for name, row := range map[string]struct {
		open    []WorkflowCommand
		signal  string
		eligble bool
		bound   bool
	}{
		"no wait":                    {[]WorkflowCommand{startTimer(9)}, "go", false, false},
		"a wait of the name":         {[]WorkflowCommand{signalWait("go")}, "go", true, true},
		"a wait of another name":     {[]WorkflowCommand{signalWait("stop")}, "go", false, false},
		"a condition takes any":      {[]WorkflowCommand{conditionWait("k")}, "go", true, false},
		"names compare byte by byte": {[]WorkflowCommand{signalWait("go")}, "Go", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.complete(row.open...)
			s := w.signal(row.signal)
			require.Equal(t, row.eligble, w.awake())
			if row.bound {
				require.Equal(t, w.openWaits(w.run().RunID)[0].WaitID, s.WaitID)
			} else {
				require.Equal(t, "signal-command:"+s.CommandID, s.WaitID)
			}
			received := w.event("SignalReceived")
			require.Equal(t, []any{s.SignalID, row.signal, s.WaitID, "avro"}, []any{received["signal_id"],
				received["signal_name"], received["signal_wait_id"], received["payload_codec"]})
			require.Equal(t, map[string]any{"codec": "avro", "blob": "AQ=="}, received["arguments"])
			if row.eligble {
				require.Equal(t, s.SignalID, w.resume("workflow_signal_id"))
				require.Equal(t, "signal-application:"+s.SignalID, w.resume("open_wait_id"))
			}
		})
	}
}

// Several signals of one name: each open wait takes one, the rest wait for the next.
func TestSignalsBindInOrder(t *testing.T) {
	w := newWorld(t)
	w.complete(signalWait("go"))
	first, second := w.signal("go"), w.signal("go")
	require.NotEqual(t, first.WaitID, second.WaitID, "one signal a wait")
	require.Equal(t, first.SignalID, w.resume("workflow_signal_id"))
	w.complete(signalWait("go")) // applies the first, and takes the second over
	require.Equal(t, []string{"MessageCursorAdvanced", "SignalApplied#1", "SignalWaitOpened#2"}, w.history(6))
	require.Equal(t, second.WaitID, w.event("SignalWaitOpened")["signal_wait_id"])
	require.Equal(t, second.SignalID, w.resume("workflow_signal_id"), "it wakes the run at once")
	w.complete()
	require.Equal(t, []string{"MessageCursorAdvanced", "SignalApplied#2"}, w.history(9))
	require.Equal(t, int64(2), w.run().MessagePosition)
	require.Equal(t, epoch, w.cmds.rows[second.CommandID].AppliedAt)
	require.Equal(t, "signal_received", w.cmds.rows[second.CommandID].Outcome)
	require.False(t, w.awake())
}

func TestSignalBeforeItsWait(t *testing.T) {
	w := newWorld(t)
	s := w.signal("go") // while the first task is ready
	require.Empty(t, w.resume("resume_source_kind"), "signals do not write into a ready task")
	w.complete(signalWait("go", within(60)))
	require.Equal(t, []string{"SignalReceived", "SignalWaitOpened#1"}, w.history(3), "no timer: the signal is here")
	require.Equal(t, int64(60), w.event("SignalWaitOpened")["timeout_seconds"])
	require.Equal(t, s.SignalID, w.resume("workflow_signal_id"))
	w.complete(completeWorkflow())
	require.Equal(t, "SignalApplied#1", w.history(6)[0])
}

func TestApplicationOrder(t *testing.T) {
	for name, row := range map[string]struct {
		wait WorkflowCommand
		want []string
	}{
		"signal wait":             {signalWait("go"), []string{"MessageCursorAdvanced", "SignalApplied#1"}},
		"signal wait, timed":      {signalWait("go", within(9)), []string{"MessageCursorAdvanced", "TimerCancelled#1", "SignalApplied#1"}},
		"condition wait":          {conditionWait("k"), []string{"MessageCursorAdvanced", "ConditionWaitSatisfied#1"}},
		"condition wait, timed":   {conditionWait("k", within(9)), []string{"MessageCursorAdvanced", "ConditionWaitSatisfied#1", "TimerCancelled#1"}},
		"condition, timeout zero": {conditionWait("k", within(0)), []string{"MessageCursorAdvanced", "ConditionWaitSatisfied#1"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.complete(row.wait)
			opened := len(w.events[w.run().RunID])
			s := w.signal("go")
			w.complete(sideEffect())
			require.Equal(t, append([]string{"SignalReceived"}, append(row.want, "SideEffectRecorded#2")...), w.history(opened+1),
				"ahead of the commands")
			require.Equal(t, SignalApplied, w.sigs.rows[s.SignalID].Status)
			require.Equal(t, int64(1), w.sigs.rows[s.SignalID].WorkflowSequence)
			cursor := w.event("MessageCursorAdvanced")
			require.Equal(t, []any{"instance:wf", int64(0), int64(1)},
				[]any{cursor["stream_key"], cursor["previous_position"], cursor["new_position"]})
			if row.wait.Type == "open_condition_wait" {
				satisfied := w.event("ConditionWaitSatisfied")
				require.Equal(t, []any{s.SignalID, "go", s.WaitID}, []any{satisfied["workflow_signal_id"],
					satisfied["signal_name"], satisfied["signal_wait_id"]})
			}
		})
	}
}

func TestSignalValue(t *testing.T) {
	arguments := map[string]any{"codec": "avro", "blob": "AQ=="}
	for name, row := range map[string]struct {
		value func(arguments []byte) []byte
		want  map[string]any
	}{
		"a value that stands for the list": {
			func(arguments []byte) []byte { return []byte(`{"of":` + string(arguments) + `}`) },
			map[string]any{"value": map[string]any{"of": arguments}},
		},
		"none does": {func([]byte) []byte { return nil }, map[string]any{"arguments": arguments}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.complete(signalWait("go"))
			w.signal("go")
			task := w.claim()
			tr := w.begin()
			tr.SignalValue = row.value
			_, r := tr.CompleteWorkflowTask(&CompletionInput{Task: task, Waits: *w.loadWaits()})
			require.Nil(t, r)
			w.write(tr)
			applied := w.event("SignalApplied")
			for _, member := range []string{"value", "arguments"} {
				require.Equal(t, row.want[member], applied[member], member)
			}
		})
	}
}

// A worker that finds its condition still false sends it again: a new wait with a fresh timeout (3.5).
func TestConditionReopens(t *testing.T) {
	w := newWorld(t)
	w.complete(conditionWait("k", within(60)))
	first := w.event("ConditionWaitOpened")["condition_wait_id"]
	w.after(50)
	w.signal("tick")
	w.complete(conditionWait("k", within(60)))
	require.Equal(t, []string{"MessageCursorAdvanced", "ConditionWaitSatisfied#1", "TimerCancelled#1",
		"ConditionWaitOpened#2", "TimerScheduled#2"}, w.history(6))
	require.NotEqual(t, first, w.event("ConditionWaitOpened")["condition_wait_id"])
	require.Equal(t, FormatTime(w.now+60*second), w.event("TimerScheduled")["fire_at"])
	w.after(10)
	require.Zero(t, w.fireDue(), "the old timeout is void")
}

// Woken for something else, it stands at the same wait: nothing new, and the time runs on.
func TestOpenConditionSentAgainWritesNothing(t *testing.T) {
	w := newWorld(t)
	w.complete(scheduleActivity("a"), conditionWait("k", within(60)))
	w.succeed(1)
	before := len(w.events[w.run().RunID])
	w.complete(conditionWait("k", within(60)))
	require.Empty(t, w.history(before+1))
	require.Len(t, w.openWaits(w.run().RunID), 1)
	w.after(60)
	require.Equal(t, 1, w.fireDue())
	require.Equal(t, "condition_timeout", w.resume("timer_kind"))
	w.complete(conditionWait("other", within(60)), conditionWait("k", within(60)))
	require.Len(t, w.openWaits(w.run().RunID), 2, "another wait is another wait")
}

func TestOccurrenceIDs(t *testing.T) {
	occurrence := func(c *WorkflowCommand) { c.ConditionWaitOccurrenceID = ptr("o1") }
	w := newWorld(t)
	w.complete(conditionWait("k", within(60), occurrence))
	require.Equal(t, "o1", w.event("ConditionWaitOpened")["condition_wait_occurrence_id"])
	require.Equal(t, "o1", w.event("TimerScheduled")["condition_wait_occurrence_id"])
	require.Equal(t, int64(17), w.run().MinProtocol, "such a history needs 1.17")
	w.after(20)
	w.signal("tick")
	require.Equal(t, int64(17), w.tasks.rows[w.run().WorkflowTaskID].MinProtocol)
	w.complete(conditionWait("k", within(60), occurrence))
	require.Equal(t, "o1", w.event("ConditionWaitSatisfied")["condition_wait_occurrence_id"])
	require.Equal(t, FormatTime(epoch+60*second), w.event("TimerScheduled")["fire_at"], "the time that was left")
}

// A signal wait with timeout 0 and no signal is over at once (3.5).
func TestSignalWaitTimeoutZero(t *testing.T) {
	w := newWorld(t)
	out := w.complete(signalWait("go", within(0)), sideEffect())
	require.Equal(t, []string{"SignalWaitOpened#1", "TimerScheduled#1", "TimerFired#1", "SideEffectRecorded#2"}, w.history(3))
	require.Len(t, out.CreatedTaskIDs, 2)
	require.Equal(t, w.run().WorkflowTaskID, out.CreatedTaskIDs[1], "the resume task comes last")
	require.Equal(t, "signal_timeout", w.resume("timer_kind"))
	require.Equal(t, WaitTimedOut, w.waits.where(func(*Wait) bool { return true })[0].Status)

	w = newWorld(t)
	w.signal("go")
	w.complete(signalWait("go", within(0)))
	require.Equal(t, []string{"SignalReceived", "SignalWaitOpened#1"}, w.history(3), "with its signal it does not time out")
	require.Equal(t, "workflow_signal", w.resume("resume_source_kind"))
}
