package handlers

import (
	"encoding/json"
	"testing"

	"dwserver/runtime"
	"dwserver/runtime/rules"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// openRun is a description of an open run that waits for nothing.
func openRun() *runtime.Description {
	run := rules.Run{RunID: "r1", WorkflowID: "w", Namespace: "default", RunNumber: 2, WorkflowType: "t", TaskQueue: "q",
		Status: rules.RunWaiting, ExecutionDeadlineAt: rules.Never, RunDeadlineAt: rules.Never, StartedAt: 1_000_000}
	return &runtime.Description{Run: run, Input: rules.RunInput{Arguments: noArguments},
		Instance: rules.Instance{WorkflowID: "w", CurrentRunID: "r1", RunCount: 2}}
}

func openTask(status string) rules.Task {
	return rules.Task{TaskID: "t1", TaskQueue: "q", TypeName: "t", Status: status, LeaseOwner: "w"}
}

func TestWhatARunWaitsFor(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*runtime.Description)
		kind   string
		reason string
	}{
		"nothing": {func(*runtime.Description) {}, "", ""},
		"a worker": {func(d *runtime.Description) { d.Task = openTask(rules.TaskReady) },
			"workflow-task", "A workflow task waits on task queue q for a worker of workflow type t."},
		"a running task": {func(d *runtime.Description) { d.Task = openTask(rules.TaskLeased) },
			"workflow-task", "Worker w of task queue q runs the workflow task."},
		"an activity": {func(d *runtime.Description) {
			d.Activities = []rules.Activity{{ActivityType: "charge", TaskQueue: "pay", Status: rules.ActivityPending}}
			d.Waits = []rules.Wait{{Kind: rules.WaitSignal, Name: "go", Status: rules.WaitOpen}}
		}, "activity", "Waiting for activity charge on task queue pay."},
		"running activities": {func(d *runtime.Description) {
			d.Activities = []rules.Activity{{ActivityType: "charge", Status: rules.ActivityRunning, AttemptCount: 3}, {}, {}}
		}, "activity", "Waiting for activity charge, which runs its attempt 3, and for 2 more."},
		"a signal": {func(d *runtime.Description) {
			d.Waits = []rules.Wait{{Kind: rules.WaitSignal, Name: "0", Status: rules.WaitOpen}}
			d.Timers = []rules.Timer{{Status: rules.TimerPending}}
		}, "signal", "Waiting for signal 0."},
		"a condition": {func(d *runtime.Description) {
			d.Waits = []rules.Wait{{Kind: rules.WaitCondition, Status: rules.WaitSatisfied}, {Kind: rules.WaitCondition, Name: "paid", Status: rules.WaitOpen}}
		}, "condition", "Waiting for condition paid."},
		"a nameless condition": {func(d *runtime.Description) {
			d.Waits = []rules.Wait{{Kind: rules.WaitCondition, Status: rules.WaitOpen}}
		},
			"condition", "Waiting for a condition."},
		"a timer": {func(d *runtime.Description) {
			d.Timers = []rules.Timer{{Status: rules.TimerFired}, {Status: rules.TimerPending, FireAt: 60_000_000}}
		}, "timer", "Waiting for a timer that fires at 1970-01-01T00:01:00.000000Z."},
		"closed": {func(d *runtime.Description) {
			d.Run.Status = rules.RunCompleted
			d.Timers = []rules.Timer{{Status: rules.TimerPending}}
		}, "", ""},
	} {
		d := openRun()
		c.change(d)
		assert.Equal(t, waiting{c.kind, c.reason}, waitOf(d), name)
	}
}

func TestOpenRunsAreDescribed(t *testing.T) {
	got, err := description(openRun())
	require.NoError(t, err)
	assert.Equal(t, "running", string(got.StatusBucket))
	assert.False(t, got.IsTerminal)
	assert.True(t, got.IsCurrentRun)
	assert.Equal(t, "[]", string(got.Input))
	assert.Nil(t, got.Output)
	assert.Nil(t, got.OutputEnvelope)
	assert.Nil(t, got.ExecutionDeadlineAt)
	assert.Nil(t, got.ClosedAt)
	assert.Nil(t, got.Failure)
	assert.Equal(t, "{}", string(got.Memo))
	assert.True(t, got.Actions.CanSignal && got.Actions.CanCancel && got.Actions.CanTerminate)
	assert.False(t, got.Actions.CanQuery || got.Actions.CanUpdate || got.Actions.CanRepair || got.Actions.CanArchive)
	text, err := marshal(got)
	require.NoError(t, err)
	assert.NotContains(t, string(text), `"failures"`, "left out rather than null")
}

