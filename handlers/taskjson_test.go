package handlers

import (
	"encoding/json"
	"testing"

	"dwserver/runtime"
	"dwserver/runtime/rules"

	"github.com/stretchr/testify/require"
)

const start = int64(1_787_539_713_000_000) // 2026-08-24T02:48:33Z

func leasedWorkflow() runtime.PollResult {
	return runtime.PollResult{Status: "leased", Workflow: &runtime.WorkflowTaskAnswer{
		Task: rules.Task{TaskID: "T", TaskQueue: "q", AttemptCount: 2, LeaseOwner: "w", LeaseExpiresAt: start + 60_000_000,
			LeasedAt: start, ReadyAt: start - 3_000, ClaimedSequence: 2,
			Payload: []byte(`{"workflow_wait_kind":"signal","workflow_signal_id":"S","signal_name":"go","workflow_sequence":4,"secret":1}`)},
		Run:       rules.Run{RunID: "R", WorkflowID: "wf \"1\"", WorkflowType: "order", Status: "waiting"},
		Arguments: []byte(`{"codec":"avro","blob":"AA+/"}`),
		Page: runtime.HistoryPage{TotalEvents: 2, NextAfter: 2, SizeBytes: 512, FanOut: 1,
			Budget: rules.BudgetPressure{Pressure: "approaching", Dimensions: []string{"event_count", "fan_out"}},
			Events: []rules.Event{
				{Sequence: 1, EventID: "E1", EventType: "StartAccepted", Payload: []byte(`{"n":9007199254740993, "f":1.0}`), WorkflowCommandID: "C", RecordedAt: start},
				{Sequence: 2, EventID: "E2", EventType: "WorkflowStarted", WorkflowTaskID: "T", RecordedAt: start},
			}},
	}}
}

func TestWorkflowPollAnswerKeepsStoredText(t *testing.T) {
	result := leasedWorkflow()
	require.Equal(t, `{"poll_status":"leased","task":{"task_kind":"workflow","task_id":"T","workflow_id":"wf \"1\"","run_id":"R",`+
		`"workflow_type":"order","workflow_task_attempt":2,"lease_owner":"w","lease_expires_at":"2026-08-24T02:49:33.000000Z",`+
		`"payload_codec":"avro","arguments":{"codec":"avro","blob":"AA+/"},"run_status":"waiting","task_queue":"q","connection":null,`+
		`"compatibility":null,"workflow_wait_kind":"signal","workflow_signal_id":"S","signal_name":"go","workflow_sequence":4,`+
		`"workflow_update_id":null,"workflow_command_id":null,`+
		`"ready_origin_at":"2026-08-24T02:48:32.997000Z","ready_age_ms":3,"sticky_replay_mode":"cold_replay","last_history_sequence":2,`+
		`"total_history_events":2,"next_history_page_token":"Mg==","history_size_bytes":512,"history_fan_out":1,`+
		`"continue_as_new_recommended":false,"history_budget_pressure":"approaching",`+
		`"history_budget_pressure_dimensions":["event_count","fan_out"],"history_events":[`+
		`{"id":"E1","sequence":1,"event_type":"StartAccepted","payload":{"n":9007199254740993, "f":1.0},"workflow_task_id":null,`+
		`"workflow_command_id":"C","recorded_at":"2026-08-24T02:48:33.000000Z"},`+
		`{"id":"E2","sequence":2,"event_type":"WorkflowStarted","payload":{},"workflow_task_id":"T",`+
		`"workflow_command_id":null,"recorded_at":"2026-08-24T02:48:33.000000Z"}]}}`,
		string(workflowPollAnswer(&result)))
}

