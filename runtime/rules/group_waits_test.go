package rules

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func mixed(size, index int64) func(*WorkflowCommand) {
	return grouped(level{kind: "mixed", base: 1, size: size, index: index})
}

// acknowledge claims the run's workflow task and says that its replay waits for history.
func (w *world) acknowledge() {
	w.Helper()
	task := w.claim()
	t := w.begin()
	t.AcknowledgeWaiting(task, w.loadWaits())
	w.write(t)
}

// A condition in a group that the worker found still false is sent again in its old place: the signal is
// applied, and the wait stays open, since no other could take its place in the group.
func TestConditionOfAGroupStaysOpen(t *testing.T) {
	members := []WorkflowCommand{
		scheduleActivity("a", mixed(3, 0)), conditionWait("k", within(60), mixed(3, 1)), signalWait("go", mixed(3, 2)),
	}
	w := newWorld(t)
	w.complete(members...)
	opened := len(w.events[w.run().RunID])
	s := w.signal("tick")
	w.complete(members[1]) // the others are matched with history, and not sent again
	require.Equal(t, []string{"SignalReceived", "MessageCursorAdvanced"}, w.history(opened+1))
	require.Equal(t, SignalApplied, w.sigs.rows[s.SignalID].Status)
	require.Zero(t, w.sigs.rows[s.SignalID].WorkflowSequence)
	require.Equal(t, epoch, w.cmds.rows[s.CommandID].AppliedAt)
	require.False(t, w.awake(), "a signal wakes once")

	// A signal of a wait of its own closes that one alone.
	w.signal("go")
	w.complete(members[1])
	require.Equal(t, []string{"SignalReceived", "MessageCursorAdvanced", "SignalApplied#3"}, w.history(opened+3))

	// Found true it is not sent again, and the next signal closes it.
	w.signal("tick")
	w.acknowledge()
	require.Equal(t, []string{"SignalReceived", "MessageCursorAdvanced", "ConditionWaitSatisfied#2", "TimerCancelled#2"}, w.history(opened+6))
	w.succeed(1)
	require.True(t, w.awake(), "the last member")
}

// Of two conditions a signal closes the one that was not sent again, whichever was opened last.
func TestSignalClosesTheConditionThatIsTrue(t *testing.T) {
	for again, want := range []string{"ConditionWaitSatisfied#2", "ConditionWaitSatisfied#1"} {
		members := []WorkflowCommand{conditionWait("k", mixed(2, 0)), conditionWait("l", mixed(2, 1))}
		w := newWorld(t)
		w.complete(members...)
		w.signal("tick")
		w.complete(members[again])
		require.Equal(t, []string{"SignalReceived", "MessageCursorAdvanced", want}, w.history(5))
	}
}

// Only the worker knows whether an open condition holds by now: another member's success has it look.
func TestOpenConditionHoldsNoGroupBack(t *testing.T) {
	w := newWorld(t)
	w.complete(scheduleActivity("a", mixed(4, 0)), conditionWait("k", mixed(4, 1)), signalWait("go", mixed(4, 2)), startTimer(5, mixed(4, 3)))
	w.succeed(1)
	require.False(t, w.awake(), "the signal wait and the timer are open")
	w.signal("go")
	w.acknowledge() // the condition holds by now, and closed it was not: the signal had a wait of its own
	w.after(5)
	require.Equal(t, 1, w.fireDue())
	require.True(t, w.awake())
}

// The timeout of a condition that was sent again goes on.
func TestTimeoutOfAConditionSentAgain(t *testing.T) {
	w := newWorld(t)
	wait := conditionWait("k", within(60), mixed(2, 0))
	w.complete(wait, scheduleActivity("a", mixed(2, 1)))
	w.after(50)
	w.signal("tick")
	w.complete(wait)
	w.after(10)
	require.Equal(t, 1, w.fireDue())
	require.Equal(t, "condition_timeout", w.resume("timer_kind"))
}
