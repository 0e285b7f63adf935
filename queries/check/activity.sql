-- name: activity_without_run
-- Every activity belongs to a run of its namespace.
SELECT a.execution_id, a.run_id, a.namespace
FROM activities a
LEFT JOIN workflow_runs r ON r.run_id = a.run_id AND r.namespace = a.namespace
WHERE r.run_id IS NULL
ORDER BY a.execution_id;

-- name: activity_status
-- An activity's status agrees with its close and with the event that recorded it.
SELECT a.execution_id, a.status, a.closed_at, a.closed_event_sequence, COALESCE(e.event_type, '') AS event_type
FROM activities a
LEFT JOIN history_events e ON e.run_id = a.run_id AND e.sequence = a.closed_event_sequence
WHERE a.status NOT IN ('pending', 'running', 'completed', 'failed', 'cancelled')
   OR (a.status IN ('pending', 'running') AND (a.closed_at <> 0 OR a.closed_event_sequence <> 0))
   OR (a.status = 'completed' AND (a.closed_at = 0 OR COALESCE(e.event_type, '') <> 'ActivityCompleted'))
   OR (a.status = 'failed' AND (a.closed_at = 0 OR COALESCE(e.event_type, '') NOT IN ('ActivityFailed', 'ActivityTimedOut')))
   OR (a.status = 'cancelled' AND (a.closed_at = 0 OR COALESCE(e.event_type, '') <> 'ActivityCancelled'))
ORDER BY a.execution_id;

-- name: activity_scheduled
-- Every activity was scheduled by an event of its run.
SELECT a.execution_id, a.run_id, a.scheduled_event, COALESCE(e.event_type, '') AS event_type
FROM activities a
LEFT JOIN history_events e ON e.run_id = a.run_id AND e.sequence = a.scheduled_event
WHERE COALESCE(e.event_type, '') <> 'ActivityScheduled'
ORDER BY a.execution_id;

-- name: activity_sequence
-- An authored sequence of a run is one activity at most.
SELECT run_id, sequence, COUNT(*) AS activities
FROM activities
GROUP BY run_id, sequence
HAVING COUNT(*) > 1
ORDER BY run_id, sequence;

-- name: activity_task
-- Every activity names its current or last task: its own, or for a local one the workflow task that reported it.
-- The task of an open activity is open.
SELECT a.execution_id, a.status, a.task_id, COALESCE(t.status, '') AS task_status
FROM activities a
LEFT JOIN tasks t ON t.task_id = a.task_id AND t.run_id = a.run_id
    AND ((a.is_local = 0 AND t.activity_execution_id = a.execution_id) OR (a.is_local = 1 AND t.kind = 'workflow'))
WHERE t.task_id IS NULL
   OR (a.status = 'pending' AND t.status <> 'ready') OR (a.status = 'running' AND t.status <> 'leased')
   OR (a.status NOT IN ('pending', 'running') AND a.is_local = 0 AND t.status IN ('ready', 'leased'))
ORDER BY a.execution_id;

-- name: activity_attempts
-- Attempts are numbered from 1 without a gap up to attempt_count, and the activity names the last.
SELECT a.execution_id, a.attempt_count, a.attempt_id, COALESCE(c.attempts, 0) AS attempts,
    COALESCE(c.newest, 0) AS newest
FROM activities a
LEFT JOIN (
    SELECT execution_id, COUNT(*) AS attempts, MIN(attempt_number) AS oldest, MAX(attempt_number) AS newest,
        COUNT(DISTINCT attempt_number) AS numbers
    FROM activity_attempts GROUP BY execution_id
) c ON c.execution_id = a.execution_id
LEFT JOIN activity_attempts l ON l.attempt_id = a.attempt_id AND l.execution_id = a.execution_id
WHERE COALESCE(c.attempts, 0) <> a.attempt_count OR COALESCE(c.newest, 0) <> a.attempt_count
   OR c.oldest <> 1 OR c.numbers <> c.attempts
   OR (a.attempt_count = 0) <> (a.attempt_id = '')
   OR (a.attempt_count > 0 AND (l.attempt_id IS NULL OR l.attempt_number <> a.attempt_count))
ORDER BY a.execution_id;

