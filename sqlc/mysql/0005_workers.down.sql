DROP TABLE IF EXISTS workflow_definitions;
DROP TABLE IF EXISTS worker_registrations;
DROP TABLE IF EXISTS workers;
