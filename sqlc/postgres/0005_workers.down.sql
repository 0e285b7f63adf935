DROP TABLE workflow_definitions;
DROP TABLE worker_registrations;
DROP TABLE workers;
