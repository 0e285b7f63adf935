-- name: instance_runs
-- A workflow id's run_count is the number of its runs, which are numbered from 1, and its current run is the newest.
SELECT i.workflow_id, i.current_run_id, i.run_count, COALESCE(c.runs, 0) AS runs, COALESCE(c.newest, 0) AS newest
FROM workflow_instances i
LEFT JOIN (
    SELECT workflow_id, COUNT(*) AS runs, MAX(run_number) AS newest, MIN(run_number) AS oldest
    FROM workflow_runs GROUP BY workflow_id
) c ON c.workflow_id = i.workflow_id
LEFT JOIN workflow_runs r ON r.run_id = i.current_run_id AND r.workflow_id = i.workflow_id
WHERE c.runs IS NULL OR c.runs <> i.run_count OR c.newest <> i.run_count OR c.oldest <> 1
   OR r.run_id IS NULL OR r.run_number <> i.run_count OR r.namespace <> i.namespace
ORDER BY i.workflow_id;

-- name: run_without_instance
-- Every run belongs to a workflow id.
SELECT r.run_id, r.workflow_id
FROM workflow_runs r
LEFT JOIN workflow_instances i ON i.workflow_id = r.workflow_id
WHERE i.workflow_id IS NULL
ORDER BY r.run_id;

-- name: run_open_in_the_past
-- Only the newest run of a workflow id is open.
SELECT r.run_id, r.workflow_id, r.run_number, r.status
FROM workflow_runs r
JOIN workflow_instances i ON i.workflow_id = r.workflow_id
WHERE r.run_number < i.run_count AND r.status IN ('pending', 'running', 'waiting')
ORDER BY r.run_id;

-- name: run_continued_from
-- A first run continues nothing; every other one continues the run before it, which closed for that.
SELECT r.run_id, r.run_number, r.continued_from_run_id
FROM workflow_runs r
LEFT JOIN workflow_runs p ON p.run_id = r.continued_from_run_id AND p.workflow_id = r.workflow_id
    AND p.run_number = r.run_number - 1 AND p.closed_reason = 'continued'
WHERE (r.run_number = 1 AND r.continued_from_run_id <> '') OR (r.run_number > 1 AND p.run_id IS NULL)
ORDER BY r.run_id;

-- name: namespace_missing
-- What names a namespace names one that exists.
SELECT 'workflow' AS what, i.workflow_id AS id, i.namespace
FROM workflow_instances i LEFT JOIN namespaces n ON n.name = i.namespace
WHERE n.name IS NULL
UNION ALL
SELECT 'run' AS what, r.run_id AS id, r.namespace
FROM workflow_runs r LEFT JOIN namespaces n ON n.name = r.namespace
WHERE n.name IS NULL
UNION ALL
SELECT 'worker' AS what, w.worker_id AS id, w.namespace
FROM workers w LEFT JOIN namespaces n ON n.name = w.namespace
WHERE n.name IS NULL
UNION ALL
SELECT 'definition' AS what, d.workflow_type AS id, d.namespace
FROM workflow_definitions d LEFT JOIN namespaces n ON n.name = d.namespace
WHERE n.name IS NULL;
