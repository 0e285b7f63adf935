CREATE TABLE activities (
    execution_id TEXT NOT NULL,
    run_id TEXT NOT NULL,
    namespace TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    activity_type TEXT NOT NULL,
    task_queue TEXT NOT NULL,
    status TEXT NOT NULL,
    attempt_count INTEGER NOT NULL,
    attempt_id TEXT NOT NULL,
    task_id TEXT NOT NULL,
    retry_policy BLOB NOT NULL,
    parallel BLOB NOT NULL,
    scheduled_event INTEGER NOT NULL,
    schedule_deadline_at INTEGER NOT NULL,
    schedule_to_close_at INTEGER NOT NULL,
    close_deadline_at INTEGER NOT NULL,
    heartbeat_deadline_at INTEGER NOT NULL,
    next_deadline_at INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    last_heartbeat_at INTEGER NOT NULL,
    closed_at INTEGER NOT NULL,
    closed_event_sequence INTEGER NOT NULL,
    is_local INTEGER NOT NULL,
    PRIMARY KEY (execution_id)
) STRICT;

CREATE INDEX activities_by_run ON activities (run_id, status, sequence);

CREATE INDEX activities_due ON activities (next_deadline_at) WHERE next_deadline_at < 9223372036854775807;

CREATE TABLE activity_attempts (
    attempt_id TEXT NOT NULL,
    execution_id TEXT NOT NULL,
    run_id TEXT NOT NULL,
    task_id TEXT NOT NULL,
    attempt_number INTEGER NOT NULL,
    status TEXT NOT NULL,
    lease_owner TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    last_heartbeat_at INTEGER NOT NULL,
    closed_at INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    receipt BLOB NOT NULL,
    next_task_id TEXT NOT NULL,
    worker_attempt_id TEXT NOT NULL,
    PRIMARY KEY (attempt_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX activity_attempts_by_execution ON activity_attempts (execution_id, attempt_number);

CREATE TABLE timers (
    timer_id TEXT NOT NULL,
    run_id TEXT NOT NULL,
    task_id TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    kind TEXT NOT NULL,
    wait_id TEXT NOT NULL,
    delay_seconds INTEGER NOT NULL,
    fire_at INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    status TEXT NOT NULL,
    parallel BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    closed_at INTEGER NOT NULL,
    PRIMARY KEY (timer_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX timers_by_run ON timers (run_id, status, sequence);

CREATE INDEX timers_due ON timers (due_at) WHERE due_at < 9223372036854775807;

CREATE TABLE waits (
    wait_id TEXT NOT NULL,
    run_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    name TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    occurrence_id TEXT NOT NULL,
    timeout_seconds INTEGER NOT NULL,
    timer_id TEXT NOT NULL,
    status TEXT NOT NULL,
    opened_sequence INTEGER NOT NULL,
    parallel BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    closed_at INTEGER NOT NULL,
    PRIMARY KEY (wait_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX waits_by_run ON waits (run_id, status, sequence);
