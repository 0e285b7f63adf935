package postgres

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"dwserver/gen/pgdb"
	"dwserver/runtime/rules"
	"dwserver/runtime/store"
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

// hold keeps what a generated write sends for the next round trip.
func (t *tx) hold(fn func(*pgdb.Queries) error) {
	var rec recorder
	_ = fn(pgdb.New(&rec)) // records; nothing is sent
	t.wrote = true
	t.held = append(t.held, batch.Write{SQL: rec.sql, Args: rec.args})
}

// each holds one write for every row of a list.
func each[R any](t *tx, list []R, fn func(*pgdb.Queries, *R) error) {
	for i := range list {
		t.hold(func(q *pgdb.Queries) error { return fn(q, &list[i]) })
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

// noteTasks remembers which queues get work by these effects, and whose tasks they are.
func (t *tx) noteTasks(e *rules.Effects) {
	for _, list := range [...][]rules.Task{e.NewTasks, e.Tasks} {
		for i := range list {
			task := &list[i]
			t.s.queue.Remember(task.TaskID, task.RunID)
			if task.Status == rules.TaskReady {
				t.wakes = append(t.wakes, store.Wake{Namespace: task.Namespace, TaskQueue: task.TaskQueue,
					Kind: task.Kind, TypeName: task.TypeName, AvailableAt: task.AvailableAt})
			}
		}
	}
}

func (t *tx) applyRuns(e *rules.Effects) {
	if i := e.NewInstance; i != nil {
		t.hold(func(q *pgdb.Queries) error { return q.InstanceInsert(t.ctx, pgdb.InstanceInsertParams(*i)) })
	}
	if i := e.Instance; i != nil {
		t.hold(func(q *pgdb.Queries) error {
			return q.InstanceUpdate(t.ctx, pgdb.InstanceUpdateParams(rows.UpdateInstance(i)))
		})
	}
	if r := e.Run; r != nil {
		t.hold(func(q *pgdb.Queries) error {
			return q.RunUpdate(t.ctx, pgdb.RunUpdateParams(rows.UpdateRun(r, e.RunBase)))
		})
	}
	each(t, e.Joined, func(q *pgdb.Queries, r *rules.JoinedRun) error {
		return q.RunUpdate(t.ctx, pgdb.RunUpdateParams(rows.UpdateRun(&r.Run, r.Base)))
	})
	each(t, e.NewRuns, func(q *pgdb.Queries, r *rules.Run) error {
		return q.RunInsert(t.ctx, pgdb.RunInsertParams(rows.Run(*r)))
	})
	each(t, e.NewInputs, func(q *pgdb.Queries, r *rules.RunInput) error {
		return q.RunInputInsert(t.ctx, pgdb.RunInputInsertParams(rows.RunInput(*r)))
	})
	each(t, e.Events, func(q *pgdb.Queries, r *rules.Event) error {
		return q.EventInsert(t.ctx, pgdb.EventInsertParams(rows.Event(*r)))
	})
}

func (t *tx) applyTasks(e *rules.Effects) {
	each(t, e.NewTasks, func(q *pgdb.Queries, r *rules.Task) error {
		return q.TaskInsert(t.ctx, pgdb.TaskInsertParams(rows.Task(*r)))
	})
	each(t, sorted(e.Tasks, byTaskID), func(q *pgdb.Queries, r *rules.Task) error {
		return q.TaskUpdate(t.ctx, pgdb.TaskUpdateParams(rows.UpdateTask(r)))
	})
}
