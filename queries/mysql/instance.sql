-- name: InstanceGet :one
SELECT
    workflow_id, namespace, workflow_type, current_run_id, run_count, created_at
FROM workflow_instances
WHERE workflow_id = sqlc.arg(workflow_id);

-- name: InstanceLock :one
SELECT
    workflow_id, namespace, workflow_type, current_run_id, run_count, created_at
FROM workflow_instances
WHERE workflow_id = sqlc.arg(workflow_id)
FOR UPDATE;

-- name: InstanceInsert :exec
INSERT INTO workflow_instances (
    workflow_id, namespace, workflow_type, current_run_id, run_count, created_at
) VALUES (
    ?, ?, ?, ?, ?, ?
);

-- name: InstanceUpdate :execrows
UPDATE workflow_instances SET
    workflow_type = sqlc.arg(workflow_type), current_run_id = sqlc.arg(current_run_id), run_count = sqlc.arg(run_count)
WHERE workflow_id = sqlc.arg(workflow_id);
