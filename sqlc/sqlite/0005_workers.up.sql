CREATE TABLE workers (
    namespace TEXT NOT NULL,
    worker_id TEXT NOT NULL,
    generation INTEGER NOT NULL,
    registration_token TEXT NOT NULL,
    task_queue TEXT NOT NULL,
    runtime TEXT NOT NULL,
    sdk_version TEXT NOT NULL,
    build_id TEXT NOT NULL,
    status TEXT NOT NULL,
    protocol_minor INTEGER NOT NULL,
    workflow_types BLOB NOT NULL,
    activity_types BLOB NOT NULL,
    capabilities BLOB NOT NULL,
    capability_manifest BLOB NOT NULL,
    fingerprints BLOB NOT NULL,
    max_workflow_tasks INTEGER NOT NULL,
    max_activity_tasks INTEGER NOT NULL,
    max_sessions INTEGER NOT NULL,
    task_slots BLOB NOT NULL,
    process_metrics BLOB NOT NULL,
    process_identity TEXT NOT NULL,
    heartbeat_interval INTEGER NOT NULL,
    last_seen_at INTEGER NOT NULL,
    registered_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (namespace, worker_id)
) STRICT;

CREATE TABLE worker_registrations (
    token TEXT NOT NULL,
    namespace TEXT NOT NULL,
    worker_id TEXT NOT NULL,
    state TEXT NOT NULL,
    recovered_count INTEGER NOT NULL,
    ended_at INTEGER NOT NULL,
    PRIMARY KEY (token)
) STRICT, WITHOUT ROWID;

CREATE INDEX worker_registrations_ended ON worker_registrations (ended_at) WHERE ended_at > 0;

CREATE TABLE workflow_definitions (
    namespace TEXT NOT NULL,
    workflow_type TEXT NOT NULL,
    contract BLOB NOT NULL,
    fingerprint TEXT NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (namespace, workflow_type)
) STRICT;
