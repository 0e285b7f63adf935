-- With kind and expiry in it, a worker's leases are counted from the index alone.
ALTER TABLE tasks
    DROP KEY tasks_by_owner,
    ADD KEY tasks_by_owner (namespace, lease_owner, status, kind, lease_expires_at);
