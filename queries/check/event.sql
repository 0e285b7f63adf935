-- name: event_of_nothing
-- Every event belongs to a run.
SELECT e.run_id, COUNT(*) AS events
FROM history_events e
LEFT JOIN workflow_runs r ON r.run_id = e.run_id
WHERE r.run_id IS NULL
GROUP BY e.run_id
ORDER BY e.run_id;

-- name: event_task
-- A task that an event names exists and belongs to the event's run.
SELECT e.run_id, e.sequence, e.event_type, e.workflow_task_id
FROM history_events e
LEFT JOIN tasks t ON t.task_id = e.workflow_task_id AND t.run_id = e.run_id
WHERE e.workflow_task_id <> '' AND t.task_id IS NULL
ORDER BY e.run_id, e.sequence;

-- name: event_command
-- A command that an event names exists.
SELECT e.run_id, e.sequence, e.event_type, e.workflow_command_id
FROM history_events e
LEFT JOIN commands c ON c.command_id = e.workflow_command_id
WHERE e.workflow_command_id <> '' AND c.command_id IS NULL
ORDER BY e.run_id, e.sequence;

-- name: event_id
-- An event's id is its own.
SELECT event_id, COUNT(*) AS events
FROM history_events
GROUP BY event_id
HAVING COUNT(*) > 1
ORDER BY event_id;
