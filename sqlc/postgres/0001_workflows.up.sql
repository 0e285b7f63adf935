-- Conventions of every table: nothing is NULL; times are microseconds UTC, 0 is "not yet";
-- deadlines are 9223372036854775807 for "none"; text is '' and documents are empty when absent.
-- Text compares byte for byte (COLLATE "C"). Hot tables leave room in their pages, so that updates
-- that touch no index stay in place.

CREATE TABLE namespaces (
    name TEXT COLLATE "C" NOT NULL,
    description TEXT COLLATE "C" NOT NULL,
    retention_mode TEXT COLLATE "C" NOT NULL,
    retention_days BIGINT NOT NULL,
    status TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (name)
);

CREATE TABLE workflow_instances (
    workflow_id TEXT COLLATE "C" NOT NULL,
    namespace TEXT COLLATE "C" NOT NULL,
    workflow_type TEXT COLLATE "C" NOT NULL,
    current_run_id TEXT COLLATE "C" NOT NULL,
    run_count BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (workflow_id)
);

CREATE TABLE workflow_runs (
    run_id TEXT COLLATE "C" NOT NULL,
    workflow_id TEXT COLLATE "C" NOT NULL,
    namespace TEXT COLLATE "C" NOT NULL,
    run_number BIGINT NOT NULL,
    workflow_type TEXT COLLATE "C" NOT NULL,
    task_queue TEXT COLLATE "C" NOT NULL,
    status TEXT COLLATE "C" NOT NULL,
    closed_reason TEXT COLLATE "C" NOT NULL,
    priority BIGINT NOT NULL,
    fairness_key TEXT COLLATE "C" NOT NULL,
    fairness_weight BIGINT NOT NULL,
    compatibility TEXT COLLATE "C" NOT NULL,
    business_key TEXT COLLATE "C" NOT NULL,
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
    workflow_task_id TEXT COLLATE "C" NOT NULL,
    pending_wake BYTEA NOT NULL,
    min_protocol BIGINT NOT NULL,
    continued_from_run_id TEXT COLLATE "C" NOT NULL,
    closed_event_sequence BIGINT NOT NULL,
    started_at BIGINT NOT NULL,
    closed_at BIGINT NOT NULL,
    last_progress_at BIGINT NOT NULL,
    PRIMARY KEY (run_id)
) WITH (fillfactor = 60);

CREATE UNIQUE INDEX workflow_runs_by_workflow ON workflow_runs (workflow_id, run_number);

CREATE INDEX workflow_runs_by_start ON workflow_runs (namespace, started_at, run_id);

CREATE INDEX workflow_runs_due ON workflow_runs (deadline_at) WHERE deadline_at < 9223372036854775807;

CREATE TABLE workflow_run_inputs (
    run_id TEXT COLLATE "C" NOT NULL,
    arguments BYTEA NOT NULL,
    memo BYTEA NOT NULL,
    search_attributes BYTEA NOT NULL,
    definition_print TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (run_id)
);

CREATE TABLE history_events (
    run_id TEXT COLLATE "C" NOT NULL,
    sequence BIGINT NOT NULL,
    event_id TEXT COLLATE "C" NOT NULL,
    event_type TEXT COLLATE "C" NOT NULL,
    payload BYTEA NOT NULL,
    workflow_task_id TEXT COLLATE "C" NOT NULL,
    workflow_command_id TEXT COLLATE "C" NOT NULL,
    recorded_at BIGINT NOT NULL,
    PRIMARY KEY (run_id, sequence)
);
