package rules

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWaitingReports(t *testing.T) {
	for name, row := range map[string]struct {
		report  WorkflowFailureReport
		waiting bool
	}{
		"type":          {WorkflowFailureReport{Type: "WorkflowTaskWaitingForHistory"}, true},
		"type any case": {WorkflowFailureReport{Type: "workflowtaskWAITINGforhistory"}, true},
		"message":       {WorkflowFailureReport{Message: "Error: Workflow Task waiting for scheduled history."}, true},
		"text in type":  {WorkflowFailureReport{Type: "workflow task waiting for scheduled history"}, true},
		"type inside":   {WorkflowFailureReport{Type: "App\\WorkflowTaskWaitingForHistoryX"}, false},
		"other":         {WorkflowFailureReport{Message: "waiting"}, false},
	} {
		require.Equal(t, row.waiting, row.report.IsWaiting(), name)
	}
}

func TestReplayBlockedFamilies(t *testing.T) {
	blocked := strings.Fields(`activity_execution_mode_mismatch activity_identity_mismatch child_workflow_identity_mismatch
		condition_wait_id_missing condition_wait_timeout_mismatch continue_as_new_sequence_missing duplicate_memo_upsert_record
		durable_command_sequence_collision memo_entries_invalid parallel_group_shape_mismatch recorded_commands_unconsumed
		search_attribute_type_mismatch side_effect_result_missing signal_wait_name_missing timer_delay_mismatch
		unsupported_payload_codec version_range_invalid version_marker_kind_mismatch workflow_nondeterministic`)
	for _, reason := range blocked {
		require.True(t, (&WorkflowFailureReport{Reason: reason}).IsReplayBlocked(), reason)
	}
	for _, reason := range strings.Fields(`workflow_entry_arguments_mismatch activity_failed mismatch out_of_memory timeout`) {
		require.False(t, (&WorkflowFailureReport{Reason: reason}).IsReplayBlocked(), reason)
	}
	for _, text := range []string{
		"NonDeterminismError", "replay failed: x", "ServerError", "InvalidArgument", "no workflow registered for type x",
		"workflow task completion failed after commands were produced: boom", "cannot decode workflow start input",
	} {
		require.True(t, (&WorkflowFailureReport{Message: "x " + text}).IsReplayBlocked(), text)
		require.True(t, (&WorkflowFailureReport{Type: text, Message: "x"}).IsReplayBlocked(), text)
	}
	late := strings.Repeat("ä", 3000) + " replay failed"
	require.False(t, (&WorkflowFailureReport{Message: late}).IsReplayBlocked(), "only the beginning is read")
	require.False(t, (&WorkflowFailureReport{Message: "plain crash"}).IsReplayBlocked())
}

// A failing task comes back with a growing pause, its attempts counted on (R81).
func TestFailingTaskBacksOff(t *testing.T) {
	w := newWorld(t)
	events := len(w.history(1))
	first := ""
	for attempt, pause := range []int64{1, 2, 4, 8, 16, 32, 60, 60} {
		task := w.claim()
		if first == "" {
			first = task.TaskID
		}
		require.Equal(t, int64(attempt+1), task.AttemptCount)
		next := w.failTask(task, "boom")
		row := w.tasks.rows[next]
		require.Equal(t, w.now+pause*second, row.AvailableAt)
		require.Equal(t, int64(attempt+1), row.AttemptCount)
		p := fields(t, row.Payload)
		require.Equal(t, task.TaskID, p["workflow_task_retry_of"])
		require.Equal(t, "boom", p["workflow_task_retry_after_error"])
		require.Equal(t, TaskFailed, w.tasks.rows[task.TaskID].Status)
		require.Equal(t, "boom", w.tasks.rows[task.TaskID].LastError)
		w.after(pause)
	}
	require.Len(t, w.history(1), events, "no history event")
	require.Equal(t, RunPending, w.run().Status, "no run failure")
	w.complete(completeWorkflow())
}

func TestFailedTaskKeepsItsReason(t *testing.T) {
	w := newWorld(t)
	w.complete(signalWait("go"))
	s := w.signal("go")
	for range 3 {
		w.failTask(w.claim(), "boom")
		w.after(60)
		require.Equal(t, s.SignalID, w.resume("workflow_signal_id"))
	}
	w.complete()
	require.Equal(t, SignalApplied, w.sigs.rows[s.SignalID].Status)
}

func TestFailureMessageIsCut(t *testing.T) {
	w := newWorld(t)
	task := w.claim()
	w.failTask(task, strings.Repeat("ä", 3000))
	stored := w.tasks.rows[task.TaskID].LastError
	require.Equal(t, strings.Repeat("ä", 2048), stored, "at most 4096 bytes, whole characters")
}

// A run whose replay is blocked is not woken by what blocked it, and is by what comes later.
func TestReplayBlocked(t *testing.T) {
	w := newWorld(t)
	w.complete(signalWait("go", within(30)), scheduleActivity("a"))
	w.signal("go")
	task := w.claim()
	require.Empty(t, w.failTask(task, "replay failed: x"), "no retry task")
	require.False(t, w.awake())
	require.Equal(t, true, fields(t, w.tasks.rows[task.TaskID].Payload)["replay_blocked"])
	require.Equal(t, "worker_reported_replay_failure", fields(t, w.tasks.rows[task.TaskID].Payload)["replay_blocked_reason"])
	w.succeed(2)
	require.True(t, w.awake(), "an outcome is a new chance")
	w.claim()

	w = newWorld(t)
	w.complete(conditionWait("k"))
	w.signal("one")
	task = w.claim()
	w.signal("two")
	require.NotEmpty(t, w.failTask(task, "replay failed: x"), "a signal that the claim did not see is one too")
	require.Empty(t, w.failTask(w.claim(), "replay failed: x"), "but only once")
}

func TestAcknowledgeWaiting(t *testing.T) {
	w := newWorld(t)
	w.complete(signalWait("go"))
	w.signal("go")
	task := w.claim()
	tr := w.begin()
	require.Empty(t, tr.AcknowledgeWaiting(task, w.loadWaits()))
	w.write(tr)
	require.Equal(t, []string{"MessageCursorAdvanced", "SignalApplied#1"}, w.history(5), "the signal is applied")
	require.Equal(t, TaskCompleted, w.tasks.rows[task.TaskID].Status)
	require.Equal(t, true, fields(t, w.tasks.rows[task.TaskID].Payload)["waiting_for_history_acknowledged"])
	require.Equal(t, RunWaiting, w.run().Status)
}

func TestRecoveredTask(t *testing.T) {
	w := newWorld(t)
	w.complete(signalWait("go"))
	s := w.signal("go")
	task := w.claim()
	w.after(60)
	tr := w.begin()
	tr.RecoverWorkflowTask(task)
	w.write(tr)
	row := w.tasks.rows[task.TaskID]
	require.Equal(t, []any{TaskReady, Never, "", w.now}, []any{row.Status, row.LeaseExpiresAt, row.LeaseOwner, row.ReadyAt})
	require.Equal(t, s.SignalID, w.resume("workflow_signal_id"))
	require.Equal(t, int64(2), w.claim().AttemptCount, "the attempt grows by one a claim")
}
