CREATE TABLE IF NOT EXISTS signals (
    signal_id VARBINARY(255) NOT NULL,
    run_id VARBINARY(255) NOT NULL,
    workflow_id VARBINARY(900) NOT NULL,
    command_id VARBINARY(255) NOT NULL,
    command_sequence BIGINT NOT NULL,
    name LONGTEXT NOT NULL,
    arguments LONGBLOB NOT NULL,
    wait_id VARBINARY(1020) NOT NULL,
    status VARBINARY(32) NOT NULL,
    received_sequence BIGINT NOT NULL,
    workflow_sequence BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    closed_at BIGINT NOT NULL,
    PRIMARY KEY (signal_id),
    KEY signals_by_run (run_id, status, command_sequence)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE IF NOT EXISTS commands (
    command_id VARBINARY(255) NOT NULL,
    workflow_id VARBINARY(900) NOT NULL,
    run_id VARBINARY(255) NOT NULL,
    namespace VARBINARY(128) NOT NULL,
    sequence BIGINT NOT NULL,
    type VARBINARY(32) NOT NULL,
    target_name VARBINARY(1020) NOT NULL,
    request_id VARBINARY(1020) NOT NULL,
    status VARBINARY(32) NOT NULL,
    outcome VARBINARY(64) NOT NULL,
    rejection_reason LONGTEXT NOT NULL,
    reason LONGTEXT NOT NULL,
    accepted_at BIGINT NOT NULL,
    applied_at BIGINT NOT NULL,
    PRIMARY KEY (command_id),
    KEY commands_by_run (run_id, sequence)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE IF NOT EXISTS command_requests (
    workflow_id VARBINARY(900) NOT NULL,
    command_type VARBINARY(32) NOT NULL,
    target_name VARBINARY(1020) NOT NULL,
    request_id VARBINARY(1020) NOT NULL,
    command_id VARBINARY(255) NOT NULL,
    body_digest LONGBLOB NOT NULL,
    PRIMARY KEY (workflow_id, command_type, target_name, request_id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
