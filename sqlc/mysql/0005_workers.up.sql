CREATE TABLE IF NOT EXISTS workers (
    namespace VARBINARY(128) NOT NULL,
    worker_id VARBINARY(1020) NOT NULL,
    generation BIGINT NOT NULL,
    registration_token VARBINARY(1020) NOT NULL,
    task_queue VARBINARY(1020) NOT NULL,
    runtime VARBINARY(64) NOT NULL,
    sdk_version VARBINARY(256) NOT NULL,
    build_id VARBINARY(1020) NOT NULL,
    status VARBINARY(32) NOT NULL,
    protocol_minor BIGINT NOT NULL,
    workflow_types LONGBLOB NOT NULL,
    activity_types LONGBLOB NOT NULL,
    capabilities LONGBLOB NOT NULL,
    capability_manifest LONGBLOB NOT NULL,
    fingerprints LONGBLOB NOT NULL,
    max_workflow_tasks BIGINT NOT NULL,
    max_activity_tasks BIGINT NOT NULL,
    max_sessions BIGINT NOT NULL,
    task_slots LONGBLOB NOT NULL,
    process_metrics LONGBLOB NOT NULL,
    process_identity LONGTEXT NOT NULL,
    heartbeat_interval BIGINT NOT NULL,
    last_seen_at BIGINT NOT NULL,
    registered_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (namespace, worker_id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE IF NOT EXISTS worker_registrations (
    token VARBINARY(1020) NOT NULL,
    namespace VARBINARY(128) NOT NULL,
    worker_id VARBINARY(1020) NOT NULL,
    state VARBINARY(32) NOT NULL,
    recovered_count BIGINT NOT NULL,
    ended_at BIGINT NOT NULL,
    PRIMARY KEY (token),
    KEY worker_registrations_ended (ended_at)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE IF NOT EXISTS workflow_definitions (
    namespace VARBINARY(128) NOT NULL,
    workflow_type VARBINARY(1020) NOT NULL,
    contract LONGBLOB NOT NULL,
    fingerprint VARBINARY(1020) NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (namespace, workflow_type)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
