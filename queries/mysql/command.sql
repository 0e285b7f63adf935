-- name: CommandGet :one
SELECT
    command_id, workflow_id, run_id, namespace, sequence, type, target_name, request_id, status,
    outcome, rejection_reason, reason, accepted_at, applied_at
FROM commands
WHERE command_id = sqlc.arg(command_id);

-- name: CommandInsert :exec
INSERT INTO commands (
    command_id, workflow_id, run_id, namespace, sequence, type, target_name, request_id, status,
    outcome, rejection_reason, reason, accepted_at, applied_at
) VALUES (
    ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?
);

-- name: CommandUpdate :execrows
-- A recorded command never changes but for the time at which it was applied.
UPDATE commands SET
    applied_at = sqlc.arg(applied_at)
WHERE command_id = sqlc.arg(command_id);

-- name: CommandList :many
-- Ordered in Go: rows with documents are never sorted by the server.
SELECT
    command_id, workflow_id, run_id, namespace, sequence, type, target_name, request_id, status,
    outcome, rejection_reason, reason, accepted_at, applied_at
FROM commands
WHERE run_id = sqlc.arg(run_id);

-- name: CommandRequestGet :one
SELECT
    workflow_id, command_type, target_name, request_id, command_id, body_digest
FROM command_requests
WHERE workflow_id = sqlc.arg(workflow_id) AND command_type = sqlc.arg(command_type)
  AND target_name = sqlc.arg(target_name) AND request_id = sqlc.arg(request_id);

-- name: CommandRequestInsert :exec
INSERT INTO command_requests (
    workflow_id, command_type, target_name, request_id, command_id, body_digest
) VALUES (
    ?, ?, ?, ?, ?, ?
);
