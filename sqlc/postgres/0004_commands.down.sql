DROP TABLE command_requests;
DROP TABLE commands;
DROP TABLE signals;
