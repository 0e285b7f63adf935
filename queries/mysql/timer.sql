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
    ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?
);

-- name: TimerUpdate :execrows
UPDATE timers SET
    due_at = sqlc.arg(due_at), status = sqlc.arg(status), closed_at = sqlc.arg(closed_at)
WHERE timer_id = sqlc.arg(timer_id);

-- name: TimerListOpen :many
-- Ordered in Go: rows with documents are never sorted by the server.
SELECT
    timer_id, run_id, task_id, sequence, kind, wait_id, delay_seconds, fire_at, due_at, status,
    parallel, created_at, closed_at
FROM timers
WHERE run_id = sqlc.arg(run_id) AND status = 'pending';

-- name: TimerListDue :many
SELECT
    timer_id, run_id, task_id, sequence, kind, wait_id, delay_seconds, fire_at, due_at, status,
    parallel, created_at, closed_at
FROM timers
WHERE due_at <= sqlc.arg(now) AND due_at < 9223372036854775807
ORDER BY due_at
LIMIT ?;
