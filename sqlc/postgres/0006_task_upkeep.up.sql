-- The condition is narrower than that of tasks_by_owner, so that the planner, which finds both empty in a young
-- database, cannot take this index in the other's place.
DROP INDEX tasks_lease_expiry;

CREATE INDEX tasks_lease_expiry ON tasks (lease_expires_at)
    WHERE status = 'leased' AND lease_expires_at < 9223372036854775807;

-- A task's every step leaves a dead row and dead entries at the head of the indexes by which claims search: they
-- are removed by number, not by their share of a table that only grows.
ALTER TABLE tasks SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

ALTER TABLE activities SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000);
