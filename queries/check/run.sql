-- name: run_status
-- A run's status, reason, close time and closing event agree: all of a closed run are set, none of an open one.
SELECT run_id, status, closed_reason, closed_at, closed_event_sequence, last_history_sequence
FROM workflow_runs
WHERE status NOT IN ('pending', 'running', 'waiting', 'completed', 'failed', 'cancelled', 'terminated')
   OR (status IN ('pending', 'running', 'waiting')
       AND (closed_reason <> '' OR closed_at <> 0 OR closed_event_sequence <> 0))
   OR (status IN ('completed', 'failed', 'cancelled', 'terminated')
       AND (closed_at = 0 OR closed_event_sequence <> last_history_sequence))
   OR (status = 'completed' AND closed_reason NOT IN ('completed', 'continued'))
   OR (status = 'failed' AND closed_reason NOT IN ('failed', 'timed_out'))
   OR (status IN ('cancelled', 'terminated') AND closed_reason <> status)
ORDER BY run_id;

-- name: run_deadline
-- An open run is due at the earlier of its two deadlines, a closed one never.
SELECT run_id, status, deadline_at, execution_deadline_at, run_deadline_at
FROM workflow_runs
WHERE deadline_at <> CASE
    WHEN status NOT IN ('pending', 'running', 'waiting') THEN 9223372036854775807
    WHEN execution_deadline_at < run_deadline_at THEN execution_deadline_at
    ELSE run_deadline_at
END
ORDER BY run_id;

-- name: run_input
-- Every run has its input, and every input its run.
SELECT r.run_id, 'run without input' AS what
FROM workflow_runs r LEFT JOIN workflow_run_inputs i ON i.run_id = r.run_id
WHERE i.run_id IS NULL
UNION ALL
SELECT i.run_id, 'input without run' AS what
FROM workflow_run_inputs i LEFT JOIN workflow_runs r ON r.run_id = i.run_id
WHERE r.run_id IS NULL;

-- name: run_without_history
-- Every run has a history. (What is in it is looked at event by event.)
SELECT r.run_id, r.last_history_sequence
FROM workflow_runs r
LEFT JOIN history_events e ON e.run_id = r.run_id AND e.sequence = 1
WHERE e.run_id IS NULL
ORDER BY r.run_id;

-- name: run_open_activities
-- A run counts its open activities; a closed one has none.
SELECT r.run_id, r.status, r.open_activities, COALESCE(o.counted, 0) AS counted
FROM workflow_runs r
LEFT JOIN (
    SELECT run_id, COUNT(*) AS counted FROM activities WHERE status IN ('pending', 'running') GROUP BY run_id
) o ON o.run_id = r.run_id
WHERE r.open_activities <> COALESCE(o.counted, 0)
   OR (r.open_activities <> 0 AND r.status NOT IN ('pending', 'running', 'waiting'))
ORDER BY r.run_id;

-- name: run_open_timers
-- A run counts its pending timers; a closed one has none.
SELECT r.run_id, r.status, r.open_timers, COALESCE(o.counted, 0) AS counted
FROM workflow_runs r
LEFT JOIN (
    SELECT run_id, COUNT(*) AS counted FROM timers WHERE status = 'pending' GROUP BY run_id
) o ON o.run_id = r.run_id
WHERE r.open_timers <> COALESCE(o.counted, 0)
   OR (r.open_timers <> 0 AND r.status NOT IN ('pending', 'running', 'waiting'))
ORDER BY r.run_id;

-- name: run_open_waits
-- A run counts its open waits; a closed one has none.
SELECT r.run_id, r.status, r.open_waits, COALESCE(o.counted, 0) AS counted
FROM workflow_runs r
LEFT JOIN (
    SELECT run_id, COUNT(*) AS counted FROM waits WHERE status = 'open' GROUP BY run_id
) o ON o.run_id = r.run_id
WHERE r.open_waits <> COALESCE(o.counted, 0)
   OR (r.open_waits <> 0 AND r.status NOT IN ('pending', 'running', 'waiting'))
