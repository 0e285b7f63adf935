package check

// corruption breaks one invariant by SQL. pick finds the id that the statements name as :id.
type corruption struct {
	invariant  string
	pick       string
	others     bool // what is found names other ids than the picked one
	statements []string
}

func broken(invariant, pick string, statements ...string) corruption {
	return corruption{invariant: invariant, pick: pick, statements: statements}
}

func elsewhere(c corruption) corruption {
	c.others = true
	return c
}

const (
	anyRun       = "SELECT MAX(run_id) FROM workflow_runs"
	openRun      = "SELECT MAX(run_id) FROM workflow_runs WHERE status = 'waiting'"
	closedRun    = "SELECT MAX(run_id) FROM workflow_runs WHERE status = 'completed'"
	anyInstance  = "SELECT MAX(workflow_id) FROM workflow_instances"
	readyTask    = "SELECT MAX(task_id) FROM tasks WHERE status = 'ready'"
	leasedTask   = "SELECT MAX(task_id) FROM tasks WHERE status = 'leased'"
	leasedActing = "SELECT MAX(task_id) FROM tasks WHERE status = 'leased' AND kind = 'activity'"
	workflowTask = "SELECT MAX(task_id) FROM tasks WHERE status = 'ready' AND kind = 'workflow'"
	doneActivity = "SELECT MAX(execution_id) FROM activities WHERE status = 'completed' AND is_local = 0"
	openActivity = "SELECT MAX(execution_id) FROM activities WHERE status = 'pending'"
	pendingTimer = "SELECT MAX(timer_id) FROM timers WHERE status = 'pending'"
	anySignal    = "SELECT MAX(signal_id) FROM signals"
	anyToken     = "SELECT MAX(token) FROM worker_registrations WHERE state = 'active'"
)

