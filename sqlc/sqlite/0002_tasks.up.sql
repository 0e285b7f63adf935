CREATE TABLE tasks (
    task_id TEXT NOT NULL,
    run_id TEXT NOT NULL,
    workflow_id TEXT NOT NULL,
    namespace TEXT NOT NULL,
    kind TEXT NOT NULL,
    task_queue TEXT NOT NULL,
    type_name TEXT NOT NULL,
    status TEXT NOT NULL,
    priority INTEGER NOT NULL,
    order_at INTEGER NOT NULL,
    available_at INTEGER NOT NULL,
    ready_at INTEGER NOT NULL,
    fairness_key TEXT NOT NULL,
    compatibility TEXT NOT NULL,
    min_protocol INTEGER NOT NULL,
    attempt_count INTEGER NOT NULL,
    lease_owner TEXT NOT NULL,
    lease_generation INTEGER NOT NULL,
    leased_at INTEGER NOT NULL,
    lease_expires_at INTEGER NOT NULL,
    claimed_sequence INTEGER NOT NULL,
    activity_execution_id TEXT NOT NULL,
    activity_attempt_id TEXT NOT NULL,
    payload BLOB NOT NULL,
    receipt BLOB NOT NULL,
    last_error TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    closed_at INTEGER NOT NULL,
    PRIMARY KEY (task_id)
) STRICT;

-- What a claim seeks: one range per registered type and build, in claim order.
CREATE INDEX tasks_ready
    ON tasks (namespace, task_queue, kind, type_name, compatibility, priority, order_at, task_id)
    WHERE status = 'ready';

CREATE INDEX tasks_fair ON tasks (namespace, task_queue, kind, fairness_key, order_at)
    WHERE status = 'ready' AND fairness_key <> '';

-- Ready but not yet due: retries after a backoff.
CREATE INDEX tasks_delayed ON tasks (available_at) WHERE status = 'ready' AND available_at > created_at;

CREATE INDEX tasks_by_owner ON tasks (namespace, lease_owner) WHERE status = 'leased';

CREATE INDEX tasks_lease_expiry ON tasks (lease_expires_at) WHERE status = 'leased';

CREATE TABLE poll_receipts (
    namespace TEXT NOT NULL,
    worker_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    poll_request_id TEXT NOT NULL,
    binding TEXT NOT NULL,
    task_id TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    prune_at INTEGER NOT NULL,
    PRIMARY KEY (namespace, worker_id, kind, poll_request_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX poll_receipts_prune ON poll_receipts (prune_at);