func TestHistoricalRunsTakeNoCommands(t *testing.T) {
	d := openRun()
	d.Instance.CurrentRunID = "r2"
	got, err := description(d)
	require.NoError(t, err)
	assert.False(t, got.IsCurrentRun)
	assert.False(t, got.Actions.CanSignal || got.Actions.CanCancel || got.Actions.CanTerminate)
}

func TestOutputIsShownFromTheClosingEvent(t *testing.T) {
	const blob = "wwHioz3/VYAiNwYAAAAAAAAIQA==" // 3.0
	for payload, envelope := range map[string]string{
		`{"output":{"codec":"avro","blob":"` + blob + `"},"payload_codec":"avro"}`: `{"codec":"avro","blob":"` + blob + `"}`,
		`{"output":"` + blob + `","payload_codec":"avro"}`:                         `{"codec":"avro","blob":"` + blob + `"}`,
		`{}`: ``,
	} {
		d := openRun()
		d.Run.Status, d.Run.ClosedReason = rules.RunCompleted, "completed"
		d.CloseEvent = &rules.Event{EventType: "WorkflowCompleted", Payload: []byte(payload)}
		got, err := description(d)
		require.NoError(t, err)
		assert.Equal(t, envelope, string(got.OutputEnvelope), payload)
		if envelope != "" {
			assert.Equal(t, "3.0", string(got.Output))
		}
		assert.Equal(t, "completed", string(got.StatusBucket))
	}
}

func TestFailedRunsSayWhy(t *testing.T) {
	d := openRun()
	d.Run.Status, d.Run.ClosedReason = rules.RunFailed, "failed"
	d.CloseEvent = &rules.Event{RunID: "r1", Sequence: 9, EventType: "WorkflowFailed", Payload: []byte(`{"failure_id":"f2",
		"source_kind":"workflow_run","source_id":"r1","failure_category":"application","non_retryable":false,
		"exception_type":"ValueError","exception_class":"builtins.ValueError","message":"boom","exception":{"type":"ValueError","deep":[1.0]}}`)}
	d.Failures = []rules.Event{{RunID: "r1", Sequence: 7, EventType: "ActivityFailed", Payload: []byte(`{"failure_id":"f1",
		"activity_type":"charge","activity_execution_id":"a1","attempt_number":2,"sequence":1,"failure_category":"activity",
		"non_retryable":true,"exception_class":"builtins.OSError","message":"no money"}`)}}
	got, err := description(d)
	require.NoError(t, err)

	assert.Equal(t, "boom", *got.Error)
	assert.JSONEq(t, `{"type":"ValueError","deep":[1.0]}`, string(got.Exception))
	f := got.Failure
	assert.Equal(t, "failed", *f.Reason)
	assert.Equal(t, "application", *f.FailureCategory)
	assert.False(t, *f.NonRetryable)
	assert.EqualValues(t, 9, *f.EventSequence)
	require.Len(t, f.ActivityFailures, 1)
	require.Len(t, got.Failures, 2)
	var rows [2]map[string]any
	for i, row := range got.Failures {
		require.NoError(t, json.Unmarshal(*row, &rows[i]))
	}
	assert.Equal(t, "f1", rows[0]["id"])
	assert.Equal(t, "activity_execution", rows[0]["source_kind"])
	assert.Equal(t, "a1", rows[0]["source_id"])
	assert.EqualValues(t, 2, rows[0]["attempt_number"])
	assert.Equal(t, true, rows[0]["non_retryable"])
	assert.Equal(t, map[string]any{"class": "builtins.OSError", "message": "no money"}, rows[0]["exception"])
	assert.Equal(t, "f2", rows[1]["failure_id"], "what ended the run comes last")
}

func TestTimedOutRunsAreFailedRuns(t *testing.T) {
	d := openRun()
	d.Run.Status, d.Run.ClosedReason = rules.RunFailed, "timed_out"
	d.CloseEvent = &rules.Event{EventType: "WorkflowTimedOut", Payload: []byte(`{"failure_id":"f","timeout_kind":"run_timeout",
		"failure_category":"timeout","message":"late","exception_class":"C"}`)}
	got, err := description(d)
	require.NoError(t, err)
	assert.Equal(t, "timed_out", *got.ClosedReason)
	assert.Equal(t, "timeout", *got.Failure.FailureCategory)
	assert.Equal(t, "timed_out", *got.Failure.Reason)
	assert.Equal(t, "late", *got.Error)
}

func TestStoredStateThatDoesNotDecodeIsAFault(t *testing.T) {
	d := openRun()
	d.Run.Status = rules.RunFailed
	d.CloseEvent = &rules.Event{Payload: []byte(`{`)}
	_, err := description(d)
	require.Error(t, err)
	var refused *runtime.Refusal
	assert.NotErrorAs(t, err, &refused)
}
