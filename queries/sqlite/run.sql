-- name: RunGet :one
SELECT
    run_id, workflow_id, namespace, run_number, workflow_type, task_queue, status, closed_reason,
    priority, fairness_key, fairness_weight, compatibility, business_key, execution_timeout,
    run_timeout, execution_deadline_at, run_deadline_at, deadline_at, last_history_sequence,
    history_size_bytes, last_step_sequence, last_command_sequence, message_position,
    open_activities, open_timers, open_waits, pending_signals, workflow_task_id, pending_wake,
    min_protocol, continued_from_run_id, closed_event_sequence, started_at, closed_at,
    last_progress_at
FROM workflow_runs
WHERE run_id = sqlc.arg(run_id);

-- name: RunLock :one
SELECT
    run_id, workflow_id, namespace, run_number, workflow_type, task_queue, status, closed_reason,
    priority, fairness_key, fairness_weight, compatibility, business_key, execution_timeout,
    run_timeout, execution_deadline_at, run_deadline_at, deadline_at, last_history_sequence,
    history_size_bytes, last_step_sequence, last_command_sequence, message_position,
    open_activities, open_timers, open_waits, pending_signals, workflow_task_id, pending_wake,
    min_protocol, continued_from_run_id, closed_event_sequence, started_at, closed_at,
    last_progress_at
FROM workflow_runs
WHERE run_id = sqlc.arg(run_id);

-- name: RunLockOfTask :one
SELECT
    run_id, workflow_id, namespace, run_number, workflow_type, task_queue, status, closed_reason,
    priority, fairness_key, fairness_weight, compatibility, business_key, execution_timeout,
    run_timeout, execution_deadline_at, run_deadline_at, deadline_at, last_history_sequence,
    history_size_bytes, last_step_sequence, last_command_sequence, message_position,
    open_activities, open_timers, open_waits, pending_signals, workflow_task_id, pending_wake,
    min_protocol, continued_from_run_id, closed_event_sequence, started_at, closed_at,
    last_progress_at
FROM workflow_runs
WHERE run_id = (SELECT tasks.run_id FROM tasks WHERE tasks.task_id = sqlc.arg(task_id));

-- name: RunLockCurrent :one
SELECT
    run_id, workflow_id, namespace, run_number, workflow_type, task_queue, status, closed_reason,
    priority, fairness_key, fairness_weight, compatibility, business_key, execution_timeout,
    run_timeout, execution_deadline_at, run_deadline_at, deadline_at, last_history_sequence,
    history_size_bytes, last_step_sequence, last_command_sequence, message_position,
    open_activities, open_timers, open_waits, pending_signals, workflow_task_id, pending_wake,
    min_protocol, continued_from_run_id, closed_event_sequence, started_at, closed_at,
    last_progress_at
FROM workflow_runs
WHERE run_id = (
    SELECT workflow_instances.current_run_id FROM workflow_instances
    WHERE workflow_instances.workflow_id = sqlc.arg(workflow_id)
);

-- name: RunInsert :exec
INSERT INTO workflow_runs (
    run_id, workflow_id, namespace, run_number, workflow_type, task_queue, status, closed_reason,
    priority, fairness_key, fairness_weight, compatibility, business_key, execution_timeout,
    run_timeout, execution_deadline_at, run_deadline_at, deadline_at, last_history_sequence,
    history_size_bytes, last_step_sequence, last_command_sequence, message_position,
    open_activities, open_timers, open_waits, pending_signals, workflow_task_id, pending_wake,
    min_protocol, continued_from_run_id, closed_event_sequence, started_at, closed_at,
    last_progress_at
) VALUES (
    ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
    ?, ?, ?
);

-- name: RunUpdate :execrows
-- The columns a transition may change; the rest is fixed when the run starts.
-- run_base guards the update: the sequence the transition started from.
UPDATE workflow_runs SET
    status = sqlc.arg(status), closed_reason = sqlc.arg(closed_reason), compatibility =
    sqlc.arg(compatibility), execution_deadline_at = sqlc.arg(execution_deadline_at),
    run_deadline_at = sqlc.arg(run_deadline_at), deadline_at = sqlc.arg(deadline_at),
    last_history_sequence = sqlc.arg(last_history_sequence), history_size_bytes =
    sqlc.arg(history_size_bytes), last_step_sequence = sqlc.arg(last_step_sequence),
    last_command_sequence = sqlc.arg(last_command_sequence), message_position =
    sqlc.arg(message_position), open_activities = sqlc.arg(open_activities), open_timers =
    sqlc.arg(open_timers), open_waits = sqlc.arg(open_waits), pending_signals =
    sqlc.arg(pending_signals), workflow_task_id = sqlc.arg(workflow_task_id), pending_wake =
    sqlc.arg(pending_wake), min_protocol = sqlc.arg(min_protocol), closed_event_sequence =
    sqlc.arg(closed_event_sequence), closed_at = sqlc.arg(closed_at), last_progress_at =
    sqlc.arg(last_progress_at)
