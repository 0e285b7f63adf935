package handlers

import (
	"strings"
	"testing"
	"time"

	"dwserver/handlers/handlertest"
	"dwserver/openapi"
	"dwserver/runtime"
	"dwserver/runtime/rules"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"
)

func TestRegisterHandsOverWhatWasSent(t *testing.T) {
	engine := &fakeEngine{}
	c := edge(t, Config{}, engine)
	reply := c.Post("/worker/register", `{"worker_id":"w/1","task_queue":" q ","runtime":"python","sdk_version":"0.9","build_id":"b",
	 "supported_workflow_types":["order"],"supported_activity_types":["charge"],"capabilities":["query_tasks"],
	 "capability_manifest":{"local_activities":{"supported":false,"minimum_protocol_version":"1.18"}},
	 "workflow_definition_fingerprints":{"order":"f1"},"workflow_command_contracts":{"order":{"signals":["go"]},"gone":null},
	 "max_concurrent_workflow_tasks":5,"max_concurrent_activity_tasks":7,"max_concurrent_worker_sessions":2,
	 "task_slots":{"workflow_available":9,"activity_available":3},"heartbeat_interval_seconds":30,
	 "process_metrics":{"host":"h","process_id":17,"process_started_at":"2026-08-22T02:48:33Z","cpu_percent":1.5}}`).Expect(201)
	require.Equal(t, runtime.RegisterRequest{
		Namespace: "default", WorkerID: "w/1", TaskQueue: "q", Runtime: "python", SDKVersion: "0.9", BuildID: "b", ProtocolMinor: 20,
		WorkflowTypes: []string{"order"}, ActivityTypes: []string{"charge"}, Capabilities: []string{"query_tasks"},
		CapabilityManifest: []byte(`{"local_activities":{"supported":false,"minimum_protocol_version":"1.18"}}`),
		Manifest:           map[string]runtime.ManifestEntry{"local_activities": {MinimumProtocol: "1.18"}},
		Fingerprints:       map[string]string{"order": "f1"}, Contracts: map[string][]byte{"order": []byte(`{"signals":["go"]}`)},
		MaxWorkflowTasks: 5, MaxActivityTasks: 7, MaxSessions: 2,
		TaskSlots:       []byte(`{"workflow_available":5,"activity_available":3}`),
		ProcessMetrics:  []byte(`{"host":"h","process_id":17,"process_started_at":"2026-08-22T02:48:33Z","cpu_percent":1.5}`),
		ProcessIdentity: "h|17|2026-08-22T02:48:33Z|", HeartbeatInterval: 30,
	}, engine.last)
	reply.Is(map[string]any{"registered": true, "worker_id": "w/1", "build_id": "b", "heartbeat_interval_seconds": 10,
		"capability_manifest.local_activities.supported": false, "capabilities": []any{"query_tasks"}})
}

func TestRegisterTakesWhatOlderSDKsSend(t *testing.T) {
	engine := &fakeEngine{}
	c := edge(t, Config{}, engine).With(handlertest.WorkerHeader, "1.1")
	reply := c.Post("/worker/register", `{"task_queue":"q","runtime":"php","workflow_command_contracts":[],"workflow_definition_fingerprints":[],
	 "task_slots":[],"process_metrics":[],"max_concurrent_workflow_tasks":"3","build_id":null,"worker_id":null}`, handlertest.Deliberate()).Expect(201)
	got := engine.last.(runtime.RegisterRequest)
	require.Equal(t, int64(3), got.MaxWorkflowTasks)
	require.Equal(t, int64(100), got.MaxActivityTasks)
	require.Equal(t, int64(10), got.MaxSessions)
	require.Equal(t, int64(1), got.ProtocolMinor)
	require.Empty(t, got.WorkerID)
	require.Empty(t, got.ProcessIdentity)
	reply.Is(map[string]any{"capability_manifest": map[string]any{}, "capabilities": []any{}, "build_id": nil})
}

