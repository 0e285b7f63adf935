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
    ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?
);

-- name: TaskUpdate :execrows
UPDATE tasks SET
    status = sqlc.arg(status), order_at = sqlc.arg(order_at), available_at =
    sqlc.arg(available_at), ready_at = sqlc.arg(ready_at), min_protocol = sqlc.arg(min_protocol),
    attempt_count = sqlc.arg(attempt_count), lease_owner = sqlc.arg(lease_owner), lease_generation
    = sqlc.arg(lease_generation), leased_at = sqlc.arg(leased_at), lease_expires_at =
    sqlc.arg(lease_expires_at), claimed_sequence = sqlc.arg(claimed_sequence), activity_attempt_id
    = sqlc.arg(activity_attempt_id), payload = sqlc.arg(payload), receipt = sqlc.arg(receipt),
    last_error = sqlc.arg(last_error), closed_at = sqlc.arg(closed_at)
WHERE task_id = sqlc.arg(task_id);

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
ORDER BY task_id;

-- name: TaskCountLeases :one
SELECT COUNT(*) FROM tasks
WHERE namespace = sqlc.arg(namespace) AND lease_owner = sqlc.arg(lease_owner) AND status = 'leased'
  AND kind = sqlc.arg(kind) AND lease_expires_at > sqlc.arg(now);

-- name: TaskCountLeasesOf :one
-- The live leases of a worker by kind, and the time until which that is how many there are.
SELECT
    CAST(COALESCE(SUM(kind = 'workflow'), 0) AS INTEGER) AS workflow,
    CAST(COALESCE(SUM(kind = 'activity'), 0) AS INTEGER) AS activity,
    CAST(COALESCE(MIN(lease_expires_at), 9223372036854775807) AS INTEGER) AS until
FROM tasks
WHERE namespace = sqlc.arg(namespace) AND lease_owner = sqlc.arg(lease_owner) AND status = 'leased'
  AND lease_expires_at > sqlc.arg(now);

-- name: TaskListLeaseExpired :many
SELECT
    task_id, run_id, workflow_id, namespace, kind, task_queue, type_name, status, priority,
    order_at, available_at, ready_at, fairness_key, compatibility, min_protocol, attempt_count,
    lease_owner, lease_generation, leased_at, lease_expires_at, claimed_sequence,
    activity_execution_id, activity_attempt_id, payload, receipt, last_error, created_at, closed_at
FROM tasks
WHERE status = 'leased' AND lease_expires_at <= sqlc.arg(now) AND lease_expires_at < 9223372036854775807
ORDER BY lease_expires_at
LIMIT sqlc.arg(max_rows);

-- name: TaskListDelayed :many
SELECT
    task_id, run_id, workflow_id, namespace, kind, task_queue, type_name, status, priority,
    order_at, available_at, ready_at, fairness_key, compatibility, min_protocol, attempt_count,
    lease_owner, lease_generation, leased_at, lease_expires_at, claimed_sequence,
    activity_execution_id, activity_attempt_id, payload, receipt, last_error, created_at, closed_at
FROM tasks
WHERE status = 'ready' AND available_at > created_at AND available_at > sqlc.arg(now)
ORDER BY available_at
LIMIT sqlc.arg(max_rows);

-- name: TaskLastFairOrder :one
SELECT CAST(COALESCE(MAX(order_at), 0) AS INTEGER) AS order_at
FROM tasks
WHERE namespace = sqlc.arg(namespace) AND task_queue = sqlc.arg(task_queue) AND kind = sqlc.arg(kind)
  AND fairness_key = sqlc.arg(fairness_key) AND fairness_key <> '' AND status = 'ready';

-- name: TaskFindClaimable :one
-- The first claimable task of one type and build: one index seek.
SELECT task_id, run_id, priority, order_at
FROM tasks
WHERE namespace = sqlc.arg(namespace) AND task_queue = sqlc.arg(task_queue) AND kind = sqlc.arg(kind)
  AND type_name = sqlc.arg(type_name) AND compatibility = sqlc.arg(compatibility) AND status = 'ready'
  AND available_at <= sqlc.arg(now) AND min_protocol <= sqlc.arg(protocol_minor)
ORDER BY priority, order_at, task_id
LIMIT 1;
