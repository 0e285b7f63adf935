-- name: TaskGet :one
SELECT
    task_id, run_id, workflow_id, namespace, kind, task_queue, type_name, status, priority,
    order_at, available_at, ready_at, fairness_key, compatibility, min_protocol, attempt_count,
    lease_owner, lease_generation, leased_at, lease_expires_at, claimed_sequence,
    activity_execution_id, activity_attempt_id, payload, receipt, last_error, created_at, closed_at
FROM tasks
WHERE task_id = sqlc.arg(task_id);

-- name: TaskInsert :exec
INSERT INTO tasks (
    task_id, run_id, workflow_id, namespace, kind, task_queue, type_name, status, priority,
    order_at, available_at, ready_at, fairness_key, compatibility, min_protocol, attempt_count,
    lease_owner, lease_generation, leased_at, lease_expires_at, claimed_sequence,
    activity_execution_id, activity_attempt_id, payload, receipt, last_error, created_at, closed_at
) VALUES (
    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21,
    $22, $23, $24, $25, $26, $27, $28
);

-- name: TaskUpdate :exec
WITH changed AS (
    UPDATE tasks SET
        status = sqlc.arg(status), order_at = sqlc.arg(order_at), available_at =
        sqlc.arg(available_at), ready_at = sqlc.arg(ready_at), min_protocol =
        sqlc.arg(min_protocol), attempt_count = sqlc.arg(attempt_count), lease_owner =
        sqlc.arg(lease_owner), lease_generation = sqlc.arg(lease_generation), leased_at =
        sqlc.arg(leased_at), lease_expires_at = sqlc.arg(lease_expires_at), claimed_sequence =
        sqlc.arg(claimed_sequence), activity_attempt_id = sqlc.arg(activity_attempt_id), payload =
        sqlc.arg(payload), receipt = sqlc.arg(receipt), last_error = sqlc.arg(last_error),
        closed_at = sqlc.arg(closed_at)
    WHERE task_id = sqlc.arg(task_id)
    RETURNING 1
)
SELECT 1 / COUNT(*) FROM changed;

-- name: TaskListOpen :many
-- The open tasks of a run are its workflow task and those of its open activities, so that
-- tasks need no index by run.
SELECT
    task_id, run_id, workflow_id, namespace, kind, task_queue, type_name, status, priority,
    order_at, available_at, ready_at, fairness_key, compatibility, min_protocol, attempt_count,
    lease_owner, lease_generation, leased_at, lease_expires_at, claimed_sequence,
    activity_execution_id, activity_attempt_id, payload, receipt, last_error, created_at, closed_at
FROM tasks
WHERE task_id IN (
    SELECT workflow_runs.workflow_task_id FROM workflow_runs WHERE workflow_runs.run_id = sqlc.arg(run_id)
    UNION ALL
    SELECT activities.task_id FROM activities
    WHERE activities.run_id = sqlc.arg(run_id) AND activities.status IN ('pending', 'running')
) AND status IN ('ready', 'leased')
ORDER BY task_id;

-- name: TaskListLeased :many
SELECT
    task_id, run_id, workflow_id, namespace, kind, task_queue, type_name, status, priority,
    order_at, available_at, ready_at, fairness_key, compatibility, min_protocol, attempt_count,
    lease_owner, lease_generation, leased_at, lease_expires_at, claimed_sequence,
    activity_execution_id, activity_attempt_id, payload, receipt, last_error, created_at, closed_at
FROM tasks
WHERE namespace = sqlc.arg(namespace) AND lease_owner = sqlc.arg(lease_owner) AND status = 'leased'
ORDER BY task_id
FOR UPDATE;

-- name: TaskCountLeases :one
SELECT COUNT(*) FROM tasks
WHERE namespace = sqlc.arg(namespace) AND lease_owner = sqlc.arg(lease_owner) AND status = 'leased'
  AND kind = sqlc.arg(kind) AND lease_expires_at > sqlc.arg(now);

-- name: TaskListLeaseExpired :many
SELECT
    task_id, run_id, workflow_id, namespace, kind, task_queue, type_name, status, priority,
    order_at, available_at, ready_at, fairness_key, compatibility, min_protocol, attempt_count,
    lease_owner, lease_generation, leased_at, lease_expires_at, claimed_sequence,
    activity_execution_id, activity_attempt_id, payload, receipt, last_error, created_at, closed_at
FROM tasks
WHERE status = 'leased' AND lease_expires_at <= sqlc.arg(now) AND lease_expires_at < 9223372036854775807
ORDER BY lease_expires_at
LIMIT sqlc.arg(max_rows)::bigint;

-- name: TaskListDelayed :many
SELECT
    task_id, run_id, workflow_id, namespace, kind, task_queue, type_name, status, priority,
    order_at, available_at, ready_at, fairness_key, compatibility, min_protocol, attempt_count,
    lease_owner, lease_generation, leased_at, lease_expires_at, claimed_sequence,
    activity_execution_id, activity_attempt_id, payload, receipt, last_error, created_at, closed_at
FROM tasks
WHERE status = 'ready' AND available_at > sqlc.arg(now)
ORDER BY available_at
LIMIT sqlc.arg(max_rows)::bigint;

-- name: TaskLastFairOrder :one
SELECT CAST(COALESCE(MAX(order_at), 0) AS BIGINT) AS order_at
FROM tasks
WHERE namespace = sqlc.arg(namespace) AND task_queue = sqlc.arg(task_queue) AND kind = sqlc.arg(kind)
  AND fairness_key = sqlc.arg(fairness_key) AND fairness_key <> '' AND status = 'ready';

-- name: TaskFindClaimable :one
-- Locks the first claimable task of one type and build with its run, passing over what others hold.
-- The line is bounded, so that a run with many tasks that is locked does not make claims long.
SELECT sqlc.embed(tasks), sqlc.embed(workflow_runs)
FROM (
    SELECT head.task_id, head.priority, head.order_at
    FROM tasks head
    WHERE head.namespace = sqlc.arg(namespace) AND head.task_queue = sqlc.arg(task_queue) AND head.kind = sqlc.arg(kind)
      AND head.type_name = sqlc.arg(type_name) AND left(head.compatibility, 64) = left(sqlc.arg(compatibility), 64)
      AND head.status = 'ready' AND head.available_at <= sqlc.arg(now)
      AND head.compatibility = sqlc.arg(compatibility) AND head.min_protocol <= sqlc.arg(protocol_minor)
    ORDER BY head.priority, head.order_at, head.task_id
    LIMIT 100
) line
JOIN tasks ON tasks.task_id = line.task_id
JOIN workflow_runs ON workflow_runs.run_id = tasks.run_id
WHERE tasks.status = 'ready' AND tasks.available_at <= sqlc.arg(now)
ORDER BY line.priority, line.order_at, line.task_id
LIMIT 1
FOR UPDATE OF workflow_runs, tasks SKIP LOCKED;
