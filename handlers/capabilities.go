package handlers

import (
	"encoding/json"
	"time"

	"dwserver/gen/worker"
)

// capabilityFlags say what this server can do; a flag is true only for what works (worker-plane.md 3).
// A feature is switched on here and nowhere else.
type capabilityFlags struct {
	queryTasks              bool
	updateValidation        bool
	memoUpserts             bool
	messageStreams          bool
	typedSearchAttributes   bool
	localActivities         bool
	stickyExecution         bool
	childWorkflows          bool
	cooperativeCancellation bool
	preparedLocalActivities bool
	idempotentReopen        bool // condition_wait_idempotent_reopen
	carriedPollsWorkflow    bool // carried polls on workflow-task completions
	carriedPollsActivity    bool // carried polls on activity outcomes
	continuations           bool // workflow_continuation on activity completions
	commands                []worker.CommandType
}

var built = capabilityFlags{
	localActivities: true, carriedPollsWorkflow: true, carriedPollsActivity: true, continuations: true,
	commands: []worker.CommandType{
		worker.ScheduleActivity, worker.StartTimer, worker.RecordSideEffect, worker.RecordLocalActivity, worker.RecordVersionMarker,
		worker.OpenConditionWait, worker.OpenSignalWait,
		worker.CompleteWorkflow, worker.FailWorkflow, worker.ContinueAsNew,
	},
}

// History page sizes (worker-plane.md 3).
const (
	historyPageDefault = 500
	historyPageMax     = 1000
)

// deregistrationReceiptSeconds is how long a finished fenced deregistration can be asked for again.
const deregistrationReceiptSeconds = 600

// capabilitiesDocument is the server_capabilities object, encoded once.
func capabilitiesDocument(c Config) ([]byte, error) {
	return marshal(built.document(c))
}

func (f capabilityFlags) document(c Config) worker.ServerCapabilities {
	yes := true
	doc := worker.ServerCapabilities{
		SupportedWorkflowTaskCommands:       f.commands,
		WorkflowTaskPollRequestIdempotency:  true,
		UpdateValidationTasks:               f.updateValidation,
		PollStatus:                          &yes,
		QueryTasks:                          &f.queryTasks,
		QueryTaskPollRequestIdempotency:     &f.queryTasks,
		ActivityRetryPolicy:                 &yes,
		ActivityTimeouts:                    &yes,
		NonRetryableFailures:                &yes,
		ChildWorkflowRetryPolicy:            &f.childWorkflows,
		ChildWorkflowTimeouts:               &f.childWorkflows,
		ParentClosePolicy:                   &f.childWorkflows,
		LongPollTimeout:                     ptr(seconds(c.PollTimeout)),
		HistoryPageSizeDefault:              ptr(historyPageDefault),
		HistoryPageSizeMax:                  ptr(historyPageMax),
		ResponseCompression:                 []string{"gzip", "deflate"},
		WorkerSessionVerbs:                  []string{},
		ClaimedTaskReadyAge:                 &yes,
		CooperativeCancellation:             &f.cooperativeCancellation,
		ActivityCancellationAcknowledgement: &f.cooperativeCancellation,
		PreparedLocalActivities:             &f.preparedLocalActivities,
		ConditionWaitIdempotentReopen:       &f.idempotentReopen,
		WorkflowTaskCompletionActivityPoll:  &f.carriedPollsWorkflow,
		WorkflowTaskCompletionWorkflowPoll:  &f.carriedPollsWorkflow,
		ActivityTaskCompletionPolls:         &f.carriedPollsActivity,
		ActivityWorkflowContinuation:        &f.continuations,
	}
	f.objects(&doc, c)
	return doc
}

