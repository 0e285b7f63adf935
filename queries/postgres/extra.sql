-- name: TaskFindHeads :many
-- The first claimable task of each type and build, without locks, in claim order.
SELECT head.type_name, head.compatibility, head.priority, head.order_at, head.task_id
FROM unnest(sqlc.arg(type_names)::text[]) AS types (type_name)
CROSS JOIN unnest(sqlc.arg(builds)::text[]) AS builds (build)
CROSS JOIN LATERAL (
    SELECT tasks.type_name, tasks.compatibility, tasks.priority, tasks.order_at, tasks.task_id
    FROM tasks
    WHERE tasks.namespace = sqlc.arg(namespace) AND tasks.task_queue = sqlc.arg(task_queue) AND tasks.kind = sqlc.arg(kind)
      AND tasks.type_name = types.type_name AND left(tasks.compatibility, 64) = left(builds.build, 64)
      AND tasks.status = 'ready' AND tasks.available_at <= sqlc.arg(now)
      AND tasks.compatibility = builds.build AND tasks.min_protocol <= sqlc.arg(protocol_minor)
    ORDER BY tasks.priority, tasks.order_at, tasks.task_id
    LIMIT 1
) head
ORDER BY head.priority, head.order_at, head.task_id;

-- name: ActivityGetOfTask :one
SELECT
    execution_id, run_id, namespace, sequence, activity_type, task_queue, status, attempt_count,
    attempt_id, task_id, retry_policy, parallel, scheduled_event, schedule_deadline_at,
    schedule_to_close_at, close_deadline_at, heartbeat_deadline_at, next_deadline_at, created_at,
    started_at, last_heartbeat_at, closed_at, closed_event_sequence, is_local
FROM activities
WHERE execution_id = (SELECT tasks.activity_execution_id FROM tasks WHERE tasks.task_id = sqlc.arg(task_id));

-- name: AttemptGetOfTask :one
SELECT
    attempt_id, execution_id, run_id, task_id, attempt_number, status, lease_owner, started_at,
    last_heartbeat_at, closed_at, outcome, receipt, next_task_id, worker_attempt_id
FROM activity_attempts
WHERE attempt_id = (SELECT tasks.activity_attempt_id FROM tasks WHERE tasks.task_id = sqlc.arg(task_id));

-- name: TaskGetOpen :one
SELECT
    task_id, run_id, workflow_id, namespace, kind, task_queue, type_name, status, priority,
    order_at, available_at, ready_at, fairness_key, compatibility, min_protocol, attempt_count,
    lease_owner, lease_generation, leased_at, lease_expires_at, claimed_sequence,
    activity_execution_id, activity_attempt_id, payload, receipt, last_error, created_at, closed_at
FROM tasks
WHERE task_id = (SELECT workflow_runs.workflow_task_id FROM workflow_runs WHERE workflow_runs.run_id = sqlc.arg(run_id));

-- name: TaskGetOpenOfTask :one
SELECT
    task_id, run_id, workflow_id, namespace, kind, task_queue, type_name, status, priority,
    order_at, available_at, ready_at, fairness_key, compatibility, min_protocol, attempt_count,
    lease_owner, lease_generation, leased_at, lease_expires_at, claimed_sequence,
    activity_execution_id, activity_attempt_id, payload, receipt, last_error, created_at, closed_at
FROM tasks
WHERE task_id = (
    SELECT workflow_runs.workflow_task_id FROM workflow_runs
    WHERE workflow_runs.run_id = (SELECT own.run_id FROM tasks own WHERE own.task_id = sqlc.arg(task_id))
);

-- name: TaskGetOpenOfWorkflow :one
SELECT
    task_id, run_id, workflow_id, namespace, kind, task_queue, type_name, status, priority,
    order_at, available_at, ready_at, fairness_key, compatibility, min_protocol, attempt_count,
    lease_owner, lease_generation, leased_at, lease_expires_at, claimed_sequence,
    activity_execution_id, activity_attempt_id, payload, receipt, last_error, created_at, closed_at
FROM tasks
WHERE task_id = (
    SELECT workflow_runs.workflow_task_id FROM workflow_runs
    WHERE workflow_runs.run_id = (
        SELECT workflow_instances.current_run_id FROM workflow_instances
        WHERE workflow_instances.workflow_id = sqlc.arg(workflow_id)
    )
);

-- name: WorkerGetOfTask :one
SELECT
    namespace, worker_id, generation, registration_token, task_queue, runtime, sdk_version,
    build_id, status, protocol_minor, workflow_types, activity_types, capabilities,
    capability_manifest, fingerprints, max_workflow_tasks, max_activity_tasks, max_sessions,
    task_slots, process_metrics, process_identity, heartbeat_interval, last_seen_at, registered_at,
    updated_at
FROM workers
WHERE (namespace, worker_id) = (SELECT tasks.namespace, tasks.lease_owner FROM tasks WHERE tasks.task_id = sqlc.arg(task_id));

-- name: TaskListFresh :many
-- Queues with tasks that became claimable in a span of time, whichever process made them.
SELECT DISTINCT namespace, task_queue, kind, type_name
FROM tasks
WHERE status = 'ready' AND available_at > sqlc.arg(after) AND available_at <= sqlc.arg(now);
