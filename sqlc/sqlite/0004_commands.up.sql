CREATE TABLE signals (
    signal_id TEXT NOT NULL,
    run_id TEXT NOT NULL,
    workflow_id TEXT NOT NULL,
    command_id TEXT NOT NULL,
    command_sequence INTEGER NOT NULL,
    name TEXT NOT NULL,
    arguments BLOB NOT NULL,
    wait_id TEXT NOT NULL,
    status TEXT NOT NULL,
    received_sequence INTEGER NOT NULL,
    workflow_sequence INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    closed_at INTEGER NOT NULL,
    PRIMARY KEY (signal_id)
) STRICT;

CREATE INDEX signals_by_run ON signals (run_id, status, command_sequence);

CREATE TABLE commands (
    command_id TEXT NOT NULL,
    workflow_id TEXT NOT NULL,
    run_id TEXT NOT NULL,
    namespace TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    type TEXT NOT NULL,
    target_name TEXT NOT NULL,
    request_id TEXT NOT NULL,
    status TEXT NOT NULL,
    outcome TEXT NOT NULL,
    rejection_reason TEXT NOT NULL,
    reason TEXT NOT NULL,
    accepted_at INTEGER NOT NULL,
    applied_at INTEGER NOT NULL,
    PRIMARY KEY (command_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX commands_by_run ON commands (run_id, sequence);

CREATE TABLE command_requests (
    workflow_id TEXT NOT NULL,
    command_type TEXT NOT NULL,
    target_name TEXT NOT NULL,
    request_id TEXT NOT NULL,
    command_id TEXT NOT NULL,
    body_digest BLOB NOT NULL,
    PRIMARY KEY (workflow_id, command_type, target_name, request_id)
) STRICT, WITHOUT ROWID;
