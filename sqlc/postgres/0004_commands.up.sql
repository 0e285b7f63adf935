CREATE TABLE signals (
    signal_id TEXT COLLATE "C" NOT NULL,
    run_id TEXT COLLATE "C" NOT NULL,
    workflow_id TEXT COLLATE "C" NOT NULL,
    command_id TEXT COLLATE "C" NOT NULL,
    command_sequence BIGINT NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    arguments BYTEA NOT NULL,
    wait_id TEXT COLLATE "C" NOT NULL,
    status TEXT COLLATE "C" NOT NULL,
    received_sequence BIGINT NOT NULL,
    workflow_sequence BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    closed_at BIGINT NOT NULL,
    PRIMARY KEY (signal_id)
);

CREATE INDEX signals_by_run ON signals (run_id, status, command_sequence);

CREATE TABLE commands (
    command_id TEXT COLLATE "C" NOT NULL,
    workflow_id TEXT COLLATE "C" NOT NULL,
    run_id TEXT COLLATE "C" NOT NULL,
    namespace TEXT COLLATE "C" NOT NULL,
    sequence BIGINT NOT NULL,
    type TEXT COLLATE "C" NOT NULL,
    target_name TEXT COLLATE "C" NOT NULL,
    request_id TEXT COLLATE "C" NOT NULL,
    status TEXT COLLATE "C" NOT NULL,
    outcome TEXT COLLATE "C" NOT NULL,
    rejection_reason TEXT COLLATE "C" NOT NULL,
    reason TEXT COLLATE "C" NOT NULL,
    accepted_at BIGINT NOT NULL,
    applied_at BIGINT NOT NULL,
    PRIMARY KEY (command_id)
);

CREATE INDEX commands_by_run ON commands (run_id, sequence);

CREATE TABLE command_requests (
    workflow_id TEXT COLLATE "C" NOT NULL,
    command_type TEXT COLLATE "C" NOT NULL,
    target_name TEXT COLLATE "C" NOT NULL,
    request_id TEXT COLLATE "C" NOT NULL,
    command_id TEXT COLLATE "C" NOT NULL,
    body_digest BYTEA NOT NULL,
    PRIMARY KEY (workflow_id, command_type, target_name, request_id)
);
