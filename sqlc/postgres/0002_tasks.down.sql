DROP TABLE poll_receipts;
DROP TABLE tasks;
