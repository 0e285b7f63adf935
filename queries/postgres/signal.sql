-- name: SignalInsert :exec
INSERT INTO signals (
    signal_id, run_id, workflow_id, command_id, command_sequence, name, arguments, wait_id, status,
    received_sequence, workflow_sequence, created_at, closed_at
) VALUES (
    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13
);

-- name: SignalUpdate :exec
-- run_id and the sequences change when a continued run takes the signal along.
WITH changed AS (
    UPDATE signals SET
        run_id = sqlc.arg(run_id), command_sequence = sqlc.arg(command_sequence), wait_id =
        sqlc.arg(wait_id), status = sqlc.arg(status), received_sequence =
        sqlc.arg(received_sequence), workflow_sequence = sqlc.arg(workflow_sequence), closed_at =
        sqlc.arg(closed_at)
    WHERE signal_id = sqlc.arg(signal_id)
    RETURNING 1
)
SELECT 1 / COUNT(*) FROM changed;

-- name: SignalListReceived :many
SELECT
    signal_id, run_id, workflow_id, command_id, command_sequence, name, arguments, wait_id, status,
    received_sequence, workflow_sequence, created_at, closed_at
FROM signals
WHERE run_id = sqlc.arg(run_id) AND status = 'received'
ORDER BY command_sequence;
