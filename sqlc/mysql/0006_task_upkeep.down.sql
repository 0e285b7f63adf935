ALTER TABLE tasks
    DROP KEY tasks_by_owner,
    ADD KEY tasks_by_owner (namespace, lease_owner, status);
