package sqlite

import (
	"context"

	"dwserver/gen/sqlitedb"
	"dwserver/runtime/store"
)

// Claim implements store.Tx: one index seek per type and build, the best candidate wins.
func (t *tx) Claim(ctx context.Context, c store.Claim) (*store.Locked, error) {
	head, err := t.Head(ctx, c)
	if err != nil {
		return nil, err
	}
	task, err := t.GetTask(ctx, head.TaskID)
	if err != nil {
		return nil, err
	}
	run, err := t.lockRun(task.RunID, func() (sqlitedb.WorkflowRun, error) { return t.q.RunLock(t.ctx, task.RunID) })
	if err := absent(err); err != nil {
		return nil, err
	}
	return t.whole(ctx, &store.Locked{Task: task, Run: run}, task.Kind, "")
}

// Head implements store.Tx: one seek a type and build.
func (r *reads) Head(ctx context.Context, c store.Claim) (store.Head, error) {
	var best sqlitedb.TaskFindClaimableRow
	builds := [2]string{"", c.BuildID}
	n := 2
	if c.BuildID == "" {
		n = 1
	}
	for _, typeName := range c.TypeNames {
		for _, build := range builds[:n] {
			row, err := r.q.TaskFindClaimable(r.during(ctx), sqlitedb.TaskFindClaimableParams{
				Namespace: c.Namespace, TaskQueue: c.TaskQueue, Kind: c.Kind, TypeName: typeName,
				Compatibility: build, Now: c.Now, ProtocolMinor: c.ProtocolMinor,
			})
			if err := absent(r.end(err)); err != nil {
				return store.Head{}, err
			}
			if row.TaskID != "" && (best.TaskID == "" || before(row, best)) {
				best = row
			}
		}
	}
	if best.TaskID == "" {
		return store.Head{}, store.ErrNotFound
	}
	return store.Head{Priority: best.Priority, OrderAt: best.OrderAt, TaskID: best.TaskID, RunID: best.RunID}, nil
}

// before is claim order.
func before(a, b sqlitedb.TaskFindClaimableRow) bool {
	if a.Priority != b.Priority {
		return a.Priority < b.Priority
	}
	if a.OrderAt != b.OrderAt {
		return a.OrderAt < b.OrderAt
	}
	return a.TaskID < b.TaskID
}
