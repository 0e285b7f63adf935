DROP INDEX tasks_lease_expiry;

CREATE INDEX tasks_lease_expiry ON tasks (lease_expires_at)
    WHERE status = 'leased' AND lease_expires_at < 9223372036854775807;
