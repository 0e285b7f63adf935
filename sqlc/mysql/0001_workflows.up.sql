-- Conventions of every table: nothing is NULL; times are microseconds UTC, 0 is "not yet";
-- deadlines are 9223372036854775807 for "none"; text is '' and documents are empty when absent.
-- Identifiers are VARBINARY, as every character collation that all servers have ignores trailing
-- blanks; lengths are bytes of the longest legal value. Free text is LONGTEXT. DDL commits by
-- itself here, so every statement can be repeated.

CREATE TABLE IF NOT EXISTS namespaces (
    name VARBINARY(128) NOT NULL,
    description LONGTEXT NOT NULL,
    retention_mode VARBINARY(32) NOT NULL,
    retention_days BIGINT NOT NULL,
    status VARBINARY(32) NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (name)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE IF NOT EXISTS workflow_instances (
    workflow_id VARBINARY(900) NOT NULL,
    namespace VARBINARY(128) NOT NULL,
    workflow_type VARBINARY(1020) NOT NULL,
    current_run_id VARBINARY(255) NOT NULL,
    run_count BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (workflow_id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE IF NOT EXISTS workflow_runs (
    run_id VARBINARY(255) NOT NULL,
    workflow_id VARBINARY(900) NOT NULL,
    namespace VARBINARY(128) NOT NULL,
    run_number BIGINT NOT NULL,
    workflow_type VARBINARY(1020) NOT NULL,
    task_queue VARBINARY(1020) NOT NULL,
    status VARBINARY(32) NOT NULL,
    closed_reason VARBINARY(64) NOT NULL,
    priority BIGINT NOT NULL,
    fairness_key VARBINARY(256) NOT NULL,
    fairness_weight BIGINT NOT NULL,
    compatibility VARBINARY(1020) NOT NULL,
    business_key VARBINARY(1020) NOT NULL,
    execution_timeout BIGINT NOT NULL,
    run_timeout BIGINT NOT NULL,
    execution_deadline_at BIGINT NOT NULL,
    run_deadline_at BIGINT NOT NULL,
    deadline_at BIGINT NOT NULL,
    last_history_sequence BIGINT NOT NULL,
    history_size_bytes BIGINT NOT NULL,
    last_step_sequence BIGINT NOT NULL,
    last_command_sequence BIGINT NOT NULL,
    message_position BIGINT NOT NULL,
    open_activities BIGINT NOT NULL,
    open_timers BIGINT NOT NULL,
    open_waits BIGINT NOT NULL,
    pending_signals BIGINT NOT NULL,
    workflow_task_id VARBINARY(255) NOT NULL,
    pending_wake LONGBLOB NOT NULL,
    min_protocol BIGINT NOT NULL,
    continued_from_run_id VARBINARY(255) NOT NULL,
    closed_event_sequence BIGINT NOT NULL,
    started_at BIGINT NOT NULL,
    closed_at BIGINT NOT NULL,
    last_progress_at BIGINT NOT NULL,
    PRIMARY KEY (run_id),
    UNIQUE KEY workflow_runs_by_workflow (workflow_id, run_number),
    KEY workflow_runs_by_start (namespace, started_at, run_id),
    KEY workflow_runs_due (deadline_at)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE IF NOT EXISTS workflow_run_inputs (
    run_id VARBINARY(255) NOT NULL,
    arguments LONGBLOB NOT NULL,
    memo LONGBLOB NOT NULL,
    search_attributes LONGBLOB NOT NULL,
    definition_print LONGTEXT NOT NULL,
    PRIMARY KEY (run_id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE IF NOT EXISTS history_events (
    run_id VARBINARY(255) NOT NULL,
    sequence BIGINT NOT NULL,
    event_id VARBINARY(255) NOT NULL,
    event_type VARBINARY(1020) NOT NULL,
    payload LONGBLOB NOT NULL,
    workflow_task_id VARBINARY(255) NOT NULL,
    workflow_command_id VARBINARY(255) NOT NULL,
    recorded_at BIGINT NOT NULL,
    PRIMARY KEY (run_id, sequence)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