// objects fills the members that are objects. One that is not supported keeps its shape.
func (f capabilityFlags) objects(doc *worker.ServerCapabilities, c Config) {
	doc.WorkflowMemoUpdates = object(memoUpdates(f.memoUpserts))
	doc.MessageStreams = object(map[string]any{"schema": "durable-workflow.v2.message-streams.contract", "version": 1,
		"capability_flag": "message_streams", "minimum_worker_protocol_version": "1.15", "supported": f.messageStreams})
	doc.TypedSearchAttributes = object(typedSearchAttributes(f.typedSearchAttributes))
	doc.ConditionWaitOccurrenceIdentity = object(conditionWaitIdentity())
	doc.SynchronousUpdateValidation = object(updateValidation(f.updateValidation))
	doc.LocalActivities = object(map[string]any{"schema": "durable-workflow.v2.local-activity.contract", "version": 1,
		"supported": f.localActivities, "worker_capability": "local_activities", "minimum_worker_protocol_version": "1.18",
		"execution": struct{}{}, "retry": struct{}{}, "timeouts": struct{}{}, "visibility": struct{}{}})
	doc.StickyExecution = object(map[string]any{"feature": "sticky_execution", "worker_capability": "sticky_execution",
		"supported": f.stickyExecution, "minimum_worker_protocol_version": "1.18",
		"cache_key_fields": []string{"workflow_id", "run_id", "build_id"}, "correctness_fallback": "cold_replay",
		"metrics": []string{"hit", "miss", "eviction", "forced_cold_replay"}})
	doc.WorkerDeregistrationFencing = ptr(object(map[string]any{"schema": "durable-workflow.v2.worker-deregistration.v1",
		"supported": true, "receipt_retention_seconds": deregistrationReceiptSeconds,
		"endpoint": "/worker/registrations/{workerId}/deregister"}))
	doc.WorkerStatus = ptr(object(map[string]any{"supported": true,
		"heartbeat_interval_seconds": seconds(c.HeartbeatInterval), "stale_after_seconds": seconds(c.WorkerStaleAfter),
		"fields": map[string]any{"task_slots": []string{"workflow_available", "activity_available", "session_available"},
			"process_metrics": []string{"cpu_percent", "memory_bytes", "process_uptime_seconds", "process_id", "host",
				"process_started_at"}}}))
	doc.HistoryCompression = ptr(object(map[string]any{"supported_encodings": []string{}, "compression_threshold": 50}))
}

func memoUpdates(supported bool) map[string]any {
	none := struct{}{}
	return map[string]any{"supported": supported, "type": "upsert_memo", "minimum_protocol_version": "1.14",
		"worker_capability": "memo_upserts", "required_fields": []string{"type", "entries"},
		"entries": none, "merge": none, "history": none, "idempotency": none, "external_payloads": none,
		"continue_as_new": "merged memo is inherited before commands on the continued run"}
}

func typedSearchAttributes(supported bool) map[string]any {
	return map[string]any{"supported": supported, "minimum_worker_protocol_version": "1.16",
		"worker_capability": "typed_search_attributes",
		"canonical_types":   []string{"string", "keyword", "keyword_list", "int", "float", "bool", "datetime"},
		"command_field":     "attribute_types", "history_field": "attribute_types",
		"legacy_history_rule": "absent_metadata_is_unknown_type_identity"}
}

func conditionWaitIdentity() map[string]any {
	const field = "condition_wait_occurrence_id"
	return map[string]any{"supported": true, "minimum_worker_protocol_version": "1.17",
		"command_type": "open_condition_wait", "command_field": field, "history_field": field,
		"history_events": []string{"ConditionWaitOpened", "ConditionWaitSatisfied", "ConditionWaitTimedOut",
			"TimerScheduled", "TimerFired", "TimerCancelled"},
		"history_routing": "requires_minimum_worker_protocol_version"}
}

func updateValidation(supported bool) map[string]any {
	return map[string]any{"supported": supported, "minimum_protocol_version": "1.13",
		"acceptance_boundary": "validator_approved", "worker_capability": "update_validation_tasks",
		"workflow_contract_field": "update_validators",
		"task_poll": map[string]any{"strategy": "multiplexed", "endpoint": "/worker/workflow-tasks/poll",
			"request_field": "task_kinds", "task_kinds": []string{"workflow", "update_validation"},
			"default_task_kinds": []string{"workflow"}, "response_discriminator": "task.task_kind",
			"poll_request_id_binding":         "normalized_task_kind_set",
			"poll_request_id_conflict_reason": "poll_request_task_kinds_conflict"},
		"completion": map[string]any{"approve_endpoint": "/worker/update-validation-tasks/{taskId}/approve",
			"reject_endpoint": "/worker/update-validation-tasks/{taskId}/reject",
			"fence_fields":    []string{"lease_owner", "update_validation_attempt"},
			"typed_failure_reasons": []string{"update_validation_task_not_found", "duplicate_update_validation_completion",
				"stale_update_validation_completion", "update_validation_task_not_leased",
				"update_validation_lease_owner_mismatch", "update_validation_lease_expired",
				"update_validator_worker_lost"}}}
}

// object encodes a constant.
func object(members map[string]any) json.RawMessage {
	text, err := marshal(members)
	if err != nil {
		panic(err) //nolint:forbidigo // a constant that does not encode
	}
	return text
}

// seconds is a duration in whole seconds.
func seconds(d time.Duration) int { return int(d / time.Second) }
