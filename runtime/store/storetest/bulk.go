package storetest

import (
	"fmt"
	"strings"
)

// Dialect writes the few expressions that Bulk needs.
type Dialect struct {
	ID    func(prefix string) string // prefix and the seven digits of n
	Empty string                     // an empty document
}

// BulkRuns is how many runs Bulk makes, all but 1,000 of them closed.
const BulkRuns = 200_000

// Bulk returns the statements that fill an empty database: BulkRuns runs with an instance, a
// workflow task and an activity each. The newest 1,000 are open, with ready tasks.
func Bulk(d Dialect) []string {
	open := fmt.Sprintf("n >= %d", BulkRuns-1000)
	either := func(yes, no string) string { return "CASE WHEN " + open + " THEN " + yes + " ELSE " + no + " END" }
	const never = "9223372036854775807"
	return []string{
		fillTable("workflow_instances", [][2]string{
			{"workflow_id", d.ID("wf-")}, {"namespace", "'default'"}, {"workflow_type", "'type'"},
			{"current_run_id", d.ID("run-")}, {"run_count", "1"}, {"created_at", "n"}}),
		fillTable("workflow_runs", columnsOf("n", map[string]string{
			"run_id": d.ID("run-"), "workflow_id": d.ID("wf-"), "namespace": "'default'", "run_number": "1",
			"workflow_type": "'type'", "task_queue": "'queue'", "status": either("'running'", "'completed'"),
			"pending_wake": d.Empty, "workflow_task_id": d.ID("task-"), "deadline_at": either("n", never),
			"execution_deadline_at": never, "run_deadline_at": never,
		}, "run_id workflow_id namespace run_number workflow_type task_queue status workflow_task_id deadline_at pending_wake execution_deadline_at run_deadline_at",
			"closed_reason fairness_key compatibility business_key continued_from_run_id",
			"priority fairness_weight execution_timeout run_timeout last_history_sequence history_size_bytes last_step_sequence last_command_sequence message_position open_activities open_timers open_waits pending_signals min_protocol closed_event_sequence started_at closed_at last_progress_at")),
		fillTable("tasks", columnsOf("n", map[string]string{
			"task_id": d.ID("task-"), "run_id": d.ID("run-"), "workflow_id": d.ID("wf-"), "namespace": "'default'",
			"kind": "'workflow'", "task_queue": "'queue'", "type_name": "'type'", "status": either("'ready'", "'completed'"),
			"lease_owner": "'worker'", "lease_expires_at": never, "payload": d.Empty, "receipt": d.Empty, "created_at": "n",
		}, "task_id run_id workflow_id namespace kind task_queue type_name status lease_owner lease_expires_at payload receipt created_at",
			"fairness_key compatibility activity_execution_id activity_attempt_id last_error",
			"priority order_at available_at ready_at min_protocol attempt_count lease_generation leased_at claimed_sequence closed_at")),
		fillTable("activities", columnsOf("n", map[string]string{
			"execution_id": d.ID("act-"), "run_id": d.ID("run-"), "namespace": "'default'", "activity_type": "'type'",
			"task_queue": "'queue'", "status": either("'pending'", "'completed'"), "attempt_id": "''", "task_id": "''",
			"retry_policy": d.Empty, "parallel": d.Empty, "next_deadline_at": either("n", never),
		}, "execution_id run_id namespace activity_type task_queue status attempt_id task_id retry_policy parallel next_deadline_at",
			"", "sequence attempt_count scheduled_event schedule_deadline_at schedule_to_close_at close_deadline_at heartbeat_deadline_at created_at started_at last_heartbeat_at closed_at closed_event_sequence is_local")),
	}
}

// columnsOf gives the named columns their expressions, texts are empty and numbers n.
func columnsOf(n string, given map[string]string, named, texts, numbers string) (cols [][2]string) {
	for _, c := range strings.Fields(named) {
		cols = append(cols, [2]string{c, given[c]})
	}
	for _, c := range strings.Fields(texts) {
		cols = append(cols, [2]string{c, "''"})
	}
	for _, c := range strings.Fields(numbers) {
		cols = append(cols, [2]string{c, n})
	}
	return cols
}

// fillTable inserts BulkRuns rows, numbered n from 0.
func fillTable(table string, cols [][2]string) string {
	names, values := make([]string, len(cols)), make([]string, len(cols))
	for i, c := range cols {
		names[i], values[i] = c[0], c[1]
	}
	const digits = "(SELECT 0 AS i UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL " +
		"SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9)"
	return "INSERT INTO " + table + " (" + strings.Join(names, ", ") + ")\nSELECT " + strings.Join(values, ", ") +
		"\nFROM (SELECT a.i + 10 * b.i + 100 * c.i + 1000 * d.i + 10000 * e.i + 100000 * f.i AS n FROM " +
		digits + " a, " + digits + " b, " + digits + " c, " + digits + " d, " + digits + " e, (SELECT 0 AS i UNION ALL SELECT 1) f) numbers"
}
