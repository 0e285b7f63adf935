-- name: SignalInsert :exec
INSERT INTO signals (
    signal_id, run_id, workflow_id, command_id, command_sequence, name, arguments, wait_id, status,
    received_sequence, workflow_sequence, created_at, closed_at
) VALUES (
    ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?
);

-- name: SignalUpdate :execrows
-- run_id and the sequences change when a continued run takes the signal along.
UPDATE signals SET
    run_id = sqlc.arg(run_id), command_sequence = sqlc.arg(command_sequence), wait_id =
    sqlc.arg(wait_id), status = sqlc.arg(status), received_sequence = sqlc.arg(received_sequence),
    workflow_sequence = sqlc.arg(workflow_sequence), closed_at = sqlc.arg(closed_at)
WHERE signal_id = sqlc.arg(signal_id);

-- name: SignalListReceived :many
-- Ordered in Go: rows with documents are never sorted by the server.
SELECT
    signal_id, run_id, workflow_id, command_id, command_sequence, name, arguments, wait_id, status,
    received_sequence, workflow_sequence, created_at, closed_at
FROM signals
WHERE run_id = sqlc.arg(run_id) AND status = 'received';
