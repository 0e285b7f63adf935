-- name: WaitInsert :exec
INSERT INTO waits (
    wait_id, run_id, kind, sequence, name, fingerprint, occurrence_id, timeout_seconds, timer_id,
    status, opened_sequence, parallel, created_at, closed_at
) VALUES (
    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14
);

-- name: WaitUpdate :exec
WITH changed AS (
    UPDATE waits SET
        timeout_seconds = sqlc.arg(timeout_seconds), timer_id = sqlc.arg(timer_id), status =
        sqlc.arg(status), opened_sequence = sqlc.arg(opened_sequence), closed_at =
        sqlc.arg(closed_at)
    WHERE wait_id = sqlc.arg(wait_id)
    RETURNING 1
)
SELECT 1 / COUNT(*) FROM changed;

-- name: WaitListOpen :many
SELECT
    wait_id, run_id, kind, sequence, name, fingerprint, occurrence_id, timeout_seconds, timer_id,
    status, opened_sequence, parallel, created_at, closed_at
FROM waits
WHERE run_id = sqlc.arg(run_id) AND status = 'open'
ORDER BY opened_sequence, wait_id;
