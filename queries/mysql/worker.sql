-- name: WorkerGet :one
SELECT
    namespace, worker_id, generation, registration_token, task_queue, runtime, sdk_version,
    build_id, status, protocol_minor, workflow_types, activity_types, capabilities,
    capability_manifest, fingerprints, max_workflow_tasks, max_activity_tasks, max_sessions,
    task_slots, process_metrics, process_identity, heartbeat_interval, last_seen_at, registered_at,
    updated_at
FROM workers
WHERE namespace = sqlc.arg(namespace) AND worker_id = sqlc.arg(worker_id);

-- name: WorkerLock :one
SELECT
    namespace, worker_id, generation, registration_token, task_queue, runtime, sdk_version,
    build_id, status, protocol_minor, workflow_types, activity_types, capabilities,
    capability_manifest, fingerprints, max_workflow_tasks, max_activity_tasks, max_sessions,
    task_slots, process_metrics, process_identity, heartbeat_interval, last_seen_at, registered_at,
    updated_at
FROM workers
WHERE namespace = sqlc.arg(namespace) AND worker_id = sqlc.arg(worker_id)
FOR UPDATE;

-- name: WorkerShare :one
SELECT
    namespace, worker_id, generation, registration_token, task_queue, runtime, sdk_version,
    build_id, status, protocol_minor, workflow_types, activity_types, capabilities,
    capability_manifest, fingerprints, max_workflow_tasks, max_activity_tasks, max_sessions,
    task_slots, process_metrics, process_identity, heartbeat_interval, last_seen_at, registered_at,
    updated_at
FROM workers
WHERE namespace = sqlc.arg(namespace) AND worker_id = sqlc.arg(worker_id)
LOCK IN SHARE MODE;

-- name: WorkerUpsert :exec
INSERT INTO workers (
    namespace, worker_id, generation, registration_token, task_queue, runtime, sdk_version,
    build_id, status, protocol_minor, workflow_types, activity_types, capabilities,
    capability_manifest, fingerprints, max_workflow_tasks, max_activity_tasks, max_sessions,
    task_slots, process_metrics, process_identity, heartbeat_interval, last_seen_at, registered_at,
    updated_at
) VALUES (
    ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?
)
ON DUPLICATE KEY UPDATE
    generation = VALUES(generation), registration_token = VALUES(registration_token), task_queue =
    VALUES(task_queue), runtime = VALUES(runtime), sdk_version = VALUES(sdk_version), build_id =
    VALUES(build_id), status = VALUES(status), protocol_minor = VALUES(protocol_minor),
    workflow_types = VALUES(workflow_types), activity_types = VALUES(activity_types), capabilities
    = VALUES(capabilities), capability_manifest = VALUES(capability_manifest), fingerprints =
    VALUES(fingerprints), max_workflow_tasks = VALUES(max_workflow_tasks), max_activity_tasks =
    VALUES(max_activity_tasks), max_sessions = VALUES(max_sessions), task_slots =
    VALUES(task_slots), process_metrics = VALUES(process_metrics), process_identity =
    VALUES(process_identity), heartbeat_interval = VALUES(heartbeat_interval), last_seen_at =
    VALUES(last_seen_at), registered_at = VALUES(registered_at), updated_at = VALUES(updated_at);

-- name: WorkerDelete :execrows
DELETE FROM workers
WHERE namespace = sqlc.arg(namespace) AND worker_id = sqlc.arg(worker_id) AND generation = sqlc.arg(generation);

-- name: WorkerSeen :exec
UPDATE workers SET last_seen_at = sqlc.arg(last_seen_at)
WHERE namespace = sqlc.arg(namespace) AND worker_id = sqlc.arg(worker_id) AND workers.last_seen_at < sqlc.arg(last_seen_at);

-- name: RegistrationGet :one
SELECT
    token, namespace, worker_id, state, recovered_count, ended_at
FROM worker_registrations
WHERE token = sqlc.arg(token);

-- name: RegistrationUpsert :exec
INSERT INTO worker_registrations (
    token, namespace, worker_id, state, recovered_count, ended_at
) VALUES (
    ?, ?, ?, ?, ?, ?
)
ON DUPLICATE KEY UPDATE
    namespace = VALUES(namespace), worker_id = VALUES(worker_id), state = VALUES(state),
    recovered_count = VALUES(recovered_count), ended_at = VALUES(ended_at);

-- name: DefinitionGet :one
SELECT
    namespace, workflow_type, contract, fingerprint, updated_at
FROM workflow_definitions
WHERE namespace = sqlc.arg(namespace) AND workflow_type = sqlc.arg(workflow_type);

-- name: DefinitionUpsert :exec
INSERT INTO workflow_definitions (
    namespace, workflow_type, contract, fingerprint, updated_at
) VALUES (
    ?, ?, ?, ?, ?
)
ON DUPLICATE KEY UPDATE
    contract = VALUES(contract), fingerprint = VALUES(fingerprint), updated_at = VALUES(updated_at);

-- name: RegistrationPrune :execrows
DELETE FROM worker_registrations
WHERE ended_at > 0 AND ended_at < sqlc.arg(ended_before)
ORDER BY ended_at
LIMIT ?;