func TestRegisterRefusesBadFields(t *testing.T) {
	engine := &fakeEngine{}
	c := edge(t, Config{}, engine)
	for body, path := range map[string]string{
		`{"runtime":"go","capability_manifest":{}}`:                                                                                      "task_queue",
		`{"task_queue":"q","capability_manifest":{}}`:                                                                                    "runtime",
		`{"task_queue":"q","runtime":"cobol","capability_manifest":{}}`:                                                                  "runtime",
		`{"task_queue":"q","runtime":"go"}`:                                                                                              "capability_manifest",
		`{"task_queue":"q","runtime":"go","capability_manifest":{},"worker_id":" w"}`:                                                    "worker_id",
		`{"task_queue":"q","runtime":"go","capability_manifest":{},"capabilities":["a","a"]}`:                                            "capabilities.1",
		`{"task_queue":"q","runtime":"go","capability_manifest":{},"max_concurrent_workflow_tasks":-1}`:                                  "max_concurrent_workflow_tasks",
		`{"task_queue":"q","runtime":"go","capability_manifest":{},"max_concurrent_workflow_tasks":0,"max_concurrent_activity_tasks":0}`: "max_concurrent_workflow_tasks",
		`{"task_queue":"q","runtime":"go","capability_manifest":{},"heartbeat_interval_seconds":3601}`:                                   "heartbeat_interval_seconds",
		`{"task_queue":"q","runtime":"go","capability_manifest":{},"process_metrics":{"process_id":[1]}}`:                                "process_metrics.process_id",
		`{"task_queue":"q","runtime":"go","capability_manifest":{},"process_metrics":{"process_id":1.5}}`:                                "process_metrics.process_id",
		`{"task_queue":"q","runtime":"go","capability_manifest":{"local_activities":{}}}`:                                                "capability_manifest.local_activities.supported",
	} {
		reply := c.Post("/worker/register", body, handlertest.Deliberate()).Refused(422, "validation_failed")
		require.NotEmpty(t, errorsAt(reply, path), "%s: %s", path, reply.Any("errors"))
	}
	require.Empty(t, engine.calls)
}

func TestPollsHandOverWhatWasAsked(t *testing.T) {
	engine := &fakeEngine{poll: runtime.PollResult{Status: "empty", ServerTime: 1}}
	c := edge(t, Config{}, engine)
	c.Post("/worker/workflow-tasks/poll", `{"worker_id":"w","task_queue":"q","build_id":"b","poll_request_id":"p","timeout_seconds":0,
	 "history_page_size":7,"task_kinds":["workflow","update_validation"]}`).Expect(200)
	require.Equal(t, runtime.PollRequest{Namespace: "default", WorkerID: "w", TaskQueue: "q", BuildID: "b", PollRequestID: "p",
		HistoryPageSize: 7, ProtocolMinor: 20, TaskKinds: []string{"workflow", "update_validation"}}, engine.last)
	c.Post("/worker/activity-tasks/poll", `{"worker_id":"w","task_queues":["q2"],"timeout_seconds":60}`, handlertest.Header(handlertest.WorkerHeader, "1.9")).Expect(200)
	require.Equal(t, runtime.PollRequest{Namespace: "default", WorkerID: "w", TaskQueue: "q2", Timeout: time.Minute, ProtocolMinor: 9}, engine.last)
	c.Post("/worker/activity-tasks/poll", `{"worker_id":"w","task_queue":"q"}`).Expect(200)
	require.Negative(t, engine.last.(runtime.PollRequest).Timeout)
	bad := handlertest.Deliberate()
	c.Post("/worker/activity-tasks/poll", `{"worker_id":"w"}`, bad).Refused(422, "validation_failed")
	c.Post("/worker/activity-tasks/poll", `{"worker_id":"w","task_queues":["a","b"]}`, bad).Refused(422, "validation_failed")
	c.Post("/worker/workflow-tasks/poll", `{"worker_id":"w","task_queue":"q","timeout_seconds":61}`, bad).Refused(422, "validation_failed")
	c.Post("/worker/workflow-tasks/poll", `{"worker_id":"w","task_queue":"q","task_kinds":["workflow","workflow"]}`, bad).Refused(422, "validation_failed")
}

