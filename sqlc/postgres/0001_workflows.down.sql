DROP TABLE history_events;
DROP TABLE workflow_run_inputs;
DROP TABLE workflow_runs;
DROP TABLE workflow_instances;
DROP TABLE namespaces;
