-- name: TaskFindHead :one
-- The first claimable task of one type and build, without a lock.
SELECT type_name, compatibility, priority, order_at, task_id
FROM tasks FORCE INDEX (tasks_ready)
WHERE namespace = sqlc.arg(namespace) AND task_queue = sqlc.arg(task_queue) AND kind = sqlc.arg(kind)
  AND type_name = sqlc.arg(type_name) AND status = 'ready' AND compatibility_key = LEFT(sqlc.arg(compatibility), 256)
  AND compatibility = sqlc.arg(compatibility) AND available_at <= sqlc.arg(now) AND min_protocol <= sqlc.arg(protocol_minor)
ORDER BY priority, order_at, task_id
LIMIT 1;

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
