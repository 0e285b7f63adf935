package mysql

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"slices"
	"strings"

	"dwserver/gen/mysqldb"
	"dwserver/runtime/rules"
	"dwserver/runtime/store/batch"
	"dwserver/runtime/store/rows"
)

// Apply implements store.Tx. The writes are held back; a conflict shows at the next read, or at the
// end of the transition.
func (t *tx) Apply(_ context.Context, e *rules.Effects) error {
	if t.fault != nil {
		return t.fault
	}
	for _, apply := range [...]func(*rules.Effects){
		t.applyRuns, t.applyTasks, t.applyActivities, t.applyAttempts, t.applyTimers,
		t.applyWaits, t.applySignals, t.applyCommands, t.applyWorkers, t.applyReceipts,
	} {
		apply(e)
	}
	t.noteTasks(e)
	t.ahead.Wrote(e)
	if e.Worker != nil || e.RemoveWorker != nil {
		t.worker = nil
	}
	return nil
}

// hold keeps what a generated write would send until something is read, or the end.
func (t *tx) hold(fn func(*mysqldb.Queries) error) {
	var rec recorder
	_ = fn(mysqldb.New(&rec)) // records; nothing is sent
	t.held = append(t.held, rec.write)
}

// affected passes a guarded write that is only recorded; its rows are counted when it is sent.
func affected(_ int64, err error) error { return err }

// recorder implements mysqldb.DBTX and notes the one write it is given.
type recorder struct {
	link
	write batch.Write
}

func (r *recorder) ExecContext(_ context.Context, text string, args ...any) (sql.Result, error) {
	r.write = batch.Write{SQL: text, Args: args}
	return driver.RowsAffected(0), nil
}

// each holds one write for every row of a list.
func each[R any](t *tx, list []R, fn func(*mysqldb.Queries, *R) error) {
	for i := range list {
		t.hold(func(q *mysqldb.Queries) error { return fn(q, &list[i]) })
	}
}

// Rows that transactions of several runs or workers write are written in one order, so that none
// waits for another that waits for it.
func byTaskID(a, b rules.Task) int { return strings.Compare(a.TaskID, b.TaskID) }

func byDefinition(a, b rules.Definition) int {
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.WorkflowType, b.WorkflowType))
}

// sorted is the list in order; the list itself is left as it is.
func sorted[R any](list []R, order func(a, b R) int) []R {
	if len(list) < 2 || slices.IsSortedFunc(list, order) {
		return list
	}
	return slices.SortedFunc(slices.Values(list), order)
}

// noteTasks remembers whose tasks these are.
func (t *tx) noteTasks(e *rules.Effects) {
	for i := range e.NewTasks {
		t.s.queue.Remember(e.NewTasks[i].TaskID, e.NewTasks[i].RunID)
	}
}

func (t *tx) applyRuns(e *rules.Effects) {
	if i := e.NewInstance; i != nil {
		t.hold(func(q *mysqldb.Queries) error { return q.InstanceInsert(t.ctx, mysqldb.InstanceInsertParams(*i)) })
	}
	if i := e.Instance; i != nil {
		t.hold(func(q *mysqldb.Queries) error {
			return affected(q.InstanceUpdate(t.ctx, mysqldb.InstanceUpdateParams(rows.UpdateInstance(i))))
		})
	}
	if r := e.Run; r != nil {
		t.hold(func(q *mysqldb.Queries) error {
			return affected(q.RunUpdate(t.ctx, mysqldb.RunUpdateParams(rows.UpdateRun(r, e.RunBase))))
		})
	}
	each(t, e.Joined, func(q *mysqldb.Queries, r *rules.JoinedRun) error {
		return affected(q.RunUpdate(t.ctx, mysqldb.RunUpdateParams(rows.UpdateRun(&r.Run, r.Base))))
	})
	each(t, e.NewRuns, func(q *mysqldb.Queries, r *rules.Run) error {
		return q.RunInsert(t.ctx, mysqldb.RunInsertParams(rows.Run(*r)))
	})
	each(t, e.NewInputs, func(q *mysqldb.Queries, r *rules.RunInput) error {
		return q.RunInputInsert(t.ctx, mysqldb.RunInputInsertParams(rows.RunInput(*r)))
	})
	each(t, e.Events, func(q *mysqldb.Queries, r *rules.Event) error {
		return q.EventInsert(t.ctx, mysqldb.EventInsertParams(rows.Event(*r)))
	})
}

func (t *tx) applyTasks(e *rules.Effects) {
	each(t, e.NewTasks, func(q *mysqldb.Queries, r *rules.Task) error {
		return q.TaskInsert(t.ctx, mysqldb.TaskInsertParams(rows.Task(*r)))
	})
	each(t, sorted(e.Tasks, byTaskID), func(q *mysqldb.Queries, r *rules.Task) error {
		return affected(q.TaskUpdate(t.ctx, mysqldb.TaskUpdateParams(rows.UpdateTask(r))))
	})
}
