-- name: ReceiptGet :one
SELECT
    namespace, worker_id, kind, poll_request_id, binding, task_id, attempt, prune_at
FROM poll_receipts
WHERE namespace = sqlc.arg(namespace) AND worker_id = sqlc.arg(worker_id)
  AND kind = sqlc.arg(kind) AND poll_request_id = sqlc.arg(poll_request_id);

-- name: ReceiptListOf :many
-- What two poll request ids of a worker are bound to, of either kind.
SELECT
    namespace, worker_id, kind, poll_request_id, binding, task_id, attempt, prune_at
FROM poll_receipts
WHERE namespace = sqlc.arg(namespace) AND worker_id = sqlc.arg(worker_id)
  AND kind IN ('activity', 'workflow') AND poll_request_id IN (sqlc.arg(first), sqlc.arg(second));

-- name: ReceiptInsert :exec
INSERT INTO poll_receipts (
    namespace, worker_id, kind, poll_request_id, binding, task_id, attempt, prune_at
) VALUES (
    ?, ?, ?, ?, ?, ?, ?, ?
);

-- name: ReceiptDrop :exec
-- A receipt as it was read, so that another may take its place.
DELETE FROM poll_receipts
WHERE namespace = sqlc.arg(namespace) AND worker_id = sqlc.arg(worker_id)
  AND kind = sqlc.arg(kind) AND poll_request_id = sqlc.arg(poll_request_id)
  AND task_id = sqlc.arg(task_id) AND attempt = sqlc.arg(attempt);

-- name: ReceiptPrune :execrows
-- Receipts whose time is over and whose lease is not live.
DELETE FROM poll_receipts
WHERE (namespace, worker_id, kind, poll_request_id) IN (
    SELECT r.namespace, r.worker_id, r.kind, r.poll_request_id
    FROM poll_receipts r
    WHERE r.prune_at <= sqlc.arg(now) AND NOT EXISTS (
        SELECT 1 FROM tasks t
        WHERE t.task_id = r.task_id AND t.status = 'leased' AND t.attempt_count = r.attempt
          AND t.lease_owner = r.worker_id AND t.lease_expires_at > sqlc.arg(now)
    )
    ORDER BY r.prune_at
    LIMIT sqlc.arg(max_rows)
);
