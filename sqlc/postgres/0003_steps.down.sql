DROP TABLE waits;
DROP TABLE timers;
DROP TABLE activity_attempts;
DROP TABLE activities;
