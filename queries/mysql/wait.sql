-- name: WaitInsert :exec
INSERT INTO waits (
    wait_id, run_id, kind, sequence, name, fingerprint, occurrence_id, timeout_seconds, timer_id,
    status, opened_sequence, parallel, created_at, closed_at
) VALUES (
    ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?
);

-- name: WaitUpdate :execrows
UPDATE waits SET
    timeout_seconds = sqlc.arg(timeout_seconds), timer_id = sqlc.arg(timer_id), status =
    sqlc.arg(status), opened_sequence = sqlc.arg(opened_sequence), closed_at = sqlc.arg(closed_at)
WHERE wait_id = sqlc.arg(wait_id);

-- name: WaitListOpen :many
-- Ordered in Go: rows with documents are never sorted by the server.
SELECT
    wait_id, run_id, kind, sequence, name, fingerprint, occurrence_id, timeout_seconds, timer_id,
    status, opened_sequence, parallel, created_at, closed_at
FROM waits
WHERE run_id = sqlc.arg(run_id) AND status = 'open';
