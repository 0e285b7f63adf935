package sqlite

import (
	"context"
	"fmt"

	"dwserver/gen/sqlitedb"
	"dwserver/runtime/rules"
	"dwserver/runtime/store"
	"dwserver/runtime/store/rows"
)

// Apply implements store.Tx. Every row is one run of a prepared statement: inside the process
// that is as fast as multi-row statements, and bounds nothing by row count or size.
func (t *tx) Apply(_ context.Context, e *rules.Effects) error {
	if e.Empty() {
		return nil
	}
	if err := t.writing(); err != nil {
		return err
	}
	t.ahead.wrote(e)
	for _, write := range [...]func(*rules.Effects) error{
		t.applyRuns, t.applyEvents, t.applyTasks, t.applyActivities, t.applyAttempts, t.applyTimers,
		t.applyWaits, t.applySignals, t.applyCommands, t.applyWorkers, t.applyReceipts,
	} {
		if err := write(e); err != nil {
			return err
		}
	}
	return nil
}

// put reports a statement's error with the row it was for.
func (t *tx) put(table, id string, err error) error {
	if err = t.end(err); err != nil {
		return fmt.Errorf("%s %s: %w", table, id, err)
	}
	return nil
}

// set is put for a guarded update: no row means that the guard did not hold.
func (t *tx) set(table, id string, n int64, err error) error {
	if err == nil && n == 0 {
		return fmt.Errorf("%s %s: %w", table, id, store.ErrConflict)
	}
	return t.put(table, id, err)
}

func (t *tx) applyRuns(e *rules.Effects) error {
	if i := e.NewInstance; i != nil {
		err := t.q.InstanceInsert(t.ctx, sqlitedb.InstanceInsertParams(*i))
		if err = t.put("instance", i.WorkflowID, err); err != nil {
			return err
		}
	}
	if i := e.Instance; i != nil {
		n, err := t.q.InstanceUpdate(t.ctx, sqlitedb.InstanceUpdateParams(rows.UpdateInstance(i)))
		if err = t.set("instance", i.WorkflowID, n, err); err != nil {
			return err
		}
	}
	if e.Run != nil {
		if err := t.updateRun(e.Run, e.RunBase); err != nil {
			return err
		}
	}
	for i := range e.Joined {
		if err := t.updateRun(&e.Joined[i].Run, e.Joined[i].Base); err != nil {
			return err
		}
	}
	for i := range e.NewRuns {
		err := t.q.RunInsert(t.ctx, sqlitedb.RunInsertParams(rows.Run(e.NewRuns[i])))
		if err = t.put("run", e.NewRuns[i].RunID, err); err != nil {
			return err
		}
		wrote(t.cache, &t.cache.runs, e.NewRuns[i].RunID, e.NewRuns[i])
	}
	for i := range e.NewInputs {
		err := t.q.RunInputInsert(t.ctx, sqlitedb.RunInputInsertParams(rows.RunInput(e.NewInputs[i])))
		if err = t.put("runinput", e.NewInputs[i].RunID, err); err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) updateRun(r *rules.Run, base int64) error {
	u := rows.UpdateRun(r, base)
	n, err := t.q.RunUpdate(t.ctx, sqlitedb.RunUpdateParams(u))
	if err = t.set("run", r.RunID, n, err); err != nil {
		return err
	}
	changed(t.cache, &t.cache.runs, r.RunID, u.Onto)
	return nil
}

func (t *tx) applyEvents(e *rules.Effects) error {
	for i := range e.Events {
		err := t.q.EventInsert(t.ctx, sqlitedb.EventInsertParams(rows.Event(e.Events[i])))
		if err = t.put("event", e.Events[i].EventID, err); err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) applyTasks(e *rules.Effects) error {
	for i := range e.NewTasks {
		err := t.q.TaskInsert(t.ctx, sqlitedb.TaskInsertParams(rows.Task(e.NewTasks[i])))
		if err = t.put("task", e.NewTasks[i].TaskID, err); err != nil {
			return err
		}
		wrote(t.cache, &t.cache.tasks, e.NewTasks[i].TaskID, e.NewTasks[i])
	}
	for i := range e.Tasks {
		u := rows.UpdateTask(&e.Tasks[i])
		n, err := t.q.TaskUpdate(t.ctx, sqlitedb.TaskUpdateParams(u))
		if err = t.set("task", e.Tasks[i].TaskID, n, err); err != nil {
			return err
		}
		changed(t.cache, &t.cache.tasks, e.Tasks[i].TaskID, u.Onto)
	}
	return nil
}
