CREATE TABLE tasks (
    task_id TEXT COLLATE "C" NOT NULL,
    run_id TEXT COLLATE "C" NOT NULL,
    workflow_id TEXT COLLATE "C" NOT NULL,
    namespace TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    task_queue TEXT COLLATE "C" NOT NULL,
    type_name TEXT COLLATE "C" NOT NULL,
    status TEXT COLLATE "C" NOT NULL,
    priority BIGINT NOT NULL,
    order_at BIGINT NOT NULL,
    available_at BIGINT NOT NULL,
    ready_at BIGINT NOT NULL,
    fairness_key TEXT COLLATE "C" NOT NULL,
    compatibility TEXT COLLATE "C" NOT NULL,
    min_protocol BIGINT NOT NULL,
    attempt_count BIGINT NOT NULL,
    lease_owner TEXT COLLATE "C" NOT NULL,
    lease_generation BIGINT NOT NULL,
    leased_at BIGINT NOT NULL,
    lease_expires_at BIGINT NOT NULL,
    claimed_sequence BIGINT NOT NULL,
    activity_execution_id TEXT COLLATE "C" NOT NULL,
    activity_attempt_id TEXT COLLATE "C" NOT NULL,
    payload BYTEA NOT NULL,
    receipt BYTEA NOT NULL,
    last_error TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    closed_at BIGINT NOT NULL,
    PRIMARY KEY (task_id)
) WITH (fillfactor = 70);

-- What a claim seeks: one range per registered type and build, in claim order. An index entry
-- has to fit a third of a page, so only the start of the build is in it.
CREATE INDEX tasks_ready ON tasks (
    namespace, task_queue, kind, type_name, left(compatibility, 64), priority, order_at, task_id
) WHERE status = 'ready';

CREATE INDEX tasks_fair ON tasks (namespace, task_queue, kind, fairness_key, order_at)
    WHERE status = 'ready' AND fairness_key <> '';

-- Ready tasks by the time they are or become due: retries after a backoff, and what other processes made.
CREATE INDEX tasks_available ON tasks (available_at) WHERE status = 'ready';

CREATE INDEX tasks_by_owner ON tasks (namespace, lease_owner) WHERE status = 'leased';

CREATE INDEX tasks_lease_expiry ON tasks (lease_expires_at) WHERE status = 'leased';

CREATE TABLE poll_receipts (
    namespace TEXT COLLATE "C" NOT NULL,
    worker_id TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    poll_request_id TEXT COLLATE "C" NOT NULL,
    binding TEXT COLLATE "C" NOT NULL,
    task_id TEXT COLLATE "C" NOT NULL,
    attempt BIGINT NOT NULL,
    prune_at BIGINT NOT NULL,
    PRIMARY KEY (namespace, worker_id, kind, poll_request_id)
);

CREATE INDEX poll_receipts_prune ON poll_receipts (prune_at);
