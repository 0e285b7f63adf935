package rules

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// busy is a run with everything open: a running and a pending activity, a timer, timed waits, signals.
func busy(t *testing.T, change ...func(*StartSpec)) *world {
	w := newWorld(t, change...)
	w.complete(scheduleActivity("a"), scheduleActivity("b"), startTimer(500), conditionWait("k", within(600)), signalWait("go", within(700)))
	w.start(1)
	w.signal("other")
	w.signal("go")
	return w
}

// Every kind of close settles all that is open before its closing event (settled.md, Waking); that
// nothing is left is checked by the world.
func TestEveryCloseSettles(t *testing.T) {
	settling := []string{"ActivityCancelled#1", "ActivityCancelled#2", "TimerCancelled#3", "TimerCancelled#4", "TimerCancelled#5"}
	rejected := []string{"SignalRejected", "SignalRejected"}
	for name, row := range map[string]struct {
		close    func(*world)
		first    []string // before the settling
		rejected []string
		last     string
		status   string
		reason   string
	}{
		"complete": {func(w *world) { w.complete(completeWorkflow()) }, // applies the signal it resumes on first
			[]string{"MessageCursorAdvanced", "ConditionWaitSatisfied#4", "TimerCancelled#4"}, rejected[1:], "WorkflowCompleted", RunCompleted, "completed"},
		"fail": {func(w *world) { w.complete(failWorkflow("boom")) },
			[]string{"MessageCursorAdvanced", "ConditionWaitSatisfied#4", "TimerCancelled#4"}, rejected[1:], "WorkflowFailed", RunFailed, "failed"},
		"cancel":    {func(w *world) { w.close("cancel", "why") }, []string{"CancelRequested"}, rejected, "WorkflowCancelled", RunCancelled, "cancelled"},
		"terminate": {func(w *world) { w.close("terminate", "") }, []string{"TerminateRequested"}, rejected, "WorkflowTerminated", RunTerminated, "terminated"},
		"time out":  {func(w *world) { w.timeOut() }, nil, rejected, "WorkflowTimedOut", RunFailed, "timed_out"},
	} {
		t.Run(name, func(t *testing.T) {
			w := busy(t, func(s *StartSpec) { s.Run.RunTimeout = 1000 })
			from := len(w.events[w.run().RunID]) + 1
			row.close(w)
			want := append([]string{}, row.first...)
			for _, ev := range settling {
				if !contains(row.first, ev) {
					want = append(want, ev)
				}
			}
			require.Equal(t, append(append(want, row.rejected...), row.last), w.history(from))
			require.Equal(t, row.status, w.run().Status)
			require.Equal(t, row.reason, w.run().ClosedReason)
			require.Equal(t, w.now, w.run().ClosedAt)
			for _, a := range w.tries.where(func(*Attempt) bool { return true }) {
				require.Equal(t, AttemptCancelled, a.Status)
			}
			cancelled := w.event("ActivityCancelled")
			require.NotEmpty(t, cancelled["cancellation_reason"])
			require.Equal(t, FormatTime(w.now), cancelled["cancelled_at"])
		})
	}
}

func (w *world) timeOut() {
	w.after(1000)
	t := w.begin()
	require.True(w, t.DeadlinePassed())
	t.TimeOutRun(w.loadOpen())
	w.write(t)
}

// A close settles the steps that its own completion opened, and leaves alone what ended there.
func TestCloseSettlesItsOwnSteps(t *testing.T) {
	w := newWorld(t)
	w.complete(local(), scheduleActivity("a"), startTimer(5), conditionWait("k", within(6)), signalWait("s", within(0)),
		signalWait("t", within(7)), completeWorkflow())
	require.Equal(t, []string{
		"ActivityScheduled#1", "ActivityStarted#1", "ActivityCompleted#1", "ActivityScheduled#2", "TimerScheduled#3",
		"ConditionWaitOpened#4", "TimerScheduled#4", "SignalWaitOpened#5", "TimerScheduled#5", "TimerFired#5",
		"SignalWaitOpened#6", "TimerScheduled#6", "ActivityCancelled#2", "TimerCancelled#3", "TimerCancelled#4", "TimerCancelled#6",
		"WorkflowCompleted",
	}, w.history(3))
	require.Equal(t, ActivityCompleted, w.activity(1).Status)
}

