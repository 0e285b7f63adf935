ALTER TABLE activities RESET (autovacuum_vacuum_scale_factor, autovacuum_vacuum_threshold);

ALTER TABLE tasks RESET (autovacuum_vacuum_scale_factor, autovacuum_vacuum_threshold);

DROP INDEX tasks_lease_expiry;

CREATE INDEX tasks_lease_expiry ON tasks (lease_expires_at) WHERE status = 'leased';