func TestCommandsAreDecoded(t *testing.T) {
	engine := &fakeEngine{}
	c := edge(t, Config{}, engine)
	c.Post("/worker/workflow-tasks/T/complete", `{"lease_owner":"w","workflow_task_attempt":"2","commands":[
	 {"type":"schedule_activity","activity_type":" charge ","arguments":"AA\/+","queue":null,"start_to_close_timeout":5,
	  "retry_policy":{"max_attempts":null,"backoff_seconds":[1,2],"non_retryable_error_types":["E"],"extra":1},"non_retryable":false,
	  "parallel_group_id":"g","parallel_group_base_sequence":1,"parallel_group_path":[{"parallel_group_id":"g","parallel_group_kind":"activity",
	   "parallel_group_base_sequence":1,"parallel_group_size":2,"parallel_group_index":0}],"mode":"select","selection_member_key":"k","parallel_x\"y":null,"unknown":1},
	 {"type":"complete_workflow","result":{"codec":"avro","blob":"AAAA","extra":1},"retry_policy":[]},
	 {"type":"record_version_marker","version":-1,"min_supported":-1,"max_supported":1,"result":""},
	 {"type":"complete_workflow","result":{"codec":"avro","external_storage":{"uri":"x"}}}]}`, handlertest.Deliberate()).Expect(200)
	five, no := int64(5), false
	require.Equal(t, rules.WorkflowCommand{Type: "schedule_activity", ActivityType: ptr("charge"), Arguments: []byte(`{"codec":"avro","blob":"AA/+"}`),
		StartToCloseTimeout: &five, NonRetryable: &no,
		RetryPolicy:     &rules.RetryPolicy{Unlimited: true, BackoffSeconds: []int64{1, 2}, NonRetryableErrorTypes: []string{"E"}},
		ParallelGroupID: ptr("g"), ParallelGroupBaseSequence: ptr(int64(1)),
		ParallelGroupPath: engine.commands[0].ParallelGroupPath,
		ParallelOther:     []byte(`{"mode":"select","selection_member_key":"k"}`)}, engine.commands[0])
	require.JSONEq(t, `[{"parallel_group_id":"g","parallel_group_kind":"activity","parallel_group_base_sequence":1,"parallel_group_size":2,"parallel_group_index":0}]`,
		string(engine.commands[0].ParallelGroupPath))
	require.Equal(t, `{"codec":"avro","blob":"AAAA"}`, string(engine.commands[1].Result))
	require.Equal(t, &rules.RetryPolicy{}, engine.commands[1].RetryPolicy)
	require.Equal(t, int64(-1), *engine.commands[2].Version)
	require.Nil(t, engine.commands[2].Result)
	require.Equal(t, `{"codec":"avro","external_storage":{"uri":"x"}}`, string(engine.commands[3].Result))
	require.Equal(t, int64(2), engine.last.(runtime.CompleteWorkflowTaskRequest).Attempt)
}

// notBuilt are members of commands that the engine does not know yet.
var notBuilt = map[string]bool{"attributes": true, "attribute_types": true, "update_id": true}

// TestEveryMemberOfACommandIsRead holds the table of commands.go against the document.
func TestEveryMemberOfACommandIsRead(t *testing.T) {
	doc, err := openapi3.NewLoader().LoadFromData(openapi.WorkerProtocol)
	require.NoError(t, err)
	members := doc.Components.Schemas["WorkflowCommand"].Value.Properties
	for name := range members {
		_, read := commandFields[name]
		require.True(t, read != notBuilt[name], "%s is in the document", name)
	}
	for name := range commandFields {
		require.Contains(t, members, name)
	}
}

func TestCompletionsAreComparedWithoutCarriers(t *testing.T) {
	engine := &fakeEngine{}
	c := edge(t, Config{}, engine)
	for _, body := range []string{
		`{"lease_owner":"w","workflow_task_attempt":2,"commands":[{"type":"complete_workflow","result":"AA\/+"}]}`,
		`{"commands":[{"result":"AA/+","type":"complete_workflow"}],"workflow_task_attempt":2,"lease_owner":"w","activity_poll":{"x":1}}`,
		`{"lease_owner":"w","workflow_task_attempt":2,"commands":[{"type":"complete_workflow","result":"AA=="}]}`,
	} {
		c.Post("/worker/workflow-tasks/T/complete", body).Expect(200)
	}
	require.Equal(t, engine.digests[0], engine.digests[1])
	require.NotEqual(t, engine.digests[0], engine.digests[2])
}

func TestAnUnknownCodecHasAReasonOfItsOwn(t *testing.T) {
	c := edge(t, Config{}, &fakeEngine{})
	reply := c.Post("/worker/activity-tasks/T/complete", `{"activity_attempt_id":"A","lease_owner":"w","result":{"codec":"json","blob":"AAAA"}}`,
		handlertest.Deliberate()).Refused(422, "unsupported_payload_codec")
	require.NotEmpty(t, errorsAt(reply, "result.codec"))
	require.Equal(t, "rejected", reply.Text("outcome"))
}

