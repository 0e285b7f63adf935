-- name: poll_receipt
-- A poll receipt points to a task of its kind that was claimed as often as the receipt says, or more often.
SELECT p.namespace, p.worker_id, p.kind, p.poll_request_id, p.task_id, p.attempt,
    COALESCE(t.attempt_count, 0) AS attempt_count
FROM poll_receipts p
LEFT JOIN tasks t ON t.task_id = p.task_id AND t.kind = p.kind AND t.namespace = p.namespace
WHERE t.task_id IS NULL OR t.attempt_count < p.attempt OR p.attempt < 1
ORDER BY p.task_id;

-- name: poll_receipts_of_a_lease
-- One lease answers one poll.
SELECT p.task_id, p.attempt, COUNT(*) AS receipts
FROM poll_receipts p
GROUP BY p.task_id, p.attempt
HAVING COUNT(*) > 1
ORDER BY p.task_id;

-- name: worker_registration
-- A registered worker holds its newest token, and that token alone is active.
SELECT w.namespace, w.worker_id, w.generation, COALESCE(a.tokens, 0) AS active_tokens
FROM workers w
LEFT JOIN worker_registrations r ON r.token = w.registration_token AND r.namespace = w.namespace
    AND r.worker_id = w.worker_id AND r.state = 'active'
LEFT JOIN (
    SELECT namespace, worker_id, COUNT(*) AS tokens FROM worker_registrations WHERE state = 'active'
    GROUP BY namespace, worker_id
) a ON a.namespace = w.namespace AND a.worker_id = w.worker_id
WHERE r.token IS NULL OR a.tokens <> 1
ORDER BY w.namespace, w.worker_id;

-- name: registration_of_nobody
-- An active token belongs to a registered worker; an ended one has its time.
SELECT r.token, r.namespace, r.worker_id, r.state, r.ended_at
FROM worker_registrations r
LEFT JOIN workers w ON w.namespace = r.namespace AND w.worker_id = r.worker_id
WHERE r.state NOT IN ('active', 'superseded', 'finished') OR (r.state = 'active') <> (r.ended_at = 0)
   OR (r.state = 'active' AND w.worker_id IS NULL)
ORDER BY r.token;
