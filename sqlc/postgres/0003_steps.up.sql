CREATE TABLE activities (
    execution_id TEXT COLLATE "C" NOT NULL,
    run_id TEXT COLLATE "C" NOT NULL,
    namespace TEXT COLLATE "C" NOT NULL,
    sequence BIGINT NOT NULL,
    activity_type TEXT COLLATE "C" NOT NULL,
    task_queue TEXT COLLATE "C" NOT NULL,
    status TEXT COLLATE "C" NOT NULL,
    attempt_count BIGINT NOT NULL,
    attempt_id TEXT COLLATE "C" NOT NULL,
    task_id TEXT COLLATE "C" NOT NULL,
    retry_policy BYTEA NOT NULL,
    parallel BYTEA NOT NULL,
    scheduled_event BIGINT NOT NULL,
    schedule_deadline_at BIGINT NOT NULL,
    schedule_to_close_at BIGINT NOT NULL,
    close_deadline_at BIGINT NOT NULL,
    heartbeat_deadline_at BIGINT NOT NULL,
    next_deadline_at BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    started_at BIGINT NOT NULL,
    last_heartbeat_at BIGINT NOT NULL,
    closed_at BIGINT NOT NULL,
    closed_event_sequence BIGINT NOT NULL,
    is_local BIGINT NOT NULL,
    PRIMARY KEY (execution_id)
) WITH (fillfactor = 70);

CREATE INDEX activities_by_run ON activities (run_id, status, sequence);

CREATE INDEX activities_due ON activities (next_deadline_at) WHERE next_deadline_at < 9223372036854775807;

CREATE TABLE activity_attempts (
    attempt_id TEXT COLLATE "C" NOT NULL,
    execution_id TEXT COLLATE "C" NOT NULL,
    run_id TEXT COLLATE "C" NOT NULL,
    task_id TEXT COLLATE "C" NOT NULL,
    attempt_number BIGINT NOT NULL,
    status TEXT COLLATE "C" NOT NULL,
    lease_owner TEXT COLLATE "C" NOT NULL,
    started_at BIGINT NOT NULL,
    last_heartbeat_at BIGINT NOT NULL,
    closed_at BIGINT NOT NULL,
    outcome TEXT COLLATE "C" NOT NULL,
    receipt BYTEA NOT NULL,
    next_task_id TEXT COLLATE "C" NOT NULL,
    worker_attempt_id TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (attempt_id)
) WITH (fillfactor = 80);

CREATE INDEX activity_attempts_by_execution ON activity_attempts (execution_id, attempt_number);

CREATE TABLE timers (
    timer_id TEXT COLLATE "C" NOT NULL,
    run_id TEXT COLLATE "C" NOT NULL,
    task_id TEXT COLLATE "C" NOT NULL,
    sequence BIGINT NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    wait_id TEXT COLLATE "C" NOT NULL,
    delay_seconds BIGINT NOT NULL,
    fire_at BIGINT NOT NULL,
    due_at BIGINT NOT NULL,
    status TEXT COLLATE "C" NOT NULL,
    parallel BYTEA NOT NULL,
    created_at BIGINT NOT NULL,
    closed_at BIGINT NOT NULL,
    PRIMARY KEY (timer_id)
) WITH (fillfactor = 80);

CREATE INDEX timers_by_run ON timers (run_id, status, sequence);

CREATE INDEX timers_due ON timers (due_at) WHERE due_at < 9223372036854775807;

CREATE TABLE waits (
    wait_id TEXT COLLATE "C" NOT NULL,
    run_id TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    sequence BIGINT NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    fingerprint TEXT COLLATE "C" NOT NULL,
    occurrence_id TEXT COLLATE "C" NOT NULL,
    timeout_seconds BIGINT NOT NULL,
    timer_id TEXT COLLATE "C" NOT NULL,
    status TEXT COLLATE "C" NOT NULL,
    opened_sequence BIGINT NOT NULL,
    parallel BYTEA NOT NULL,
    created_at BIGINT NOT NULL,
    closed_at BIGINT NOT NULL,
    PRIMARY KEY (wait_id)
) WITH (fillfactor = 80);

CREATE INDEX waits_by_run ON waits (run_id, status, sequence);