func TestActivityPollAnswer(t *testing.T) {
	result := runtime.PollResult{Status: "leased", ServerTime: start, Activity: &runtime.ActivityTaskAnswer{
		Task: rules.Task{TaskID: "T", TaskQueue: "q", LeaseOwner: "w", LeaseExpiresAt: start, LeasedAt: start, ReadyAt: start},
		Run:  rules.Run{RunID: "R", WorkflowID: "W", LastHistorySequence: 8},
		Activity: rules.Activity{ExecutionID: "X", ActivityType: "charge", RetryPolicy: []byte(`{"max_attempts":3}`),
			ScheduleDeadlineAt: rules.Never, ScheduleToCloseAt: rules.Never, CloseDeadlineAt: start, HeartbeatDeadlineAt: rules.Never},
		Attempt: rules.Attempt{AttemptID: "A", AttemptNumber: 2},
	}}
	require.Equal(t, `{"poll_status":"leased","task":{"task_id":"T","workflow_id":"W","run_id":"R","activity_execution_id":"X",`+
		`"activity_attempt_id":"A","idempotency_key":"X","attempt_number":2,"attempt":2,"activity_type":"charge","payload_codec":"avro",`+
		`"arguments":null,"retry_policy":{"max_attempts":3},"task_queue":"q","lease_owner":"w",`+
		`"lease_expires_at":"2026-08-24T02:48:33.000000Z","deadlines":{"start_to_close":"2026-08-24T02:48:33.000000Z"},`+
		`"run_history_sequence":8,"ready_origin_at":"2026-08-24T02:48:33.000000Z","ready_age_ms":0},`+
		`"server_time":"2026-08-24T02:48:33.000000Z"}`, string(activityPollAnswer(&result)))
	result.Activity.Activity.CloseDeadlineAt, result.Activity.Activity.RetryPolicy = rules.Never, nil
	answer := string(activityPollAnswer(&result))
	require.NotContains(t, answer, "deadlines")
	require.NotContains(t, answer, "retry_policy")
}

func TestPollsWithoutATask(t *testing.T) {
	for status, want := range map[string]string{
		"empty":                     `{"poll_status":"empty","task":null}`,
		"no_workflow_capability":    `{"poll_status":"no_workflow_capability","task":null}`,
		"stale_worker_registration": `{"poll_status":"stale_worker_registration","task":null,"reason":"stale_worker_registration"}`,
	} {
		require.Equal(t, want, string(workflowPollAnswer(&runtime.PollResult{Status: status})))
	}
	require.Equal(t, `{"poll_status":"empty","task":null,"server_time":"2026-08-24T02:48:33.000000Z"}`,
		string(activityPollAnswer(&runtime.PollResult{Status: "empty", ServerTime: start})))
}

// TestAnswersFitTheDocument sends both answers through the validating client.
func TestAnswersFitTheDocument(t *testing.T) {
	engine := &fakeEngine{poll: leasedWorkflow()}
	c := edge(t, Config{}, engine)
	send(c, "pollWorkflowTask").Expect(200)
	engine.history = engine.poll.Workflow.Page
	send(c, "getWorkflowTaskHistory").Expect(200).Is(map[string]any{"task_id": "T", "workflow_task_attempt": 2, "next_history_page_token": "Mg=="})
	require.Equal(t, runtime.WorkflowHistoryRequest{After: 2, PageSize: 0,
		WorkflowFence: runtime.WorkflowFence{Namespace: "default", TaskID: "T", LeaseOwner: "w", Attempt: 2}}, engine.last)
}

func TestPageTokens(t *testing.T) {
	for _, after := range []int64{1, 2, 500, 1 << 62} {
		got, ok := readPageToken(pageToken(after))
		require.True(t, ok)
		require.Equal(t, after, got)
	}
	require.Empty(t, pageToken(0))
	for _, token := range []string{"", "!", "MQ", "LTE=", "YWJj", "MS41", "OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTk="} {
		_, ok := readPageToken(token)
		require.False(t, ok, token)
	}
	c := edge(t, Config{}, &fakeEngine{})
	c.Post("/worker/workflow-tasks/T/history", `{"lease_owner":"w","workflow_task_attempt":1,"next_history_page_token":"abc!"}`).
		Refused(400, "invalid_page_token")
}

func BenchmarkWorkflowPollAnswer(b *testing.B) {
	result := leasedWorkflow()
	event := result.Workflow.Page.Events[0]
	event.Payload, _ = json.Marshal(map[string]string{"blob": string(make([]byte, 300))})
	for range 500 {
		result.Workflow.Page.Events = append(result.Workflow.Page.Events, event)
	}
	b.ReportAllocs()
	for b.Loop() {
		workflowPollAnswer(&result)
	}
}
