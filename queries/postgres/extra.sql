-- name: TaskFindHeads :many
-- The first claimable tasks of each type and build, without locks, in claim order.
SELECT head.kind, head.type_name, head.compatibility, head.priority, head.order_at, head.task_id, head.run_id,
    head.activity_execution_id
FROM (
    SELECT 'activity' AS kind, type_name FROM unnest(sqlc.arg(activity_types)::text[]) AS names (type_name)
    UNION ALL
    SELECT 'workflow', type_name FROM unnest(sqlc.arg(workflow_types)::text[]) AS names (type_name)
) types
CROSS JOIN unnest(sqlc.arg(builds)::text[]) AS builds (build)
CROSS JOIN LATERAL (
    SELECT tasks.kind, tasks.type_name, tasks.compatibility, tasks.priority, tasks.order_at, tasks.task_id, tasks.run_id,
        tasks.activity_execution_id
    FROM tasks
    WHERE tasks.namespace = sqlc.arg(namespace) AND tasks.task_queue = sqlc.arg(task_queue) AND tasks.kind = types.kind
      AND tasks.type_name = types.type_name AND left(tasks.compatibility, 64) = left(builds.build, 64)
      AND tasks.status = 'ready' AND tasks.available_at <= sqlc.arg(now)
      AND tasks.compatibility = builds.build AND tasks.min_protocol <= sqlc.arg(protocol_minor)
    ORDER BY tasks.priority, tasks.order_at, tasks.task_id
    LIMIT sqlc.arg(max_rows)::bigint
) head
ORDER BY head.priority, head.order_at, head.task_id;

-- name: TaskLockHead :one
-- Locks a task that was found to be claimable, with its run, if it still is and nobody holds them.
SELECT sqlc.embed(tasks), sqlc.embed(workflow_runs)
FROM tasks
JOIN workflow_runs ON workflow_runs.run_id = tasks.run_id
WHERE tasks.task_id = sqlc.arg(task_id) AND tasks.status = 'ready' AND tasks.available_at <= sqlc.arg(now)
  AND tasks.min_protocol <= sqlc.arg(protocol_minor)
FOR UPDATE OF workflow_runs, tasks SKIP LOCKED;

-- name: TaskListLeases :many
-- What a worker holds leased, for counting.
SELECT task_id, kind, lease_expires_at
FROM tasks
WHERE namespace = sqlc.arg(namespace) AND lease_owner = sqlc.arg(lease_owner) AND status = 'leased';

-- name: ReceiptList :many
-- The receipts of some poll requests of a worker, of either kind.
SELECT
    r.namespace, r.worker_id, r.kind, r.poll_request_id, r.binding, r.task_id, r.attempt, r.prune_at
FROM unnest(sqlc.arg(poll_request_ids)::text[]) AS ids (id)
CROSS JOIN unnest(ARRAY['activity', 'workflow']) AS kinds (kind)
CROSS JOIN LATERAL (
    SELECT * FROM poll_receipts
    WHERE poll_receipts.namespace = sqlc.arg(namespace) AND poll_receipts.worker_id = sqlc.arg(worker_id)
      AND poll_receipts.kind = kinds.kind AND poll_receipts.poll_request_id = ids.id
    LIMIT 1 -- keeps the planner from reading all receipts of the worker
) r;

-- name: EventGetOfActivity :one
-- The event that scheduled an activity.
SELECT
    run_id, sequence, event_id, event_type, payload, workflow_task_id, workflow_command_id, recorded_at
FROM history_events
WHERE (run_id, sequence) = (
    SELECT activities.run_id, activities.scheduled_event FROM activities
    WHERE activities.execution_id = sqlc.arg(execution_id)
);

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

-- name: WorkerGetOfPoll :one
-- A registration with the receipt of one of its polls; without one the receipt names no task.
SELECT sqlc.embed(workers), COALESCE(r.binding, '')::text AS binding, COALESCE(r.task_id, '')::text AS task_id,
    COALESCE(r.attempt, 0)::bigint AS attempt, COALESCE(r.prune_at, 0)::bigint AS prune_at
FROM workers
LEFT JOIN poll_receipts r ON r.namespace = workers.namespace AND r.worker_id = workers.worker_id
  AND r.kind = sqlc.arg(kind) AND r.poll_request_id = sqlc.arg(poll_request_id)
WHERE workers.namespace = sqlc.arg(namespace) AND workers.worker_id = sqlc.arg(worker_id);

-- name: TaskGetWhole :one
-- An activity task with its activity and an attempt, where all three are there.
SELECT sqlc.embed(tasks), sqlc.embed(activities), sqlc.embed(activity_attempts)
FROM tasks
JOIN activities ON activities.execution_id = tasks.activity_execution_id
JOIN activity_attempts ON activity_attempts.attempt_id = sqlc.arg(attempt_id)
WHERE tasks.task_id = sqlc.arg(task_id);
