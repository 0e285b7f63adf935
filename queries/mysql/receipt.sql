-- name: ReceiptGet :one
SELECT
    namespace, worker_id, kind, poll_request_id, binding, task_id, attempt, prune_at
FROM poll_receipts
WHERE namespace = sqlc.arg(namespace) AND worker_id = sqlc.arg(worker_id)
  AND kind = sqlc.arg(kind) AND poll_request_id = sqlc.arg(poll_request_id);

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
WHERE prune_at <= sqlc.arg(now) AND NOT EXISTS (
    SELECT 1 FROM tasks t
    WHERE t.task_id = poll_receipts.task_id AND t.status = 'leased' AND t.attempt_count = poll_receipts.attempt
      AND t.lease_owner = poll_receipts.worker_id AND t.lease_expires_at > sqlc.arg(now)
)
ORDER BY prune_at
LIMIT ?;