func TestActivityReports(t *testing.T) {
	engine := &fakeEngine{state: runtime.ActivityState{CanContinue: true, HeartbeatRecorded: true, Task: rules.Task{LeaseExpiresAt: start, Status: "leased"},
		Activity: rules.Activity{Status: "running", HeartbeatDeadlineAt: start, CloseDeadlineAt: rules.Never, ScheduleDeadlineAt: rules.Never, ScheduleToCloseAt: rules.Never},
		Run:      rules.Run{Status: "waiting"}, Attempt: rules.Attempt{Status: "running"}}}
	c := edge(t, Config{Limits: &rules.Limits{PayloadBytes: 100}}, engine)
	c.Post("/worker/activity-tasks/T/heartbeat", `{"activity_attempt_id":"A","lease_owner":"w","details":{"b":1.0, "a":[]},"current":3,"message":null,"x":1}`).
		Expect(200).Is(map[string]any{"can_continue": true, "lease_expires_at": "2026-08-24T02:48:33.000000Z", "reason": nil, "worker_session": nil})
	require.Equal(t, `{"current":3,"details":{"b":1.0, "a":[]}}`, string(engine.last.(runtime.HeartbeatActivityRequest).Progress))
	c.Post("/worker/activity-tasks/T/heartbeat", `{"activity_attempt_id":"A","lease_owner":"w"}`).Expect(200)
	require.Nil(t, engine.last.(runtime.HeartbeatActivityRequest).Progress)
	c.Post("/worker/activity-tasks/T/heartbeat", `{"activity_attempt_id":"A","lease_owner":"w","details":"`+strings.Repeat("x", 100)+`"}`).
		Refused(422, "structural_limit_exceeded").Is(map[string]any{"limit_kind": "payload_size", "configured_limit": 100})

	c.Post("/worker/activity-tasks/T/status", `{"activity_attempt_id":"A","lease_owner":"w"}`).Expect(200).
		Is(map[string]any{"activity_status": "running", "attempt_status": "running", "task_status": "leased", "run_status": "waiting",
			"heartbeat_recorded": false, "deadlines.heartbeat": "2026-08-24T02:48:33.000000Z"})
	c.Post("/worker/activity-tasks/T/status", `{"activity_attempt_id":"A","lease_owner":"w"}`, handlertest.Header(handlertest.WorkerHeader, "1.19")).
		Refused(422, "activity_attempt_status_unavailable")

	c.Post("/worker/activity-tasks/T/fail", `{"activity_attempt_id":"A","lease_owner":"w","failure":{"message":"m","type":"E","class":"C","code":7,
	 "retryable":false,"kind":"timeout","timeout_type":"heartbeat","details":"AAAA","stack_trace":"s"}}`).Expect(200).
		Is(map[string]any{"outcome": "failed", "recorded": true, "next_task_id": "N", "reason": nil})
	require.Equal(t, rules.ActivityFailureReport{Message: "m", Type: "E", Class: "C", Code: ptr(int64(7)), StackTrace: "s", NonRetryable: true,
		Kind: "timeout", TimeoutType: "heartbeat", Details: []byte(`{"codec":"avro","blob":"AAAA"}`)}, engine.last.(runtime.FailActivityRequest).Failure)

	c.Post("/worker/activity-tasks/T/complete", `{"activity_attempt_id":"A","lease_owner":"w","result":"AAAA"}`).Expect(200)
	require.Equal(t, int64(3), engine.last.(runtime.CompleteActivityRequest).ResultSize)
}

func TestPreparedLocalActivitiesAreRefused(t *testing.T) {
	c := edge(t, Config{}, &fakeEngine{})
	for _, path := range []string{"prepare", "checkpoint", "recover", "A/control", "A/outcome", "A/acknowledge-cancellation"} {
		c.Post("/worker/workflow-tasks/T/local-activities/"+path, `{"lease_owner":"w","workflow_task_attempt":1,"anything":[]}`).
			Refused(409, "prepared_local_activity_not_supported").
			Is(map[string]any{"worker_id": "w", "minimum_protocol_version": "1.20", "task_id": "T",
				"required_capability": "prepared_local_activities", "unavailable": []any{"prepared_local_activities"}})
	}
	c.Post("/worker/workflow-tasks/T/local-activities/prepare", nil, handlertest.Deliberate()).Refused(409, "prepared_local_activity_not_supported").Is(map[string]any{"worker_id": nil})
}