var corruptions = []corruption{
	broken("instance_runs", anyInstance, "UPDATE workflow_instances SET run_count = run_count + 1 WHERE workflow_id = :id"),
	broken("instance_runs", anyInstance, "UPDATE workflow_instances SET current_run_id = 'x' WHERE workflow_id = :id"),
	broken("run_without_instance", anyInstance, "DELETE FROM workflow_instances WHERE workflow_id = :id"),
	broken("run_open_in_the_past", "SELECT MAX(run_id) FROM workflow_runs WHERE closed_reason = 'continued'",
		"UPDATE workflow_runs SET status = 'waiting' WHERE run_id = :id"),
	broken("run_continued_from", "SELECT MAX(run_id) FROM workflow_runs WHERE run_number > 1",
		"UPDATE workflow_runs SET continued_from_run_id = '' WHERE run_id = :id"),
	elsewhere(broken("namespace_missing", "SELECT MIN(namespace) FROM workflow_runs", "DELETE FROM namespaces WHERE name = :id")),

	broken("run_status", openRun, "UPDATE workflow_runs SET closed_at = 1 WHERE run_id = :id"),
	broken("run_status", closedRun, "UPDATE workflow_runs SET closed_reason = '' WHERE run_id = :id"),
	broken("run_status", closedRun, "UPDATE workflow_runs SET closed_event_sequence = 1 WHERE run_id = :id"),
	broken("run_deadline", closedRun, "UPDATE workflow_runs SET deadline_at = 7 WHERE run_id = :id"),
	broken("run_deadline", openRun, "UPDATE workflow_runs SET deadline_at = 7 WHERE run_id = :id"),
	broken("run_input", anyRun, "DELETE FROM workflow_run_inputs WHERE run_id = :id"),
	broken("run_input", anyRun, "DELETE FROM workflow_runs WHERE run_id = :id"),
	broken("run_without_history", anyRun, "DELETE FROM history_events WHERE run_id = :id"),
	broken("run_open_activities", openRun, "UPDATE workflow_runs SET open_activities = open_activities + 1 WHERE run_id = :id"),
	broken("run_open_timers", openRun, "UPDATE workflow_runs SET open_timers = open_timers + 1 WHERE run_id = :id"),
	broken("run_open_waits", openRun, "UPDATE workflow_runs SET open_waits = open_waits + 1 WHERE run_id = :id"),
	broken("run_pending_signals", openRun, "UPDATE workflow_runs SET pending_signals = pending_signals + 1 WHERE run_id = :id"),
	elsewhere(broken("run_workflow_task", workflowTask, "UPDATE tasks SET status = 'completed' WHERE task_id = :id")),
	broken("run_workflow_task", "SELECT MAX(workflow_task_id) FROM workflow_runs",
		"UPDATE workflow_runs SET workflow_task_id = '' WHERE workflow_task_id = :id"),
	broken("run_workflow_task", closedRun, "UPDATE workflow_runs SET workflow_task_id = 'x' WHERE run_id = :id"),
	broken("run_pending_wake", closedRun, "UPDATE workflow_runs SET pending_wake = :blob WHERE run_id = :id"),
	broken("run_missed_outcome",
		"SELECT MAX(r.run_id) FROM workflow_runs r JOIN activities a ON a.run_id = r.run_id AND a.status = 'completed' "+
			"AND a.is_local = 0 AND LENGTH(a.parallel) = 0 WHERE r.status = 'waiting'",
		"UPDATE workflow_runs SET workflow_task_id = '' WHERE run_id = :id",
		"UPDATE tasks SET claimed_sequence = 1 WHERE run_id = :id AND kind = 'workflow'"),
	broken("run_missed_signal",
		"SELECT MAX(r.run_id) FROM workflow_runs r JOIN signals s ON s.run_id = r.run_id AND s.status = 'received' "+
			"JOIN waits w ON w.run_id = r.run_id AND w.status = 'open' AND (w.kind = 'condition' OR w.wait_id = s.wait_id)",
		"UPDATE workflow_runs SET workflow_task_id = '' WHERE run_id = :id",
		"UPDATE tasks SET claimed_sequence = 1 WHERE run_id = :id AND kind = 'workflow'"),

	broken("task_without_run", readyTask, "UPDATE tasks SET run_id = 'x' WHERE task_id = :id"),
	broken("task_without_run", readyTask, "UPDATE tasks SET workflow_id = 'x' WHERE task_id = :id"),
	broken("task_status", readyTask, "UPDATE tasks SET lease_owner = 'w' WHERE task_id = :id"),
	broken("task_status", readyTask, "UPDATE tasks SET lease_expires_at = 7 WHERE task_id = :id"),
	broken("task_status", readyTask, "UPDATE tasks SET receipt = :blob WHERE task_id = :id"),
	broken("task_status", leasedTask, "UPDATE tasks SET attempt_count = 0 WHERE task_id = :id"),
	broken("task_status", workflowTask, "UPDATE tasks SET activity_execution_id = 'a' WHERE task_id = :id"),
	broken("task_of_a_closed_run", "SELECT MAX(t.task_id) FROM tasks t JOIN workflow_runs r ON r.run_id = t.run_id WHERE r.status = 'completed'",
		"UPDATE tasks SET status = 'ready' WHERE task_id = :id"),
	broken("task_claimed_sequence", leasedTask, "UPDATE tasks SET claimed_sequence = 1000000 WHERE task_id = :id"),
	broken("task_claimed_sequence", leasedTask, "UPDATE tasks SET claimed_sequence = 0 WHERE task_id = :id"),
	broken("task_of_an_activity", leasedActing, "UPDATE tasks SET status = 'ready' WHERE task_id = :id"),
	broken("task_of_an_activity", leasedActing, "UPDATE activities SET task_id = 'x' WHERE task_id = :id"),
	broken("task_attempt", leasedActing, "UPDATE activity_attempts SET status = 'expired' WHERE task_id = :id"),
	broken("task_attempt", leasedActing, "UPDATE tasks SET lease_owner = 'x' WHERE task_id = :id"),
	broken("task_leased_to_nobody", leasedTask,
		"UPDATE tasks SET lease_generation = lease_generation + 1, lease_expires_at = 9000000000000000000 WHERE task_id = :id"),
	broken("task_leased_to_nobody", leasedTask,
		"UPDATE tasks SET lease_owner = 'x', lease_expires_at = 9000000000000000000 WHERE task_id = :id"),

	broken("activity_without_run", doneActivity, "UPDATE activities SET run_id = 'x' WHERE execution_id = :id"),
	broken("activity_status", doneActivity, "UPDATE activities SET closed_event_sequence = 1 WHERE execution_id = :id"),
	broken("activity_status", doneActivity, "UPDATE activities SET status = 'failed' WHERE execution_id = :id"),
	broken("activity_status", openActivity, "UPDATE activities SET closed_at = 7 WHERE execution_id = :id"),
	broken("activity_scheduled", doneActivity, "UPDATE activities SET scheduled_event = 1 WHERE execution_id = :id"),
	broken("activity_sequence", "SELECT MAX(run_id) FROM activities GROUP BY run_id HAVING COUNT(*) > 1", "UPDATE activities SET sequence = 1 WHERE run_id = :id"),
	broken("activity_task", openActivity, "UPDATE activities SET task_id = 'x' WHERE execution_id = :id"),
	broken("activity_task", openActivity, "UPDATE tasks SET status = 'completed' WHERE activity_execution_id = :id"),
	broken("activity_attempts", doneActivity, "UPDATE activities SET attempt_count = attempt_count + 1 WHERE execution_id = :id"),
	broken("activity_attempts", doneActivity, "DELETE FROM activity_attempts WHERE execution_id = :id"),
	broken("activity_attempts", "SELECT MAX(execution_id) FROM activity_attempts WHERE attempt_number = 2",
		"UPDATE activity_attempts SET attempt_number = 2 WHERE execution_id = :id AND attempt_number = 1"),
	broken("activity_last_attempt", doneActivity, "UPDATE activity_attempts SET status = 'expired' WHERE execution_id = :id"),
	elsewhere(broken("activity_earlier_attempts", "SELECT MAX(execution_id) FROM activity_attempts WHERE attempt_number = 2",
		"UPDATE activity_attempts SET status = 'running' WHERE execution_id = :id AND attempt_number = 1")),
	broken("activity_due", openActivity, "UPDATE activities SET next_deadline_at = 7 WHERE execution_id = :id"),
	broken("activity_due", doneActivity, "UPDATE activities SET next_deadline_at = 7 WHERE execution_id = :id"),
	broken("attempt_of_nothing", "SELECT MAX(attempt_id) FROM activity_attempts",
		"UPDATE activity_attempts SET execution_id = 'x' WHERE attempt_id = :id"),
	broken("attempt_of_nothing", "SELECT MAX(attempt_id) FROM activity_attempts",
		"UPDATE activity_attempts SET task_id = 'x' WHERE attempt_id = :id"),
	broken("attempt_status", "SELECT MAX(attempt_id) FROM activity_attempts WHERE status = 'completed'",
		"UPDATE activity_attempts SET closed_at = 0 WHERE attempt_id = :id"),
	broken("attempt_status", "SELECT MAX(attempt_id) FROM activity_attempts WHERE outcome <> ''",
		"UPDATE activity_attempts SET receipt = :empty WHERE attempt_id = :id"),
	broken("attempt_status", "SELECT MAX(attempt_id) FROM activity_attempts",
		"UPDATE activity_attempts SET next_task_id = 'x' WHERE attempt_id = :id"),
	broken("attempt_starts", "SELECT MAX(run_id) FROM activity_attempts", "DELETE FROM activity_attempts WHERE run_id = :id"),

	broken("timer_without_run", pendingTimer, "UPDATE timers SET run_id = 'x' WHERE timer_id = :id"),
	broken("timer_due", pendingTimer, "UPDATE timers SET due_at = 7 WHERE timer_id = :id"),
	broken("timer_due", "SELECT MAX(timer_id) FROM timers WHERE status = 'fired'", "UPDATE timers SET due_at = fire_at WHERE timer_id = :id"),
	broken("timer_due", "SELECT MAX(timer_id) FROM timers WHERE status = 'fired'", "UPDATE timers SET closed_at = fire_at - 1 WHERE timer_id = :id"),
	broken("timer_sequence", "SELECT MAX(run_id) FROM timers GROUP BY run_id HAVING COUNT(*) > 1", "UPDATE timers SET sequence = 1 WHERE run_id = :id"),
	broken("timer_wait", "SELECT MAX(timer_id) FROM timers WHERE wait_id <> '' AND status = 'pending'",
		"UPDATE waits SET status = 'satisfied' WHERE timer_id = :id"),
	broken("timer_wait", "SELECT MAX(timer_id) FROM timers WHERE wait_id <> '' AND status = 'pending'",
		"UPDATE timers SET wait_id = 'x' WHERE timer_id = :id"),
	broken("wait_without_run", "SELECT MAX(wait_id) FROM waits", "UPDATE waits SET run_id = 'x' WHERE wait_id = :id"),
	broken("wait_status", "SELECT MAX(wait_id) FROM waits WHERE status = 'open'", "UPDATE waits SET closed_at = 7 WHERE wait_id = :id"),
	broken("wait_status", "SELECT MAX(wait_id) FROM waits", "UPDATE waits SET opened_sequence = 1 WHERE wait_id = :id"),
	broken("wait_sequence", "SELECT MAX(run_id) FROM waits GROUP BY run_id HAVING COUNT(*) > 1", "UPDATE waits SET sequence = 1 WHERE run_id = :id"),
	broken("wait_timer", "SELECT MAX(wait_id) FROM waits WHERE timer_id <> ''", "UPDATE waits SET timer_id = 'x' WHERE wait_id = :id"),
	broken("step_sequence", "SELECT MAX(a.run_id) FROM activities a JOIN timers t ON t.run_id = a.run_id AND t.wait_id = ''",
		"UPDATE timers SET sequence = 1000 WHERE run_id = :id AND wait_id = ''", "UPDATE activities SET sequence = 1000 WHERE run_id = :id"),

	broken("signal_of_nothing", anySignal, "UPDATE signals SET run_id = 'x' WHERE signal_id = :id"),
	broken("signal_of_nothing", anySignal, "UPDATE signals SET command_id = 'x' WHERE signal_id = :id"),
	broken("signal_status", anySignal, "UPDATE signals SET received_sequence = 1 WHERE signal_id = :id"),
	broken("signal_status", "SELECT MAX(signal_id) FROM signals WHERE status <> 'applied'",
		"UPDATE signals SET workflow_sequence = 1 WHERE signal_id = :id"),
	elsewhere(broken("signal_lost", anySignal, "DELETE FROM signals WHERE signal_id = :id")),
	elsewhere(broken("signal_arrivals", anySignal, "DELETE FROM signals WHERE signal_id = :id")),
	broken("command_of_nothing", "SELECT MAX(command_id) FROM commands", "UPDATE commands SET run_id = 'x' WHERE command_id = :id"),
	broken("command_sequence", "SELECT MAX(run_id) FROM commands WHERE sequence = 2", "UPDATE commands SET sequence = 1 WHERE run_id = :id"),
	broken("command_in_vain", "SELECT MAX(run_id) FROM workflow_runs WHERE status = 'cancelled'",
		"UPDATE workflow_runs SET status = 'waiting' WHERE run_id = :id"),
	broken("command_request", "SELECT MAX(command_id) FROM command_requests", "DELETE FROM commands WHERE command_id = :id"),

	broken("poll_receipt", "SELECT MAX(task_id) FROM poll_receipts", "UPDATE poll_receipts SET attempt = attempt + 1000 WHERE task_id = :id"),
	broken("poll_receipt", "SELECT MAX(task_id) FROM poll_receipts", "DELETE FROM tasks WHERE task_id = :id"),
	broken("poll_receipts_of_a_lease", "SELECT MAX(task_id) FROM poll_receipts",
		"INSERT INTO poll_receipts (namespace, worker_id, kind, poll_request_id, binding, task_id, attempt, prune_at) "+
			"SELECT namespace, worker_id, kind, 'another', binding, task_id, attempt, prune_at FROM poll_receipts WHERE task_id = :id"),
	elsewhere(broken("worker_registration", anyToken, "UPDATE worker_registrations SET state = 'superseded' WHERE token = :id")),
	elsewhere(broken("worker_registration", anyToken, "UPDATE workers SET registration_token = 'x' WHERE registration_token = :id")),
	broken("registration_of_nobody", anyToken, "UPDATE worker_registrations SET ended_at = 7 WHERE token = :id"),
	broken("registration_of_nobody", anyToken, "DELETE FROM workers WHERE registration_token = :id"),

	broken("event_of_nothing", anyRun, "DELETE FROM workflow_runs WHERE run_id = :id"),
	broken("event_task", "SELECT MAX(workflow_task_id) FROM history_events", "DELETE FROM tasks WHERE task_id = :id"),
	broken("event_command", "SELECT MAX(workflow_command_id) FROM history_events", "DELETE FROM commands WHERE command_id = :id"),
	elsewhere(broken("event_id", anyRun, "UPDATE history_events SET event_id = 'x' WHERE run_id = :id")),

	broken("history_sequence", anyRun, "DELETE FROM history_events WHERE run_id = :id AND sequence = 2"),
	broken("history_sequence", anyRun, "UPDATE workflow_runs SET last_history_sequence = last_history_sequence + 1 WHERE run_id = :id"),
	broken("history_document", anyRun, "UPDATE history_events SET payload = :blob WHERE run_id = :id AND sequence = 2"),
	broken("history_size", anyRun, "UPDATE workflow_runs SET history_size_bytes = history_size_bytes + 1 WHERE run_id = :id"),
	broken("history_steps", anyRun, "UPDATE workflow_runs SET last_step_sequence = last_step_sequence + 1 WHERE run_id = :id"),
	broken("history_start", anyRun, "UPDATE history_events SET event_type = 'WorkflowStarted' WHERE run_id = :id AND sequence = 1"),
	broken("history_start", "SELECT MAX(run_id) FROM history_events WHERE sequence = 3",
		"UPDATE history_events SET event_type = 'WorkflowStarted' WHERE run_id = :id AND sequence = 3"),
	broken("history_close", closedRun, "DELETE FROM history_events WHERE run_id = :id AND event_type = 'WorkflowCompleted'"),
	broken("history_close", closedRun, "UPDATE workflow_runs SET status = 'failed' WHERE run_id = :id"),
	broken("step_scheduled", "SELECT MAX(run_id) FROM history_events WHERE event_type = 'ActivityScheduled'",
		"UPDATE history_events SET event_type = 'ActivityHeartbeatRecorded' WHERE run_id = :id AND event_type = 'ActivityScheduled'"),
	broken("step_scheduled", "SELECT MAX(run_id) FROM history_events WHERE event_type = 'ActivityStarted'",
		"UPDATE history_events SET event_type = 'ActivityScheduled' WHERE run_id = :id AND event_type = 'ActivityStarted'"),
	broken("step_ended", "SELECT MAX(run_id) FROM history_events WHERE event_type = 'ActivityCompleted'",
		"UPDATE history_events SET event_type = 'ActivityCompleted' WHERE run_id = :id AND event_type = 'ActivityStarted'"),
	broken("step_attempts", "SELECT MAX(run_id) FROM history_events WHERE event_type = 'ActivityRetryScheduled'",
		"UPDATE history_events SET event_type = 'ActivityStarted' WHERE run_id = :id AND event_type = 'ActivityRetryScheduled'"),
}
