package rules

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A signal and the timeout of the wait it closes: history's order decides, whoever is quicker to
// commit, and no replay may see it otherwise (field report R59).
func TestSignalBeatsALaterTimeout(t *testing.T) {
	for name, wait := range map[string]WorkflowCommand{"condition": conditionWait("k", within(1)), "signal": signalWait("go", within(1))} {
		for _, leased := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				w := newWorld(t)
				w.complete(wait)
				w.signal("go")
				if leased {
					w.claim()
				}
				w.after(1)
				require.Equal(t, 1, w.fireDue())
				require.Zero(t, w.fireDue(), "a held timeout is not due again and again")
				require.NotContains(t, w.history(1), "TimerFired#1")
				task := w.tasks.rows[w.run().WorkflowTaskID]
				if !leased {
					task = w.claim()
				}
				_, r := w.answer(task, completeWorkflow())
				require.Nil(t, r)
				require.Contains(t, w.history(1), "TimerCancelled#1")
				require.NotContains(t, w.history(1), "TimerFired#1")
			})
		}
	}
}

func TestTimeoutBeatsALaterSignal(t *testing.T) {
	for name, wait := range map[string]WorkflowCommand{"condition": conditionWait("k", within(1)), "signal": signalWait("go", within(1))} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.complete(wait)
			w.after(1)
			require.Equal(t, 1, w.fireDue())
			s := w.signal("go")
			require.Equal(t, "timer", w.resume("resume_source_kind"))
			w.complete(startTimer(9))
			require.Equal(t, SignalReceived, w.sigs.rows[s.SignalID].Status, "nothing waits for it")
			require.False(t, w.awake())
			require.NotContains(t, w.history(1), "SignalApplied#1")
			w.after(9)
			w.fireDue()
			w.complete(signalWait("go"))
			require.Equal(t, s.SignalID, w.resume("workflow_signal_id"), "and it is not lost")
		})
	}
}

// The signal came while another task was leased: its wait does not time out before that task ends.
func TestBoundSignalWaitDoesNotTimeOut(t *testing.T) {
	w := newWorld(t)
	w.complete(scheduleActivity("a"), signalWait("go", within(1)))
	w.succeed(1)
	task := w.claim() // for the activity, without the signal
	s := w.signal("go")
	w.after(1)
	require.Equal(t, 1, w.fireDue())
	_, r := w.answer(task)
	require.Nil(t, r)
	require.Equal(t, s.SignalID, w.resume("workflow_signal_id"))
	w.fireDue()
	w.complete(completeWorkflow())
	require.Contains(t, w.history(1), "SignalApplied#2")
	require.NotContains(t, w.history(1), "TimerFired#2")
}

// A timeout that was held back for a signal which then closed another wait fires after all.
func TestHeldTimeoutIsNotForgotten(t *testing.T) {
	w := newWorld(t)
	w.complete(scheduleActivity("a"), conditionWait("old", within(1)))
	w.succeed(1)
	task := w.claim()
	w.signal("go") // would close "old"
	w.after(1)
	require.Equal(t, 1, w.fireDue(), "held")
	_, r := w.answer(task, conditionWait("new"))
	require.Nil(t, r)
	require.Equal(t, 1, w.fireDue(), "now the signal is for the newer wait")
	require.Contains(t, w.history(1), "TimerFired#2")
	w.complete()
	require.Equal(t, WaitSatisfied, w.waits.where(func(v *Wait) bool { return v.Name == "new" })[0].Status)
}

// An outcome recorded while the workflow task is leased wakes the run when the task ends, however it
// ends, once (R21).
func TestNoLostWakeups(t *testing.T) {
	outcomes := map[string]func(*world){
		"activity success": func(w *world) { w.succeed(1) },
		"activity failure": func(w *world) { w.fail(1, ActivityFailureReport{Message: "m"}) },
		"activity timeout": func(w *world) { w.start(1); w.after(30); require.True(w, w.expire(1)) },
		"activity lost": func(w *world) {
			w.start(1)
			act, attempt, task := w.held(1)
			t := w.begin()
			t.LoseAttempt(act, attempt, task)
			w.write(t)
		},
		"timer": func(w *world) { w.after(5); require.Equal(w, 1, w.fireDue()) },
	}
	ends := map[string]func(*world, *Task) string{
		"completed": func(w *world, task *Task) string {
			out, r := w.answer(task, sideEffect())
			require.Nil(w, r)
			return out.CreatedTaskIDs[len(out.CreatedTaskIDs)-1]
		},
		"waiting": func(w *world, task *Task) string {
			t := w.begin()
			id := t.AcknowledgeWaiting(task, w.loadWaits())
			w.write(t)
			return id
		},
		"failed": func(w *world, task *Task) string { return w.failTask(task, "boom") },
		"replay blocked": func(w *world, task *Task) string {
			return w.failTask(task, "replay failed: shape")
		},
		"lease lost": func(w *world, task *Task) string {
			t := w.begin()
			t.RecoverWorkflowTask(task)
			w.write(t)
			return task.TaskID
		},
	}
	for what, happen := range outcomes {
		for how, end := range ends {
			t.Run(what+"/"+how, func(t *testing.T) {
				w := newWorld(t)
				w.complete(scheduleActivity("a", timeouts(0, 0, 0, 30)), startTimer(5), scheduleActivity("b"))
				w.succeed(3)
				task := w.claim()
				happen(w)
				require.NotEmpty(t, w.run().PendingWake)
				next := end(w, task)
				require.Equal(t, w.run().WorkflowTaskID, next)
				require.Empty(t, w.run().PendingWake, "told once")
				row := w.tasks.rows[next]
				require.Equal(t, TaskReady, row.Status)
				w.after(60)
				w.complete(startTimer(999))
				require.False(t, w.awake(), "one task for it")
			})
		}
	}
}

// failTask reports a workflow task as failed and returns the task that follows.
func (w *world) failTask(task *Task, message string) string {
	t := w.begin()
	failed := *task
	id := t.FailWorkflowTask(&failed, &WorkflowFailureReport{Message: message}, w.loadWaits())
	w.write(t)
	return id
}

// Many outcomes share one task (R27).
func TestManyOutcomesOneTask(t *testing.T) {
	w := newWorld(t)
	var commands []WorkflowCommand
	for range 20 {
		commands = append(commands, scheduleActivity("a"))
	}
	w.complete(commands...)
	for seq := range int64(20) {
		w.succeed(seq + 1)
	}
	tasks := w.tasks.where(func(task *Task) bool { return task.Kind == KindWorkflow })
	require.Len(t, tasks, 2)
}
