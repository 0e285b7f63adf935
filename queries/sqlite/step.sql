-- name: StepCountOpen :one
-- Steps that have not ended, at most two of a kind: a group of any size is asked whether one is left. Open condition
-- waits do not count: only the worker knows whether they still wait.
SELECT CAST(
    (SELECT COUNT(*) FROM (
        SELECT activities.sequence FROM activities
        WHERE activities.run_id = sqlc.arg(run_id) AND activities.sequence >= sqlc.arg(from_sequence) AND activities.sequence < sqlc.arg(to_sequence)
          AND activities.status IN ('pending', 'running')
        LIMIT 2
    )) +
    (SELECT COUNT(*) FROM (
        SELECT timers.sequence FROM timers
        WHERE timers.run_id = sqlc.arg(run_id) AND timers.sequence >= sqlc.arg(from_sequence) AND timers.sequence < sqlc.arg(to_sequence)
          AND timers.status = 'pending' AND timers.kind = ''
        LIMIT 2
    )) +
    (SELECT COUNT(*) FROM (
        SELECT waits.sequence FROM waits
        WHERE waits.run_id = sqlc.arg(run_id) AND waits.sequence >= sqlc.arg(from_sequence) AND waits.sequence < sqlc.arg(to_sequence)
          AND waits.status = 'open' AND waits.kind <> 'condition'
        LIMIT 2
    ))
    AS INTEGER) AS steps;

-- name: StepList :many
-- The steps a range of authored sequences stands for; timeouts of waits are no steps. All statuses are
-- named so that the index seeks the range in a run of any length.
SELECT activities.sequence, CAST('activity' AS TEXT) AS kind, activities.activity_type AS name, activities.status, activities.parallel
FROM activities
WHERE activities.run_id = sqlc.arg(run_id) AND activities.status IN ('pending', 'running', 'completed', 'failed', 'cancelled')
  AND activities.sequence >= sqlc.arg(from_sequence) AND activities.sequence < sqlc.arg(to_sequence)
UNION ALL
SELECT timers.sequence, CAST('timer' AS TEXT) AS kind, CAST('' AS TEXT) AS name, timers.status, timers.parallel
FROM timers
WHERE timers.run_id = sqlc.arg(run_id) AND timers.status IN ('pending', 'fired', 'cancelled')
  AND timers.sequence >= sqlc.arg(from_sequence) AND timers.sequence < sqlc.arg(to_sequence) AND timers.kind = ''
UNION ALL
SELECT waits.sequence, waits.kind, waits.name, waits.status, waits.parallel
FROM waits
WHERE waits.run_id = sqlc.arg(run_id) AND waits.status IN ('open', 'satisfied', 'timed_out', 'cancelled')
  AND waits.sequence >= sqlc.arg(from_sequence) AND waits.sequence < sqlc.arg(to_sequence)
ORDER BY 1;
