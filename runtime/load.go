package runtime

import (
	"context"

	"dwserver/runtime/rules"
	"dwserver/runtime/store"
)

// loadWaits loads the open waits, their timers and the received signals of a locked run, reading
// only what the run's counters say is there.
func loadWaits(ctx context.Context, tx store.Tx, run *rules.Run) (rules.Waits, error) {
	var waits rules.Waits
	var err error
	if run.OpenWaits > 0 {
		if waits.Open, err = tx.ListOpenWaits(ctx, run.RunID); err != nil {
			return waits, err
		}
		if run.OpenTimers > 0 {
			if waits.Timers, err = tx.ListOpenTimers(ctx, run.RunID); err != nil {
				return waits, err
			}
		}
	}
	if run.PendingSignals > 0 {
		waits.Signals, err = tx.ListReceivedSignals(ctx, run.RunID)
	}
	return waits, err
}

// loadOpen loads everything of a locked run that its close settles. Of a run without activities the one open
// task is its workflow task, which is usually locked already.
func loadOpen(ctx context.Context, tx store.Tx, l *store.Locked) (*rules.Open, error) {
	run := &l.Run
	waits, err := loadWaits(ctx, tx, run)
	if err != nil {
		return nil, err
	}
	open := &rules.Open{Waits: &waits}
	if run.OpenTimers > 0 && waits.Timers == nil {
		if waits.Timers, err = tx.ListOpenTimers(ctx, run.RunID); err != nil {
			return nil, err
		}
	}
	if run.OpenActivities > 0 {
		if open.Activities, err = tx.ListOpenActivities(ctx, run.RunID); err != nil {
			return nil, err
		}
	}
	switch {
	case run.OpenActivities > 0:
		open.Tasks, err = tx.ListOpenTasks(ctx, run.RunID)
	case run.WorkflowTaskID == "":
	case run.WorkflowTaskID == l.OpenTask.TaskID:
		open.Tasks = []rules.Task{l.OpenTask}
	case run.WorkflowTaskID == l.Task.TaskID:
		open.Tasks = []rules.Task{l.Task}
	default:
		open.Tasks, err = tx.ListOpenTasks(ctx, run.RunID)
	}
	return open, err
}

// timeOutRun closes a locked run whose deadline has passed (6.10).
func (e *Engine) timeOutRun(ctx context.Context, tx store.Tx, l *store.Locked) (*rules.Effects, error) {
	open, err := loadOpen(ctx, tx, l)
	if err != nil {
		return nil, err
	}
	t := e.begin(ctx, tx, l)
	t.TimeOutRun(open)
	return effects(t)
}
