-- name: NamespaceGet :one
SELECT
    name, description, retention_mode, retention_days, status, created_at, updated_at
FROM namespaces
WHERE name = sqlc.arg(name);

-- name: NamespaceList :many
SELECT
    name, description, retention_mode, retention_days, status, created_at, updated_at
FROM namespaces
ORDER BY name;

-- name: NamespaceUpsert :exec
INSERT INTO namespaces (
    name, description, retention_mode, retention_days, status, created_at, updated_at
) VALUES (
    $1, $2, $3, $4, $5, $6, $7
)
ON CONFLICT (name) DO UPDATE SET
    description = excluded.description, retention_mode = excluded.retention_mode, retention_days =
    excluded.retention_days, status = excluded.status, created_at = excluded.created_at, updated_at
    = excluded.updated_at;
