-- name: NamespaceGet :one
SELECT
    name, description, retention_mode, retention_days, status, created_at, updated_at
FROM namespaces
WHERE name = sqlc.arg(name);

-- name: NamespaceList :many
-- Ordered in Go: rows with documents are never sorted by the server.
SELECT
    name, description, retention_mode, retention_days, status, created_at, updated_at
FROM namespaces;

-- name: NamespaceUpsert :exec
INSERT INTO namespaces (
    name, description, retention_mode, retention_days, status, created_at, updated_at
) VALUES (
    ?, ?, ?, ?, ?, ?, ?
)
ON DUPLICATE KEY UPDATE
    description = VALUES(description), retention_mode = VALUES(retention_mode), retention_days =
    VALUES(retention_days), status = VALUES(status), created_at = VALUES(created_at), updated_at =
    VALUES(updated_at);
