package handlers

// The manifests of cluster info that clients check before they do anything else
// (control-plane.md 2, worker-plane.md 10). They never change while the server runs.

func discovery() manifest {
	return manifest{
		"cluster_info": "/api/cluster/info", "health": "/api/health", "ready": "/api/ready",
		"openapi": manifest{
			"worker_protocol": "/api/openapi/worker-protocol.yaml",
			"control_plane":   "/api/openapi/control-plane.yaml",
		},
	}
}

func supportedVersions() manifest {
	return manifest{"python": ">=1.0", "php": ">=1.0", "rust": ">=0.1", "cli": cliVersions}
}

// cliVersions admits the release candidates, which a plain lower bound would lock out.
const cliVersions = ">=2.0.0-rc.1,<3.0.0"

func clientCompatibility() manifest {
	return manifest{
		"schema": "durable-workflow.v2.client-compatibility", "version": 1,
		"authority": "protocol_manifests", "fail_closed": true,
		"clients": manifest{"cli": manifest{"supported_versions": cliVersions}},
	}
}

func authComposition() manifest {
	return manifest{
		"schema": "durable-workflow.v2.auth-composition.contract", "version": 1,
		"precedence": manifest{
			"connection_values": []string{"flag", "environment", "selected_profile", "default"},
			"profile_selection": []string{"flag_env", "DW_ENV", "current_profile", "default_profile"},
		},
		"canonical_environment": manifest{
			"server_url": "DURABLE_WORKFLOW_SERVER_URL", "namespace": "DURABLE_WORKFLOW_NAMESPACE",
			"auth_token": "DURABLE_WORKFLOW_AUTH_TOKEN", "tls_verify": "DURABLE_WORKFLOW_TLS_VERIFY",
			"profile": "DW_ENV",
		},
		"auth_material": manifest{
			"token":          manifest{"status": "supported", "effective_config_value": "redacted"},
			"mtls":           manifest{"status": "reserved"},
			"signed_headers": manifest{"status": "reserved"},
		},
		"effective_config": manifest{
			"required_fields": []string{"server_url", "namespace", "profile", "auth", "tls", "identity"},
		},
		"redaction": manifest{
			"never_echo": []string{"bearer_tokens", "private_keys", "raw_authorization_headers"},
		},
	}
}

// requestContract names the fields and values that clients check their options against. Only operations
// that work are listed: clients take a listed one as available.
func requestContract() manifest {
	return manifest{
		"schema": "durable-workflow.v2.control-plane-request.contract", "version": 1,
		"operations": manifest{
			"list": manifest{"fields": manifest{"status": manifest{
				"canonical_values": []string{"running", "completed", "failed"},
				"rejected_aliases": manifest{
					"cancelled": "failed", "terminated": "failed", "pending": "running", "waiting": "running",
				},
			}}},
			"start": manifest{
				"fields": manifest{
					"duplicate_policy": manifest{
						"canonical_values": []string{"fail", "use-existing"},
						"rejected_aliases": manifest{"use_existing": "use-existing"},
					},
					"execution_timeout_seconds": manifest{"type": "integer", "min": 1},
					"run_timeout_seconds":       manifest{"type": "integer", "min": 1},
					"payload_codec":             manifest{"type": "string", "canonical_values": []string{"avro"}},
				},
				"unsupported_fields": []string{
					"workflow_execution_timeout", "workflow_run_timeout", "workflow_task_timeout",
					"retry_policy", "idempotency_key",
				},
			},
		},
	}
}

// responseContract describes the control_plane object of workflow replies, operation by operation.
func responseContract() manifest {
	operations := manifest{}
	for name, contract := range commandContracts {
		if !served(name) {
			continue
		}
		operations[name] = manifest{
			"required_fields": orEmpty(contract.required), "success_fields": orEmpty(contract.success),
		}
	}
	return manifest{
		"schema": "durable-workflow.v2.control-plane-response", "version": 1,
		"contract": manifest{
			"schema": "durable-workflow.v2.control-plane-response.contract", "version": 1,
			"legacy_field_policy": "reject_non_canonical",
		},
		"operations": operations,
	}
}

// served tells the workflow operations that have a route.
func served(name string) bool {
	switch name {
	case "list", "start", "describe", "list_runs", "describe_run", "list_activities", "history", "signal", "cancel", "terminate":
		return true
	}
	return false
}
