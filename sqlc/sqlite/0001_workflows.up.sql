-- Conventions of every table: nothing is NULL; times are microseconds UTC, 0 is "not yet";
-- deadlines are 9223372036854775807 for "none"; text is '' and documents are empty when absent.
-- Tables with small rows are WITHOUT ROWID (one B-tree write less an insert); tables whose rows
-- carry documents are not, as a clustered B-tree of fat rows grows deep.

CREATE TABLE namespaces (
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    retention_mode TEXT NOT NULL,
    retention_days INTEGER NOT NULL,
    status TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (name)
) STRICT, WITHOUT ROWID;

CREATE TABLE workflow_instances (
    workflow_id TEXT NOT NULL,
    namespace TEXT NOT NULL,
    workflow_type TEXT NOT NULL,
    current_run_id TEXT NOT NULL,
    run_count INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (workflow_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE workflow_runs (
    run_id TEXT NOT NULL,
    workflow_id TEXT NOT NULL,
    namespace TEXT NOT NULL,
    run_number INTEGER NOT NULL,
    workflow_type TEXT NOT NULL,
    task_queue TEXT NOT NULL,
    status TEXT NOT NULL,
    closed_reason TEXT NOT NULL,
    priority INTEGER NOT NULL,
    fairness_key TEXT NOT NULL,
    fairness_weight INTEGER NOT NULL,
    compatibility TEXT NOT NULL,
    business_key TEXT NOT NULL,
    execution_timeout INTEGER NOT NULL,
    run_timeout INTEGER NOT NULL,
    execution_deadline_at INTEGER NOT NULL,
    run_deadline_at INTEGER NOT NULL,
    deadline_at INTEGER NOT NULL,
    last_history_sequence INTEGER NOT NULL,
    history_size_bytes INTEGER NOT NULL,
    last_step_sequence INTEGER NOT NULL,
    last_command_sequence INTEGER NOT NULL,
    message_position INTEGER NOT NULL,
    open_activities INTEGER NOT NULL,
    open_timers INTEGER NOT NULL,
    open_waits INTEGER NOT NULL,
    pending_signals INTEGER NOT NULL,
    workflow_task_id TEXT NOT NULL,
    pending_wake BLOB NOT NULL,
    min_protocol INTEGER NOT NULL,
    continued_from_run_id TEXT NOT NULL,
    closed_event_sequence INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    closed_at INTEGER NOT NULL,
    last_progress_at INTEGER NOT NULL,
    PRIMARY KEY (run_id)
) STRICT;

CREATE UNIQUE INDEX workflow_runs_by_workflow ON workflow_runs (workflow_id, run_number);

CREATE INDEX workflow_runs_by_start ON workflow_runs (namespace, started_at, run_id);

CREATE INDEX workflow_runs_due ON workflow_runs (deadline_at) WHERE deadline_at < 9223372036854775807;

CREATE TABLE workflow_run_inputs (
    run_id TEXT NOT NULL,
    arguments BLOB NOT NULL,
    memo BLOB NOT NULL,
    search_attributes BLOB NOT NULL,
    definition_print TEXT NOT NULL,
    PRIMARY KEY (run_id)
) STRICT;

CREATE TABLE history_events (
    run_id TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    event_id TEXT NOT NULL,
    event_type TEXT NOT NULL,
    payload BLOB NOT NULL,
    workflow_task_id TEXT NOT NULL,
    workflow_command_id TEXT NOT NULL,
    recorded_at INTEGER NOT NULL,
    PRIMARY KEY (run_id, sequence)
) STRICT;
