package rules

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestContinueAsNew(t *testing.T) {
	w := newWorld(t, func(s *StartSpec) {
		s.Run.ExecutionTimeout, s.Run.RunTimeout, s.Run.BusinessKey, s.Run.Compatibility = 3600, 60, "key", "b1"
		s.Input.Arguments, s.Input.Memo = []byte(`{"codec":"avro","blob":"AA=="}`), []byte(`{"m":1}`)
		s.Input.SearchAttributes, s.Input.DefinitionPrint = []byte(`{"s":2}`), "print"
	})
	old := *w.run()
	w.after(30)
	out := w.complete(continueAsNew(func(c *WorkflowCommand) {
		c.Arguments, c.WorkflowType, c.Queue = []byte(`"AQ=="`), ptr("order2"), ptr(" q2 ")
	}))
	run := w.run()
	require.Equal(t, []string{"WorkflowStarted"}, w.history(1), "no StartAccepted")
	require.Equal(t, int64(2), run.RunNumber)
	require.Equal(t, []string{"wf", "order2", "q2", "key", "b1", RunPending, old.RunID},
		[]string{run.WorkflowID, run.WorkflowType, run.TaskQueue, run.BusinessKey, run.Compatibility, run.Status, run.ContinuedFromRunID})
	require.Equal(t, old.ExecutionDeadlineAt, run.ExecutionDeadlineAt, "the same execution deadline")
	require.Equal(t, w.now+60*second, run.RunDeadlineAt, "a fresh run deadline")
	require.Equal(t, run.RunDeadlineAt, run.DeadlineAt)
	input := w.inputs[run.RunID]
	require.Equal(t, `{"codec":"avro","blob":"AQ=="}`, string(input.Arguments))
	require.Equal(t, []string{`{"m":1}`, `{"s":2}`, "print"}, []string{string(input.Memo), string(input.SearchAttributes), input.DefinitionPrint})
	require.Equal(t, run.RunID, w.inst.CurrentRunID)
	require.Equal(t, []string{run.WorkflowTaskID}, out.CreatedTaskIDs)
	require.Equal(t, "q2", w.tasks.rows[run.WorkflowTaskID].TaskQueue)
	started := w.event("WorkflowStarted")
	require.Equal(t, old.RunID, started["continued_from_run_id"])

	closed := w.events[old.RunID]
	last := fields(t, closed[len(closed)-1].Payload)
	require.Equal(t, []any{run.RunID, int64(2), "continued", started["workflow_link_id"]},
		[]any{last["continued_to_run_id"], last["continued_to_run_number"], last["closed_reason"], last["workflow_link_id"]})
	require.Equal(t, RunCompleted, w.runs[0].Status)
	require.Equal(t, "continued", w.runs[0].ClosedReason)
}

func TestContinueAsNewKeepsWhatIsNotGiven(t *testing.T) {
	w := newWorld(t, func(s *StartSpec) { s.Input.Arguments = []byte(`{"codec":"avro","blob":"AA=="}`) })
	w.complete(continueAsNew())
	require.Equal(t, `{"codec":"avro","blob":"AA=="}`, string(w.inputs[w.run().RunID].Arguments))
	require.Equal(t, []string{"order", "q"}, []string{w.run().WorkflowType, w.run().TaskQueue})
	require.Equal(t, Never, w.run().DeadlineAt)
}

// Open steps are settled, unapplied signals move on in the order of acceptance with their ids.
func TestContinueAsNewCarriesSignals(t *testing.T) {
	w := busy(t)
	w.signal("late")
	applied, second, third := w.received(w.run().RunID)[0], w.received(w.run().RunID)[1], w.received(w.run().RunID)[2]
	old := w.run().RunID
	w.complete(continueAsNew()) // resumes on the first
	require.Equal(t, SignalApplied, w.sigs.rows[applied.SignalID].Status)
	for _, ev := range w.events[old] {
		require.NotEqual(t, "SignalRejected", ev.EventType)
	}
	require.Equal(t, []string{"WorkflowStarted", "SignalReceived", "SignalReceived"}, w.history(1))
	for i, s := range []Signal{second, third} {
		row := w.sigs.rows[s.SignalID]
		require.Equal(t, w.run().RunID, row.RunID)
		require.Equal(t, int64(i+1), row.CommandSequence)
		require.Equal(t, int64(i+2), row.ReceivedSequence)
		require.Equal(t, "signal-command:"+s.CommandID, row.WaitID, "the wait it was for is gone")
		ev := fields(t, w.events[w.run().RunID][i+1].Payload)
		require.Equal(t, []any{s.SignalID, s.CommandID, s.Name, w.run().RunID},
			[]any{ev["signal_id"], ev["workflow_command_id"], ev["signal_name"], ev["workflow_run_id"]})
	}
	require.Equal(t, int64(1), w.run().MessagePosition, "the cursor is carried over")
	fresh := w.signal("fresh")
	require.Equal(t, int64(3), fresh.CommandSequence, "new signals come after them")
	w.complete(signalWait(third.Name))
	require.Equal(t, third.SignalID, w.resume("workflow_signal_id"))
}

// A wait that had taken a carried signal's id keeps it; the signal gets one that is free.
func TestCarriedSignalOfATakenWaitID(t *testing.T) {
	w := newWorld(t)
	s := w.signal("go")
	w.complete(signalWait("go"), continueAsNew())
	require.NotEqual(t, "signal-command:"+s.CommandID, w.sigs.rows[s.SignalID].WaitID)
	w.complete(signalWait("go"))
	require.Equal(t, s.SignalID, w.resume("workflow_signal_id"))
	w.complete(completeWorkflow())
	require.Contains(t, w.history(1), "SignalApplied#1")
}

// Timers of a run that continued are void: the same authored number counts anew (R57).
func TestTimersAcrossContinueAsNew(t *testing.T) {
	w := newWorld(t)
	w.complete(startTimer(3))
	w.after(1)
	w.wake()
	w.complete(continueAsNew())
	w.complete(startTimer(5))
	w.after(3)
	require.Zero(t, w.fireDue(), "the old timer's time")
	w.after(2)
	require.Equal(t, 1, w.fireDue())
	require.Equal(t, []string{"WorkflowStarted", "TimerScheduled#1", "TimerFired#1"}, w.history(1))
}

// wake makes a workflow task for no reason of its own, as an operator's repair would.
func (w *world) wake() {
	t := w.begin()
	t.Resume([]byte("{}"))
	w.write(t)
}
