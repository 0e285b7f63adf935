CREATE TABLE IF NOT EXISTS tasks (
    task_id VARBINARY(255) NOT NULL,
    run_id VARBINARY(255) NOT NULL,
    workflow_id VARBINARY(900) NOT NULL,
    namespace VARBINARY(128) NOT NULL,
    kind VARBINARY(32) NOT NULL,
    task_queue VARBINARY(1020) NOT NULL,
    type_name VARBINARY(1020) NOT NULL,
    status VARBINARY(32) NOT NULL,
    priority BIGINT NOT NULL,
    order_at BIGINT NOT NULL,
    available_at BIGINT NOT NULL,
    ready_at BIGINT NOT NULL,
    fairness_key VARBINARY(256) NOT NULL,
    compatibility VARBINARY(1020) NOT NULL,
    min_protocol BIGINT NOT NULL,
    attempt_count BIGINT NOT NULL,
    lease_owner VARBINARY(1020) NOT NULL,
    lease_generation BIGINT NOT NULL,
    leased_at BIGINT NOT NULL,
    lease_expires_at BIGINT NOT NULL,
    claimed_sequence BIGINT NOT NULL,
    activity_execution_id VARBINARY(255) NOT NULL,
    activity_attempt_id VARBINARY(255) NOT NULL,
    payload LONGBLOB NOT NULL,
    receipt LONGBLOB NOT NULL,
    last_error LONGTEXT NOT NULL,
    created_at BIGINT NOT NULL,
    closed_at BIGINT NOT NULL,
    -- The start of the build: a whole one would make the claim index longer than it may be.
    compatibility_key VARBINARY(256) AS (LEFT(compatibility, 256)) VIRTUAL,
    PRIMARY KEY (task_id),
    KEY tasks_ready (
        namespace, task_queue, kind, type_name, status, compatibility_key, priority, order_at, task_id
    ),
    KEY tasks_fair (namespace, task_queue, kind, fairness_key, status, order_at),
    KEY tasks_available (status, available_at),
    KEY tasks_by_owner (namespace, lease_owner, status),
    KEY tasks_lease_expiry (status, lease_expires_at)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE IF NOT EXISTS poll_receipts (
    namespace VARBINARY(128) NOT NULL,
    worker_id VARBINARY(1020) NOT NULL,
    kind VARBINARY(32) NOT NULL,
    poll_request_id VARBINARY(1020) NOT NULL,
    binding LONGTEXT NOT NULL,
    task_id VARBINARY(255) NOT NULL,
    attempt BIGINT NOT NULL,
    prune_at BIGINT NOT NULL,
    PRIMARY KEY (namespace, worker_id, kind, poll_request_id),
    KEY poll_receipts_prune (prune_at)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
