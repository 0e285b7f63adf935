-- name: DueNext :one
SELECT LEAST(
    COALESCE((SELECT MIN(due_at) FROM timers WHERE due_at < 9223372036854775807), 9223372036854775807),
    COALESCE((SELECT MIN(next_deadline_at) FROM activities WHERE next_deadline_at < 9223372036854775807), 9223372036854775807),
    COALESCE((SELECT MIN(deadline_at) FROM workflow_runs WHERE deadline_at < 9223372036854775807), 9223372036854775807),
    COALESCE((SELECT MIN(lease_expires_at) FROM tasks WHERE status = 'leased' AND lease_expires_at < 9223372036854775807), 9223372036854775807)
)::bigint AS due_at;
