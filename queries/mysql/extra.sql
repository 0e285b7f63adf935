-- name: TaskFindHead :many
-- The first claimable tasks of one type and build, without a lock.
SELECT kind, type_name, compatibility, priority, order_at, task_id, run_id, activity_execution_id
FROM tasks FORCE INDEX (tasks_ready)
WHERE namespace = sqlc.arg(namespace) AND task_queue = sqlc.arg(task_queue) AND kind = sqlc.arg(kind)
  AND type_name = sqlc.arg(type_name) AND status = 'ready' AND compatibility_key = LEFT(sqlc.arg(compatibility), 256)
  AND compatibility = sqlc.arg(compatibility) AND available_at <= sqlc.arg(now) AND min_protocol <= sqlc.arg(protocol_minor)
ORDER BY priority, order_at, task_id
LIMIT ?;

-- name: RunLockFree :one
-- Locks a run unless another holds it.
SELECT
    run_id, workflow_id, namespace, run_number, workflow_type, task_queue, status, closed_reason,
    priority, fairness_key, fairness_weight, compatibility, business_key, execution_timeout,
    run_timeout, execution_deadline_at, run_deadline_at, deadline_at, last_history_sequence,
    history_size_bytes, last_step_sequence, last_command_sequence, message_position,
    open_activities, open_timers, open_waits, pending_signals, workflow_task_id, pending_wake,
    min_protocol, continued_from_run_id, closed_event_sequence, started_at, closed_at,
    last_progress_at
FROM workflow_runs
WHERE run_id = sqlc.arg(run_id)
FOR UPDATE SKIP LOCKED;

-- name: TaskListFresh :many
-- Queues with tasks that became claimable in a span of time, whichever process made them.
SELECT DISTINCT namespace, task_queue, kind, type_name
FROM tasks
WHERE status = 'ready' AND available_at > sqlc.arg(after) AND available_at <= sqlc.arg(now);

-- name: TaskLockHead :one
-- Locks a task that was found to be claimable, unless another holds it.
SELECT
    task_id, run_id, workflow_id, namespace, kind, task_queue, type_name, status, priority,
    order_at, available_at, ready_at, fairness_key, compatibility, min_protocol, attempt_count,
    lease_owner, lease_generation, leased_at, lease_expires_at, claimed_sequence,
    activity_execution_id, activity_attempt_id, payload, receipt, last_error, created_at, closed_at
FROM tasks
WHERE task_id = sqlc.arg(task_id) AND status = 'ready'
FOR UPDATE SKIP LOCKED;

-- name: TaskListLeases :many
-- What a worker holds leased, for counting.
SELECT task_id, kind, lease_expires_at
FROM tasks FORCE INDEX (tasks_by_owner)
WHERE namespace = sqlc.arg(namespace) AND lease_owner = sqlc.arg(lease_owner) AND status = 'leased';

-- name: ReceiptList :many
-- The receipts of some poll requests of a worker, of either kind.
SELECT
    namespace, worker_id, kind, poll_request_id, binding, task_id, attempt, prune_at
FROM poll_receipts
WHERE namespace = sqlc.arg(namespace) AND worker_id = sqlc.arg(worker_id)
  AND kind IN ('activity', 'workflow') AND poll_request_id IN (sqlc.arg(first_id), sqlc.arg(second_id));

-- name: WorkerGetOfPoll :one
-- A registration with the receipt of one of its polls; without one the receipt is NULL.
SELECT sqlc.embed(workers), r.binding, r.task_id, r.attempt, r.prune_at
FROM workers
LEFT JOIN poll_receipts r ON r.namespace = workers.namespace AND r.worker_id = workers.worker_id
  AND r.kind = sqlc.arg(kind) AND r.poll_request_id = sqlc.arg(poll_request_id)
WHERE workers.namespace = sqlc.arg(namespace) AND workers.worker_id = sqlc.arg(worker_id);

-- name: ActivityGetWhole :one
-- An activity with an attempt, where both are there.
SELECT sqlc.embed(activities), sqlc.embed(activity_attempts)
FROM activities
JOIN activity_attempts ON activity_attempts.attempt_id = sqlc.arg(attempt_id)
WHERE activities.execution_id = sqlc.arg(execution_id);
