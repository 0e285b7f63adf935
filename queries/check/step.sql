-- name: timer_without_run
-- Every timer belongs to a run.
SELECT t.timer_id, t.run_id
FROM timers t
LEFT JOIN workflow_runs r ON r.run_id = t.run_id
WHERE r.run_id IS NULL
ORDER BY t.timer_id;

-- name: timer_due
-- A pending timer is due when it fires; only a wait's timeout may be held back while the wait's signal is here. An
-- ended timer is never due.
SELECT timer_id, status, kind, due_at, fire_at, closed_at
FROM timers
WHERE status NOT IN ('pending', 'fired', 'cancelled')
   OR (status = 'pending' AND closed_at <> 0)
   OR (status = 'pending' AND due_at <> fire_at AND (wait_id = '' OR due_at <> 9223372036854775807))
   OR (status <> 'pending' AND (closed_at = 0 OR due_at <> 9223372036854775807))
   OR (status = 'fired' AND closed_at < fire_at)
   OR (kind = '') <> (wait_id = '')
ORDER BY timer_id;

-- name: timer_sequence
-- An authored sequence of a run is one timer at most.
SELECT run_id, sequence, COUNT(*) AS timers
FROM timers
GROUP BY run_id, sequence
HAVING COUNT(*) > 1
ORDER BY run_id, sequence;

-- name: timer_wait
-- The timeout of a wait names its wait, which names it, and one is open exactly when the other is.
SELECT t.timer_id, t.status, t.wait_id, COALESCE(w.status, '') AS wait_status, COALESCE(w.timer_id, '') AS wait_timer_id
FROM timers t
LEFT JOIN waits w ON w.wait_id = t.wait_id AND w.run_id = t.run_id AND w.sequence = t.sequence
WHERE t.wait_id <> ''
  AND (w.wait_id IS NULL OR w.timer_id <> t.timer_id OR (t.status = 'pending') <> (w.status = 'open')
       OR (t.status = 'fired') <> (w.status = 'timed_out'))
ORDER BY t.timer_id;

-- name: wait_without_run
-- Every wait belongs to a run.
SELECT w.wait_id, w.run_id
FROM waits w
LEFT JOIN workflow_runs r ON r.run_id = w.run_id
WHERE r.run_id IS NULL
ORDER BY w.wait_id;

-- name: wait_status
-- A wait's status agrees with its close, and its opening is in history.
SELECT w.wait_id, w.kind, w.status, w.closed_at, w.opened_sequence, COALESCE(e.event_type, '') AS event_type
FROM waits w
LEFT JOIN history_events e ON e.run_id = w.run_id AND e.sequence = w.opened_sequence
WHERE w.status NOT IN ('open', 'satisfied', 'timed_out', 'cancelled') OR (w.status = 'open') <> (w.closed_at = 0)
   OR COALESCE(e.event_type, '') <> CASE WHEN w.kind = 'signal' THEN 'SignalWaitOpened' ELSE 'ConditionWaitOpened' END
ORDER BY w.wait_id;

-- name: wait_sequence
-- An authored sequence of a run is one wait at most.
SELECT run_id, sequence, COUNT(*) AS waits
FROM waits
GROUP BY run_id, sequence
HAVING COUNT(*) > 1
ORDER BY run_id, sequence;

-- name: wait_timer
-- The timer that a wait names exists and is the wait's.
SELECT w.wait_id, w.timer_id
FROM waits w
LEFT JOIN timers t ON t.timer_id = w.timer_id AND t.wait_id = w.wait_id AND t.run_id = w.run_id
WHERE w.timer_id <> '' AND t.timer_id IS NULL
ORDER BY w.wait_id;

-- name: step_sequence
-- An authored sequence is one step: an activity, a plain timer or a wait.
SELECT run_id, sequence, COUNT(*) AS steps
FROM (
    SELECT run_id, sequence FROM activities
    UNION ALL
    SELECT run_id, sequence FROM timers WHERE wait_id = ''
    UNION ALL
    SELECT run_id, sequence FROM waits
) s
GROUP BY run_id, sequence
HAVING COUNT(*) > 1
ORDER BY run_id, sequence;