-- name: activity_last_attempt
-- How an activity stands is how its last attempt stands.
SELECT a.execution_id, a.status, l.attempt_id, l.status AS attempt_status
FROM activities a
JOIN activity_attempts l ON l.attempt_id = a.attempt_id
WHERE (a.status = 'running') <> (l.status = 'running')
   OR (a.status = 'completed') <> (l.status = 'completed')
   OR (a.status IN ('pending', 'failed') AND l.status NOT IN ('failed', 'expired'))
ORDER BY a.execution_id;

-- name: activity_earlier_attempts
-- Only the last attempt of an activity runs, or ended it.
SELECT t.attempt_id, t.execution_id, t.attempt_number, t.status
FROM activity_attempts t
JOIN activities a ON a.execution_id = t.execution_id
WHERE t.attempt_id <> a.attempt_id AND t.status NOT IN ('failed', 'expired')
ORDER BY t.attempt_id;

-- name: activity_due
-- An open activity is due at the earliest deadline that applies to its status, a closed one never.
SELECT execution_id, status, next_deadline_at, schedule_deadline_at, schedule_to_close_at, close_deadline_at,
    heartbeat_deadline_at
FROM (
    SELECT execution_id, status, next_deadline_at, schedule_deadline_at, schedule_to_close_at, close_deadline_at,
        heartbeat_deadline_at,
        CASE
            WHEN status = 'pending' THEN schedule_deadline_at
            WHEN status <> 'running' THEN 9223372036854775807
            WHEN close_deadline_at < heartbeat_deadline_at THEN close_deadline_at
            ELSE heartbeat_deadline_at
        END AS own_at,
        CASE WHEN status IN ('pending', 'running') THEN schedule_to_close_at ELSE 9223372036854775807 END AS last_at
    FROM activities
) d
WHERE next_deadline_at <> CASE WHEN own_at < last_at THEN own_at ELSE last_at END
   OR (status <> 'running' AND (close_deadline_at <> 9223372036854775807 OR heartbeat_deadline_at <> 9223372036854775807))
ORDER BY execution_id;

-- name: attempt_of_nothing
-- Every attempt belongs to an activity and was made for a task, both of its run.
SELECT t.attempt_id, t.execution_id, t.task_id, t.run_id
FROM activity_attempts t
LEFT JOIN activities a ON a.execution_id = t.execution_id AND a.run_id = t.run_id
LEFT JOIN tasks k ON k.task_id = t.task_id AND k.run_id = t.run_id
WHERE a.execution_id IS NULL OR k.task_id IS NULL
ORDER BY t.attempt_id;

-- name: attempt_status
-- An attempt's status agrees with its times, its report and its task.
SELECT t.attempt_id, t.status, t.closed_at, t.outcome, COALESCE(k.status, '') AS task_status
FROM activity_attempts t
LEFT JOIN tasks k ON k.task_id = t.task_id
LEFT JOIN tasks n ON n.task_id = t.next_task_id
WHERE t.status NOT IN ('running', 'completed', 'failed', 'cancelled', 'expired') OR t.started_at = 0
   OR (t.status = 'running') <> (t.closed_at = 0)
   OR (t.status = 'running' AND k.status <> 'leased')
   OR (t.outcome = '') <> (LENGTH(t.receipt) = 0) OR (t.outcome <> '' AND t.status NOT IN ('completed', 'failed'))
   OR (t.next_task_id <> '' AND n.task_id IS NULL)
ORDER BY t.attempt_id;

-- name: attempt_starts
-- Every attempt that was delivered has its ActivityStarted, and there are no others.
SELECT r.run_id, COALESCE(e.started, 0) AS started, COALESCE(t.attempts, 0) AS attempts
FROM workflow_runs r
LEFT JOIN (
    SELECT run_id, COUNT(*) AS started FROM history_events WHERE event_type = 'ActivityStarted' GROUP BY run_id
) e ON e.run_id = r.run_id
LEFT JOIN (
    SELECT run_id, COUNT(*) AS attempts FROM activity_attempts WHERE lease_owner <> '' GROUP BY run_id
) t ON t.run_id = r.run_id
WHERE COALESCE(e.started, 0) <> COALESCE(t.attempts, 0)
ORDER BY r.run_id;
