-- name: EventInsert :exec
INSERT INTO history_events (
    run_id, sequence, event_id, event_type, payload, workflow_task_id, workflow_command_id,
    recorded_at
) VALUES (
    ?, ?, ?, ?, ?, ?, ?, ?
);

-- name: EventGet :one
SELECT
    run_id, sequence, event_id, event_type, payload, workflow_task_id, workflow_command_id,
    recorded_at
FROM history_events
WHERE run_id = sqlc.arg(run_id) AND sequence = sqlc.arg(sequence);

-- name: EventList :many
SELECT
    run_id, sequence, event_id, event_type, payload, workflow_task_id, workflow_command_id,
    recorded_at
FROM history_events
WHERE run_id = sqlc.arg(run_id) AND sequence > sqlc.arg(after) AND sequence <= sqlc.arg(up_to)
ORDER BY sequence
LIMIT ?;