func TestClosingEvents(t *testing.T) {
	w := newWorld(t)
	w.complete(completeWorkflow())
	require.Equal(t, map[string]any{"codec": "avro", "blob": "Ag=="}, w.event("WorkflowCompleted")["output"])
	require.Equal(t, "avro", w.event("WorkflowCompleted")["payload_codec"])

	w = newWorld(t)
	task := w.claim()
	_, r := w.answer(task, failWorkflow("boom", func(c *WorkflowCommand) {
		c.ExceptionClass, c.ExceptionType, c.NonRetryable = ptr("app.Boom"), ptr("Boom"), ptr(true)
	}))
	require.Nil(t, r)
	failed := w.event("WorkflowFailed")
	require.Equal(t, []any{"workflow_run", w.run().RunID, "application", true, "Boom", "app.Boom", "boom"},
		[]any{failed["source_kind"], failed["source_id"], failed["failure_category"], failed["non_retryable"],
			failed["exception_type"], failed["exception_class"], failed["message"]})
	require.Equal(t, map[string]any{"class": "app.Boom", "type": "Boom", "message": "boom"}, failed["exception"])
	require.Equal(t, TaskFailed, w.tasks.rows[task.TaskID].Status, "the task ends failed as well")

	w = newWorld(t)
	w.complete(failWorkflow("m", func(c *WorkflowCommand) { c.Exception = []byte(`{"class":"x","code":7}`) }))
	require.Equal(t, map[string]any{"class": "x", "code": int64(7)}, numbers(w.event("WorkflowFailed")["exception"]))

	for kind, class := range map[string]string{"cancel": "WorkflowCancelledException", "terminate": "WorkflowTerminatedException"} {
		for _, reason := range []string{"", "too late"} {
			w = newWorld(t)
			w.close(kind, reason)
			spec := map[string]closeSpec{"cancel": cancelSpec, "terminate": terminateSpec}[kind]
			closed := w.event(spec.closed)
			message := "Workflow " + spec.verb + "."
			if reason != "" {
				message = "Workflow " + spec.verb + ": " + reason
				require.Equal(t, reason, closed["reason"])
			}
			require.Equal(t, message, closed["message"])
			require.True(t, strings.HasSuffix(closed["exception_class"].(string), class))
			require.Equal(t, spec.category, closed["failure_category"])
			require.Equal(t, kind, w.event(spec.requested)["command_type"])
		}
	}
}

// The leased tasks of a cancelled run are cancelled, so that their owner learns why (settled.md).
func TestCloseByCommandCancelsLeasedTasks(t *testing.T) {
	w := newWorld(t)
	w.complete(scheduleActivity("a"), signalWait("s"))
	w.start(1)
	w.signal("s")
	task := w.claim()
	w.close("terminate", "")
	row := w.tasks.rows[task.TaskID]
	require.Equal(t, TaskCancelled, row.Status)
	require.Equal(t, "w1", row.LeaseOwner)
	f := &FenceInput{Run: w.run(), Task: row, Owner: &Worker{}, LeaseOwner: "w1", Attempt: 1, Now: w.now}
	r, _ := f.Workflow()
	require.Equal(t, "run_closed", r.Reason)
	require.Equal(t, TaskCancelled, r.Fields["task_status"])
	require.Equal(t, TaskCancelled, w.tasks.rows[w.activity(1).TaskID].Status)
}

func TestRunTimeouts(t *testing.T) {
	for name, row := range map[string]struct{ execution, run, passed int64 }{
		"run_timeout":       {2000, 10, 10},
		"execution_timeout": {10, 2000, 10},
	} {
		w := newWorld(t, func(s *StartSpec) { s.Run.ExecutionTimeout, s.Run.RunTimeout = row.execution, row.run })
		w.now += row.passed*second - 1
		require.False(t, w.begin().DeadlinePassed())
		w.now++
		tr := w.begin()
		require.True(t, tr.DeadlinePassed())
		tr.TimeOutRun(w.loadOpen())
		w.write(tr)
		out := w.event("WorkflowTimedOut")
		require.Equal(t, name, out["timeout_kind"])
		word := strings.TrimSuffix(name, "_timeout")
		require.Equal(t, "Workflow "+word+" deadline expired at "+FormatTime(epoch+10*second)+".", out["message"])
		require.False(t, w.begin().DeadlinePassed(), "a closed run has no deadline")
	}
	w := newWorld(t, func(s *StartSpec) { s.Run.ExecutionTimeout, s.Run.RunTimeout = 10, 5 })
	w.after(10)
	tr := w.begin()
	tr.TimeOutRun(w.loadOpen())
	w.write(tr)
	require.Equal(t, "execution_timeout", w.event("WorkflowTimedOut")["timeout_kind"], "execution before run")
}
