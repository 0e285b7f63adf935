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
-- A key share keeps registrations out, which lock the row for update, but not the time it was seen.
SELECT
    namespace, worker_id, generation, registration_token, task_queue, runtime, sdk_version,
    build_id, status, protocol_minor, workflow_types, activity_types, capabilities,
    capability_manifest, fingerprints, max_workflow_tasks, max_activity_tasks, max_sessions,
    task_slots, process_metrics, process_identity, heartbeat_interval, last_seen_at, registered_at,
    updated_at
FROM workers
WHERE namespace = sqlc.arg(namespace) AND worker_id = sqlc.arg(worker_id)
FOR KEY SHARE;

-- name: WorkerUpsert :exec
INSERT INTO workers (
    namespace, worker_id, generation, registration_token, task_queue, runtime, sdk_version,
    build_id, status, protocol_minor, workflow_types, activity_types, capabilities,
    capability_manifest, fingerprints, max_workflow_tasks, max_activity_tasks, max_sessions,
    task_slots, process_metrics, process_identity, heartbeat_interval, last_seen_at, registered_at,
    updated_at
) VALUES (
    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21,
    $22, $23, $24, $25
)
ON CONFLICT (namespace, worker_id) DO UPDATE SET
    generation = excluded.generation, registration_token = excluded.registration_token, task_queue
    = excluded.task_queue, runtime = excluded.runtime, sdk_version = excluded.sdk_version, build_id
    = excluded.build_id, status = excluded.status, protocol_minor = excluded.protocol_minor,
    workflow_types = excluded.workflow_types, activity_types = excluded.activity_types,
    capabilities = excluded.capabilities, capability_manifest = excluded.capability_manifest,
    fingerprints = excluded.fingerprints, max_workflow_tasks = excluded.max_workflow_tasks,
    max_activity_tasks = excluded.max_activity_tasks, max_sessions = excluded.max_sessions,
    task_slots = excluded.task_slots, process_metrics = excluded.process_metrics, process_identity
    = excluded.process_identity, heartbeat_interval = excluded.heartbeat_interval, last_seen_at =
    excluded.last_seen_at, registered_at = excluded.registered_at, updated_at = excluded.updated_at;

-- name: WorkerDelete :exec
WITH changed AS (
    DELETE FROM workers
    WHERE namespace = sqlc.arg(namespace) AND worker_id = sqlc.arg(worker_id) AND generation = sqlc.arg(generation)
    RETURNING 1
)
SELECT 1 / COUNT(*) FROM changed;

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
    $1, $2, $3, $4, $5, $6
)
ON CONFLICT (token) DO UPDATE SET
    namespace = excluded.namespace, worker_id = excluded.worker_id, state = excluded.state,
    recovered_count = excluded.recovered_count, ended_at = excluded.ended_at;

-- name: DefinitionGet :one
SELECT
    namespace, workflow_type, contract, fingerprint, updated_at
FROM workflow_definitions
WHERE namespace = sqlc.arg(namespace) AND workflow_type = sqlc.arg(workflow_type);

-- name: DefinitionUpsert :exec
INSERT INTO workflow_definitions (
    namespace, workflow_type, contract, fingerprint, updated_at
) VALUES (
    $1, $2, $3, $4, $5
)
ON CONFLICT (namespace, workflow_type) DO UPDATE SET
    contract = excluded.contract, fingerprint = excluded.fingerprint, updated_at =
    excluded.updated_at;

-- name: RegistrationPrune :execrows
DELETE FROM worker_registrations
WHERE token IN (
    SELECT r.token FROM worker_registrations r
    WHERE r.ended_at > 0 AND r.ended_at < sqlc.arg(ended_before)
    ORDER BY r.ended_at
    LIMIT sqlc.arg(max_rows)::bigint
);
