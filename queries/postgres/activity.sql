-- name: ActivityGet :one
SELECT
    execution_id, run_id, namespace, sequence, activity_type, task_queue, status, attempt_count,
    attempt_id, task_id, retry_policy, parallel, scheduled_event, schedule_deadline_at,
    schedule_to_close_at, close_deadline_at, heartbeat_deadline_at, next_deadline_at, created_at,
    started_at, last_heartbeat_at, closed_at, closed_event_sequence, is_local
FROM activities
WHERE execution_id = sqlc.arg(execution_id);

-- name: ActivityInsert :exec
INSERT INTO activities (
    execution_id, run_id, namespace, sequence, activity_type, task_queue, status, attempt_count,
    attempt_id, task_id, retry_policy, parallel, scheduled_event, schedule_deadline_at,
    schedule_to_close_at, close_deadline_at, heartbeat_deadline_at, next_deadline_at, created_at,
    started_at, last_heartbeat_at, closed_at, closed_event_sequence, is_local
) VALUES (
    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21,
    $22, $23, $24
);

-- name: ActivityUpdate :exec
WITH changed AS (
    UPDATE activities SET
        status = sqlc.arg(status), attempt_count = sqlc.arg(attempt_count), attempt_id =
        sqlc.arg(attempt_id), task_id = sqlc.arg(task_id), schedule_deadline_at =
        sqlc.arg(schedule_deadline_at), schedule_to_close_at = sqlc.arg(schedule_to_close_at),
        close_deadline_at = sqlc.arg(close_deadline_at), heartbeat_deadline_at =
        sqlc.arg(heartbeat_deadline_at), next_deadline_at = sqlc.arg(next_deadline_at), started_at
        = sqlc.arg(started_at), last_heartbeat_at = sqlc.arg(last_heartbeat_at), closed_at =
        sqlc.arg(closed_at), closed_event_sequence = sqlc.arg(closed_event_sequence)
    WHERE execution_id = sqlc.arg(execution_id)
    RETURNING 1
)
SELECT 1 / COUNT(*) FROM changed;

-- name: ActivityListOpen :many
SELECT
    execution_id, run_id, namespace, sequence, activity_type, task_queue, status, attempt_count,
    attempt_id, task_id, retry_policy, parallel, scheduled_event, schedule_deadline_at,
    schedule_to_close_at, close_deadline_at, heartbeat_deadline_at, next_deadline_at, created_at,
    started_at, last_heartbeat_at, closed_at, closed_event_sequence, is_local
FROM activities
WHERE run_id = sqlc.arg(run_id) AND status IN ('pending', 'running')
ORDER BY execution_id;

-- name: ActivityListDue :many
SELECT
    execution_id, run_id, namespace, sequence, activity_type, task_queue, status, attempt_count,
    attempt_id, task_id, retry_policy, parallel, scheduled_event, schedule_deadline_at,
    schedule_to_close_at, close_deadline_at, heartbeat_deadline_at, next_deadline_at, created_at,
    started_at, last_heartbeat_at, closed_at, closed_event_sequence, is_local
FROM activities
WHERE next_deadline_at <= sqlc.arg(now) AND next_deadline_at < 9223372036854775807
ORDER BY next_deadline_at
LIMIT sqlc.arg(max_rows)::bigint;

-- name: ActivityListPage :many
-- The activities of a run after an authored sequence, open or not.
SELECT
    execution_id, run_id, namespace, sequence, activity_type, task_queue, status, attempt_count,
    attempt_id, task_id, retry_policy, parallel, scheduled_event, schedule_deadline_at,
    schedule_to_close_at, close_deadline_at, heartbeat_deadline_at, next_deadline_at, created_at,
    started_at, last_heartbeat_at, closed_at, closed_event_sequence, is_local
FROM activities
WHERE run_id = sqlc.arg(run_id) AND status IN ('pending', 'running', 'completed', 'failed', 'cancelled')
  AND sequence > sqlc.arg(after)
ORDER BY sequence
LIMIT sqlc.arg(max_rows)::bigint;

-- name: AttemptGet :one
SELECT
    attempt_id, execution_id, run_id, task_id, attempt_number, status, lease_owner, started_at,
    last_heartbeat_at, closed_at, outcome, receipt, next_task_id, worker_attempt_id
FROM activity_attempts
WHERE attempt_id = sqlc.arg(attempt_id);

-- name: AttemptInsert :exec
INSERT INTO activity_attempts (
    attempt_id, execution_id, run_id, task_id, attempt_number, status, lease_owner, started_at,
    last_heartbeat_at, closed_at, outcome, receipt, next_task_id, worker_attempt_id
) VALUES (
    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14
);

-- name: AttemptUpdate :exec
WITH changed AS (
    UPDATE activity_attempts SET
        status = sqlc.arg(status), last_heartbeat_at = sqlc.arg(last_heartbeat_at), closed_at =
        sqlc.arg(closed_at), outcome = sqlc.arg(outcome), receipt = sqlc.arg(receipt), next_task_id
        = sqlc.arg(next_task_id)
    WHERE attempt_id = sqlc.arg(attempt_id)
    RETURNING 1
)
SELECT 1 / COUNT(*) FROM changed;

-- name: AttemptList :many
SELECT
    attempt_id, execution_id, run_id, task_id, attempt_number, status, lease_owner, started_at,
    last_heartbeat_at, closed_at, outcome, receipt, next_task_id, worker_attempt_id
FROM activity_attempts
WHERE execution_id = sqlc.arg(execution_id)
ORDER BY attempt_number;
