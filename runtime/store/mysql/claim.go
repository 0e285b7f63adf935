package mysql

import (
	"cmp"
	"context"
	"errors"

	"dwserver/gen/mysqldb"
	"dwserver/runtime/rules"
	"dwserver/runtime/store"
	"dwserver/runtime/store/locking"
)

// Claim implements store.Tx. It passes over what others hold locked and does not wait, so that a
// transaction that holds a run may claim: the task is locked unless another claim has it, then its
// run unless another transition has that. No transition waits for a run while it holds a ready task.
// The first tasks in order are found without locks, and the first of them that no other transaction of this
// process is taking is locked by its id; only when another process was faster is there a search that locks.
//
// Where all candidates are taken, a transaction that holds no run starts again and then waits for
// the run of the first, rather than report an empty queue: nothing would wake its poll when the
// locks go. It waits with no more than a registration held, in the order that all transitions lock in.
func (t *tx) Claim(ctx context.Context, c store.Claim) (*store.Locked, error) {
	if t.first != "" && !t.locked {
		if err := t.waitFor(ctx, t.first); err != nil {
			return nil, err
		}
	}
	if l, err := t.claimTold(ctx, &c); l != nil || err != nil {
		return l, err
	}
	line, err := t.lineOf(ctx, &c)
	if err != nil || len(line.Tasks) == 0 {
		return nil, cmp.Or(err, store.ErrNotFound)
	}
	tasks := line.Tasks
	for i := range tasks {
		if !t.taking.Take(&t.s.takes, tasks[i].TaskID, line.Found) {
			continue
		}
		l, err := t.claimTask(ctx, &c, &tasks[i])
		if errors.Is(err, store.ErrNotFound) {
			l, err = t.search(ctx, c, tasks)
		}
		if !errors.Is(err, store.ErrNotFound) {
			return l, err
		}
		break
	}
	switch {
	case t.locked:
		return nil, store.ErrNotFound
	case t.settle:
		return nil, store.ErrCrowded
	}
	return nil, t.note(locking.Busy{TaskID: tasks[0].TaskID})
}

// claimTold is the task that the claim was told of, nil when it is not to be had and a search has to find another.
func (t *tx) claimTold(ctx context.Context, c *store.Claim) (*store.Locked, error) {
	if c.Found == nil || t.first != "" {
		return nil, nil
	}
	if !t.taking.Take(&t.s.takes, c.Found.TaskID, c.Found.Moment) {
		return nil, store.ErrTaken
	}
	l, err := t.claimTask(ctx, c, locking.PlaceOf(c))
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	return l, err
}

// claimTask locks a task that was found, if it still is claimable, and its run.
func (t *tx) claimTask(ctx context.Context, c *store.Claim, place *locking.Place) (*store.Locked, error) {
	l := &store.Locked{}
	err := t.read(ctx, func(q *mysqldb.Queries) error {
		task, err := q.TaskLockHead(ctx, place.TaskID)
		l.Task = rules.Task(task)
		return err
	})
	if err == nil && !c.Admits(&l.Task) {
		err = store.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	return t.lockFound(ctx, l)
}

// search locks the first free task of the types and builds that have any.
func (t *tx) search(ctx context.Context, c store.Claim, places []locking.Place) (*store.Locked, error) {
	for _, way := range locking.Lanes(places) {
		found, err := t.firstFree(ctx, c, way)
		l := &store.Locked{}
		if err == nil {
			l.Task, err = t.GetTask(ctx, found.TaskID)
		}
		if err == nil {
			l, err = t.lockFound(ctx, l)
		}
		if !errors.Is(err, store.ErrNotFound) {
			return l, err
		}
	}
	return nil, store.ErrNotFound
}

// Head implements store.Tx. What other transactions of this process are taking is passed over.
func (t *tx) Head(ctx context.Context, c store.Claim) (store.Head, error) {
	line, err := t.lineOf(ctx, &c)
	if err != nil {
		return store.Head{}, err
	}
	return line.Head(&t.s.takes)
}

// firstFree locks the first task of a type and build that no other claim has.
func (t *tx) firstFree(ctx context.Context, c store.Claim, way locking.Lane) (row mysqldb.TaskFindClaimableRow, err error) {
	err = t.read(ctx, func(q *mysqldb.Queries) (err error) {
		row, err = q.TaskFindClaimable(ctx, mysqldb.TaskFindClaimableParams{
			Namespace: c.Namespace, TaskQueue: c.TaskQueue, Kind: c.Kind, TypeName: way.TypeName,
			Compatibility: way.Build, Now: c.Now, ProtocolMinor: c.ProtocolMinor,
		})
		return err
	})
	return row, err
}

// lockFound locks the run of a locked task and loads what belongs to it; ErrNotFound when
// another transition has the run.
func (t *tx) lockFound(ctx context.Context, l *store.Locked) (*store.Locked, error) {
	err := t.read(ctx, func(q *mysqldb.Queries) error {
		run, err := q.RunLockFree(ctx, l.Task.RunID)
		l.Run = rules.Run(run)
		return err
	})
	if err != nil {
		return nil, err
	}
	t.s.queue.Remember(l.Task.TaskID, l.Run.RunID)
	return t.whole(ctx, l, l.Task.Kind, "")
}
