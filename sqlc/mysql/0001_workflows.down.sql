DROP TABLE IF EXISTS history_events;
DROP TABLE IF EXISTS workflow_run_inputs;
DROP TABLE IF EXISTS workflow_runs;
DROP TABLE IF EXISTS workflow_instances;
DROP TABLE IF EXISTS namespaces;