ORDER BY r.run_id;

-- name: run_pending_signals
-- A run counts the signals that it received and has not applied; a closed one has none.
SELECT r.run_id, r.status, r.pending_signals, COALESCE(o.counted, 0) AS counted
FROM workflow_runs r
LEFT JOIN (
    SELECT run_id, COUNT(*) AS counted FROM signals WHERE status = 'received' GROUP BY run_id
) o ON o.run_id = r.run_id
WHERE r.pending_signals <> COALESCE(o.counted, 0)
   OR (r.pending_signals <> 0 AND r.status NOT IN ('pending', 'running', 'waiting'))
ORDER BY r.run_id;

-- name: run_workflow_task
-- A run has at most one open workflow task, and it is the one that the run names; a closed run has none.
SELECT r.run_id, r.status, r.workflow_task_id, COALESCE(o.open_tasks, 0) AS open_tasks, COALESCE(o.task_id, '') AS task_id
FROM workflow_runs r
LEFT JOIN (
    SELECT run_id, COUNT(*) AS open_tasks, MIN(task_id) AS task_id
    FROM tasks WHERE kind = 'workflow' AND status IN ('ready', 'leased') GROUP BY run_id
) o ON o.run_id = r.run_id
WHERE r.workflow_task_id <> COALESCE(o.task_id, '') OR COALESCE(o.open_tasks, 0) > 1
   OR (r.workflow_task_id <> '' AND r.status NOT IN ('pending', 'running', 'waiting'))
ORDER BY r.run_id;

-- name: run_pending_wake
-- A wake is noted only while a leased workflow task keeps it from being acted on.
SELECT r.run_id, r.status, r.workflow_task_id
FROM workflow_runs r
LEFT JOIN tasks t ON t.task_id = r.workflow_task_id AND t.status = 'leased'
WHERE LENGTH(r.pending_wake) > 0 AND t.task_id IS NULL
ORDER BY r.run_id;

-- name: run_missed_outcome
-- Where no workflow task is open, one has been told of every activity's outcome. (Members of a group may wait for others.)
SELECT r.run_id, a.execution_id, a.closed_event_sequence, COALESCE(t.told, 0) AS told
FROM workflow_runs r
JOIN activities a ON a.run_id = r.run_id
LEFT JOIN (
    SELECT run_id, MAX(claimed_sequence) AS told FROM tasks WHERE kind = 'workflow' GROUP BY run_id
) t ON t.run_id = r.run_id
WHERE r.status IN ('pending', 'running', 'waiting') AND r.workflow_task_id = ''
  AND a.status IN ('completed', 'failed') AND a.is_local = 0 AND LENGTH(a.parallel) = 0
  AND a.closed_event_sequence > COALESCE(t.told, 0)
ORDER BY r.run_id;

-- name: run_missed_signal
-- Where no workflow task is open, no open wait has a signal that it was not told of.
SELECT r.run_id, s.signal_id, w.wait_id, COALESCE(t.told, 0) AS told
FROM workflow_runs r
JOIN signals s ON s.run_id = r.run_id AND s.status = 'received'
JOIN waits w ON w.run_id = r.run_id AND w.status = 'open'
    AND (w.kind = 'condition' OR (w.wait_id = s.wait_id AND w.name = s.name))
LEFT JOIN (
    SELECT run_id, MAX(claimed_sequence) AS told FROM tasks WHERE kind = 'workflow' GROUP BY run_id
) t ON t.run_id = r.run_id
WHERE r.status IN ('pending', 'running', 'waiting') AND r.workflow_task_id = ''
  AND (s.received_sequence > COALESCE(t.told, 0) OR w.opened_sequence > COALESCE(t.told, 0))
ORDER BY r.run_id;
