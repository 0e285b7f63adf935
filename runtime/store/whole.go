package store

import (
	"fmt"

	"dwserver/runtime/rules"
)

// Whole returns ErrBroken when a row that another of the loaded rows names is missing: that is
// damaged state, and neither an unknown task nor an empty queue. With a workflow task the run's open task
// is not looked for: it is that one, or of no interest. kind is that of the task which was asked for; what
// a task of another kind names was not loaded.
func (l *Locked) Whole(kind string) error {
	if kind != "" && l.Task.Kind != kind {
		return nil
	}
	for _, ref := range [...]struct{ table, id, found string }{
		{"run", l.Task.RunID, l.Run.RunID},
		{"activity", l.Task.ActivityExecutionID, l.Activity.ExecutionID},
		{"task", l.Run.WorkflowTaskID, l.OpenTask.TaskID},
	} {
		if ref.table == "task" && kind == rules.KindWorkflow {
			continue
		}
		if ref.id != "" && ref.found == "" {
			return Missing(ref.table, ref.id)
		}
	}
	return nil
}

// Missing is the error for a row that is named by another and not there.
func Missing(table, id string) error {
	return fmt.Errorf("%w: %s %s is missing", ErrBroken, table, id)
}