WHERE run_id = sqlc.arg(run_id) AND workflow_runs.last_history_sequence = sqlc.arg(run_base);

-- name: RunList :many
SELECT
    run_id, workflow_id, namespace, run_number, workflow_type, task_queue, status, closed_reason,
    priority, fairness_key, fairness_weight, compatibility, business_key, execution_timeout,
    run_timeout, execution_deadline_at, run_deadline_at, deadline_at, last_history_sequence,
    history_size_bytes, last_step_sequence, last_command_sequence, message_position,
    open_activities, open_timers, open_waits, pending_signals, workflow_task_id, pending_wake,
    min_protocol, continued_from_run_id, closed_event_sequence, started_at, closed_at,
    last_progress_at
FROM workflow_runs
WHERE workflow_id = sqlc.arg(workflow_id)
ORDER BY run_number;

-- name: RunListDue :many
SELECT
    run_id, workflow_id, namespace, run_number, workflow_type, task_queue, status, closed_reason,
    priority, fairness_key, fairness_weight, compatibility, business_key, execution_timeout,
    run_timeout, execution_deadline_at, run_deadline_at, deadline_at, last_history_sequence,
    history_size_bytes, last_step_sequence, last_command_sequence, message_position,
    open_activities, open_timers, open_waits, pending_signals, workflow_task_id, pending_wake,
    min_protocol, continued_from_run_id, closed_event_sequence, started_at, closed_at,
    last_progress_at
FROM workflow_runs
WHERE deadline_at <= sqlc.arg(now) AND deadline_at < 9223372036854775807
ORDER BY deadline_at
LIMIT sqlc.arg(max_rows);

-- name: RunInputGet :one
SELECT
    run_id, arguments, memo, search_attributes, definition_print
FROM workflow_run_inputs
WHERE run_id = sqlc.arg(run_id);

-- name: RunLabelsList :many
-- What lists show of a run's documents; the arguments may be large and are left out.
SELECT run_id, memo, search_attributes
FROM workflow_run_inputs
WHERE run_id IN (SELECT value FROM json_each(CAST(sqlc.arg(run_ids) AS TEXT)));

-- name: RunInputInsert :exec
INSERT INTO workflow_run_inputs (
    run_id, arguments, memo, search_attributes, definition_print
) VALUES (
    ?, ?, ?, ?, ?
);

-- name: RunListPage :many
-- The runs before (started_at, run_id) in list order. statuses is a list with a comma before and
-- after each, or empty for all.
SELECT
    run_id, workflow_id, namespace, run_number, workflow_type, task_queue, status, closed_reason,
    priority, fairness_key, fairness_weight, compatibility, business_key, execution_timeout,
    run_timeout, execution_deadline_at, run_deadline_at, deadline_at, last_history_sequence,
    history_size_bytes, last_step_sequence, last_command_sequence, message_position,
    open_activities, open_timers, open_waits, pending_signals, workflow_task_id, pending_wake,
    min_protocol, continued_from_run_id, closed_event_sequence, started_at, closed_at,
    last_progress_at
FROM workflow_runs
WHERE namespace = sqlc.arg(namespace)
  AND (started_at, run_id) < (CAST(sqlc.arg(started_at) AS INTEGER), CAST(sqlc.arg(run_id) AS TEXT))
  AND (CAST(sqlc.arg(workflow_type) AS TEXT) = '' OR workflow_runs.workflow_type = sqlc.arg(workflow_type))
  AND (CAST(sqlc.arg(statuses) AS TEXT) = '' OR instr(sqlc.arg(statuses), ',' || workflow_runs.status || ',') > 0)
ORDER BY started_at DESC, run_id DESC
LIMIT sqlc.arg(max_rows);
