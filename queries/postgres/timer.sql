-- name: TimerGet :one
SELECT
    timer_id, run_id, task_id, sequence, kind, wait_id, delay_seconds, fire_at, due_at, status,
    parallel, created_at, closed_at
FROM timers
WHERE timer_id = sqlc.arg(timer_id);

-- name: TimerInsert :exec
INSERT INTO timers (
    timer_id, run_id, task_id, sequence, kind, wait_id, delay_seconds, fire_at, due_at, status,
    parallel, created_at, closed_at
) VALUES (
    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13
);

-- name: TimerUpdate :exec
WITH changed AS (
    UPDATE timers SET
        due_at = sqlc.arg(due_at), status = sqlc.arg(status), closed_at = sqlc.arg(closed_at)
    WHERE timer_id = sqlc.arg(timer_id)
    RETURNING 1
)
SELECT 1 / COUNT(*) FROM changed;

-- name: TimerListOpen :many
SELECT
    timer_id, run_id, task_id, sequence, kind, wait_id, delay_seconds, fire_at, due_at, status,
    parallel, created_at, closed_at
FROM timers
WHERE run_id = sqlc.arg(run_id) AND status = 'pending'
ORDER BY timer_id;

-- name: TimerListDue :many
SELECT
    timer_id, run_id, task_id, sequence, kind, wait_id, delay_seconds, fire_at, due_at, status,
    parallel, created_at, closed_at
FROM timers
WHERE due_at <= sqlc.arg(now) AND due_at < 9223372036854775807
ORDER BY due_at
LIMIT sqlc.arg(max_rows)::bigint;
