CREATE TABLE workers (
    namespace TEXT COLLATE "C" NOT NULL,
    worker_id TEXT COLLATE "C" NOT NULL,
    generation BIGINT NOT NULL,
    registration_token TEXT COLLATE "C" NOT NULL,
    task_queue TEXT COLLATE "C" NOT NULL,
    runtime TEXT COLLATE "C" NOT NULL,
    sdk_version TEXT COLLATE "C" NOT NULL,
    build_id TEXT COLLATE "C" NOT NULL,
    status TEXT COLLATE "C" NOT NULL,
    protocol_minor BIGINT NOT NULL,
    workflow_types BYTEA NOT NULL,
    activity_types BYTEA NOT NULL,
    capabilities BYTEA NOT NULL,
    capability_manifest BYTEA NOT NULL,
    fingerprints BYTEA NOT NULL,
    max_workflow_tasks BIGINT NOT NULL,
    max_activity_tasks BIGINT NOT NULL,
    max_sessions BIGINT NOT NULL,
    task_slots BYTEA NOT NULL,
    process_metrics BYTEA NOT NULL,
    process_identity TEXT COLLATE "C" NOT NULL,
    heartbeat_interval BIGINT NOT NULL,
    last_seen_at BIGINT NOT NULL,
    registered_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (namespace, worker_id)
) WITH (fillfactor = 50);

CREATE TABLE worker_registrations (
    token TEXT COLLATE "C" NOT NULL,
    namespace TEXT COLLATE "C" NOT NULL,
    worker_id TEXT COLLATE "C" NOT NULL,
    state TEXT COLLATE "C" NOT NULL,
    recovered_count BIGINT NOT NULL,
    ended_at BIGINT NOT NULL,
    PRIMARY KEY (token)
);

CREATE INDEX worker_registrations_ended ON worker_registrations (ended_at) WHERE ended_at > 0;

CREATE TABLE workflow_definitions (
    namespace TEXT COLLATE "C" NOT NULL,
    workflow_type TEXT COLLATE "C" NOT NULL,
    contract BYTEA NOT NULL,
    fingerprint TEXT COLLATE "C" NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (namespace, workflow_type)
);
