package handlers

import (
	"encoding/json"

	"dwserver/handlers/avro"
	"dwserver/runtime/rules"
)

// manifest is a JSON object in Go's terms, for documents that are marshalled once.
type manifest = map[string]any

// clusterDocument is everything of cluster info that is the same for every request
// (control-plane.md 2, worker-plane.md 10), as JSON text. capabilities are the server_capabilities of
// the worker plane.
func clusterDocument(c *Config, capabilities json.RawMessage) ([]byte, error) {
	return marshal(manifest{
		"server_id":                 c.ServerID,
		"version":                   c.Version,
		"default_namespace":         c.DefaultNamespace,
		"discovery":                 discovery(),
		"supported_sdk_versions":    supportedVersions(),
		"capabilities":              planeCapabilities(),
		"limits":                    requestLimits(c),
		"structural_limits":         structuralLimits(c.Limits),
		"timeouts":                  timeouts(c),
		"client_compatibility":      clientCompatibility(),
		"auth_composition_contract": authComposition(),
		"control_plane": manifest{
			"version": ControlPlaneVersion, "header": controlPlane.header,
			"request_contract": requestContract(), "response_contract": responseContract(),
		},
		"worker_protocol": manifest{
			"version": WorkerProtocolVersion, "header": workerPlane.header, "server_capabilities": capabilities,
		},
		"topology": manifest{
			"schema": "durable-workflow.v2.topology", "version": 1,
			"supported_shapes": []string{"single_node"}, "current_shape": "single_node",
		},
	})
}

// planeCapabilities says what works. The names that are false are required by the document's schema.
func planeCapabilities() manifest {
	return manifest{
		"workflow_tasks": true, "activity_tasks": true, "signals": true,
		"payload_codec_envelope": true, "payload_codec_envelope_responses": true,
		"queries": built.queryTasks, "updates": false, "schedules": false, "history_export": false,
		"bridge_adapter_outcome_contract": false, "replay_verification_contract": false,
		"external_executor_config_contract": false, "invocable_carrier_contract": false,
		"payload_codecs":       []string{avro.Codec},
		"response_compression": []string{"gzip", "deflate"},
		"avro_value_protocol": manifest{
			"schema": avro.SchemaName, "fingerprint": avro.Fingerprint,
			"framing": "single_object", "magic_hex": avro.MagicHex,
		},
	}
}

// requestLimits are the bounds on single requests (control-plane.md 1.8, settled.md Settings).
func requestLimits(c *Config) manifest {
	return manifest{
		"max_request_bytes":                  c.MaxRequestBytes,
		"max_workflow_task_completion_bytes": c.MaxCompletionBytes,
		"max_payload_bytes":                  c.Limits.PayloadBytes,
		"max_memo_bytes":                     c.Limits.MemoBytes,
		"max_search_attributes":              maxSearchAttributes,
		"max_search_attribute_key_length":    maxAttributeName,
		"max_search_attribute_value_bytes":   maxAttributeText,
		"max_operation_name_length":          maxOperationName,
		"max_pending_activities":             c.Limits.PendingActivities,
		"max_pending_children":               c.Limits.PendingChildren,
	}
}

// structuralLimits are the bounds on what a run may hold and a completion may write.
func structuralLimits(l *rules.Limits) manifest {
	return manifest{
		"pending_activity_count": l.PendingActivities, "pending_child_count": l.PendingChildren,
		"pending_timer_count": l.PendingTimers, "pending_signal_count": l.PendingSignals,
		"pending_update_count": l.PendingUpdates, "command_batch_size": l.CommandBatchSize,
		"payload_size_bytes": l.PayloadBytes, "memo_size_bytes": l.MemoBytes,
		"search_attribute_size_bytes": l.SearchAttributeBytes,
		"history_transaction_size":    l.HistoryTransactionSize,
		"completion_events":           l.CompletionMaxEvents, "completion_rows": l.CompletionMaxRows,
		"completion_bytes":          l.CompletionMaxBytes,
		"warning_threshold_percent": 80,
	}
}

// timeouts are the configured times, in seconds.
func timeouts(c *Config) manifest {
	return manifest{
		"worker_poll_seconds":        c.PollTimeout.Seconds(),
		"workflow_task_seconds":      c.WorkflowTaskTimeout.Seconds(),
		"activity_task_seconds":      c.ActivityTaskTimeout.Seconds(),
		"worker_stale_after_seconds": c.WorkerStaleAfter.Seconds(),
	}
}
