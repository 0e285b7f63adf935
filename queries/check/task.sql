-- name: task_without_run
-- Every task belongs to a run, with that run's workflow id and namespace.
SELECT t.task_id, t.run_id, t.workflow_id, t.namespace
FROM tasks t
LEFT JOIN workflow_runs r ON r.run_id = t.run_id AND r.workflow_id = t.workflow_id AND r.namespace = t.namespace
WHERE r.run_id IS NULL
ORDER BY t.task_id;

-- name: task_status
-- A task's status agrees with its lease and its times.
SELECT task_id, kind, status, lease_owner, lease_expires_at, leased_at, attempt_count, closed_at
FROM tasks
WHERE kind NOT IN ('workflow', 'activity')
   OR status NOT IN ('ready', 'leased', 'completed', 'failed', 'cancelled')
   OR (status = 'leased'
       AND (lease_owner = '' OR leased_at = 0 OR attempt_count < 1 OR lease_expires_at = 9223372036854775807))
   OR (status <> 'leased' AND lease_expires_at <> 9223372036854775807)
   OR (status = 'ready' AND lease_owner <> '')
   OR (status IN ('ready', 'leased') AND closed_at <> 0)
   OR (status IN ('completed', 'failed', 'cancelled') AND closed_at = 0)
   OR (LENGTH(receipt) > 0 AND status NOT IN ('completed', 'failed'))
   OR (kind = 'workflow') <> (activity_execution_id = '')
ORDER BY task_id;

-- name: task_of_a_closed_run
-- A closed run has no open task.
SELECT t.task_id, t.kind, t.status, r.run_id, r.status AS run_status
FROM tasks t
JOIN workflow_runs r ON r.run_id = t.run_id
WHERE t.status IN ('ready', 'leased') AND r.status NOT IN ('pending', 'running', 'waiting')
ORDER BY t.task_id;

-- name: task_claimed_sequence
-- No claim delivered more history than there is, and each that was made delivered some.
SELECT t.task_id, t.claimed_sequence, t.attempt_count, r.last_history_sequence
FROM tasks t
JOIN workflow_runs r ON r.run_id = t.run_id
WHERE t.claimed_sequence > r.last_history_sequence OR (t.leased_at <> 0) <> (t.claimed_sequence <> 0)
ORDER BY t.task_id;

-- name: task_of_an_activity
-- An activity's task belongs to an activity of the same run; an open one is that activity's current task, ready
-- while the activity is pending and leased while it runs.
SELECT t.task_id, t.status, t.activity_execution_id, COALESCE(a.status, '') AS activity_status,
    COALESCE(a.task_id, '') AS activity_task_id
FROM tasks t
LEFT JOIN activities a ON a.execution_id = t.activity_execution_id AND a.run_id = t.run_id
WHERE t.kind = 'activity' AND (a.execution_id IS NULL
   OR (t.status IN ('ready', 'leased') AND a.task_id <> t.task_id)
   OR (t.status = 'ready' AND a.status <> 'pending') OR (t.status = 'leased' AND a.status <> 'running'))
ORDER BY t.task_id;

-- name: task_attempt
-- A leased activity task has its attempt, running, for the lease's owner.
SELECT t.task_id, t.activity_attempt_id, t.lease_owner, COALESCE(a.status, '') AS attempt_status,
    COALESCE(a.lease_owner, '') AS attempt_owner
FROM tasks t
LEFT JOIN activity_attempts a ON a.attempt_id = t.activity_attempt_id AND a.task_id = t.task_id
    AND a.execution_id = t.activity_execution_id
WHERE t.kind = 'activity' AND t.status = 'leased'
  AND (a.attempt_id IS NULL OR a.status <> 'running' OR a.lease_owner <> t.lease_owner)
ORDER BY t.task_id;

-- name: task_leased_to_nobody
-- A live lease is held under the current registration of its owner.
SELECT t.task_id, t.lease_owner, t.lease_generation, COALESCE(w.generation, 0) AS generation, t.lease_expires_at
FROM tasks t
LEFT JOIN workers w ON w.namespace = t.namespace AND w.worker_id = t.lease_owner
WHERE t.status = 'leased' AND t.lease_expires_at > :now
  AND (w.worker_id IS NULL OR w.generation <> t.lease_generation)
ORDER BY t.task_id;
