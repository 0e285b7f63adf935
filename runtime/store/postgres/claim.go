package postgres

import (
	"cmp"
	"context"
	"errors"

	"dwserver/gen/pgdb"
	"dwserver/runtime/rules"
	"dwserver/runtime/store"
	"dwserver/runtime/store/locking"
)

// Claim implements store.Tx. It passes over what others hold locked and does not wait, so that a
// transaction that holds a run may claim. The first tasks in order are found without locks, and the first of
// them that no other transaction of this process is taking is then locked by its id: a search that locks would
// visit all that others hold. Only when another process was faster is there such a search.
//
// Where all candidates are locked, a transaction that holds
// none starts again and then waits for the run of the first, rather than report an empty queue:
// nothing would wake its poll when the locks go. It waits with no more than a registration held, in
// the order that all transitions lock in.
func (t *tx) Claim(ctx context.Context, c store.Claim) (*store.Locked, error) {
	if t.first != "" && !t.locked {
		if err := t.waitFor(ctx, t.first); err != nil {
			return nil, err
		}
	}
	if l, err := t.claimTold(&c); l != nil || err != nil {
		return l, err
	}
	line, err := t.lineOf(&c)
	if err != nil || len(line.Tasks) == 0 {
		return nil, cmp.Or(err, store.ErrNotFound)
	}
	tasks := line.Tasks
	for i := range tasks {
		if !t.taking.Take(&t.s.takes, tasks[i].TaskID, line.Found) {
			continue
		}
		l, err := t.claimTask(&c, &tasks[i])
		if errors.Is(err, store.ErrNotFound) {
			l, err = t.search(ctx, &c, tasks)
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

// search locks the first free task of the lanes that have any.
func (t *tx) search(ctx context.Context, c *store.Claim, heads []locking.Place) (*store.Locked, error) {
	for _, way := range locking.Lanes(heads) {
		if l, err := t.claimIn(ctx, c, way); !errors.Is(err, store.ErrNotFound) {
			return l, err
		}
	}
	return nil, store.ErrNotFound
}

// Head implements store.Tx. What other transactions of this process are taking is passed over.
func (t *tx) Head(_ context.Context, c store.Claim) (store.Head, error) {
	line, err := t.lineOf(&c)
	if err != nil {
		return store.Head{}, err
	}
	return line.Head(&t.s.takes)
}

// claimTask locks a task that was found, with its run, and loads what belongs to it.
func (t *tx) claimTask(c *store.Claim, head *locking.Place) (*store.Locked, error) {
	l := &store.Locked{}
	var gone bool
	err := t.trip(func(p *pipe) { t.lockPlace(p, c, head, l, &gone) })
	if err != nil {
		return nil, err
	}
	return t.claimed(l, gone)
}

// lockPlace locks a task that was found, with its run, and loads what belongs to it; *gone tells that it is not
// to be had.
func (t *tx) lockPlace(p *pipe, c *store.Claim, place *locking.Place, l *store.Locked, gone *bool) {
	p.load(func(q *pgdb.Queries) error {
		row, err := q.TaskLockHead(t.ctx, pgdb.TaskLockHeadParams{TaskID: place.TaskID, Now: c.Now, ProtocolMinor: c.ProtocolMinor})
		l.Task, l.Run = rules.Task(row.Task), rules.Run(row.WorkflowRun)
		return err
	}, gone)
	if place.ActivityExecutionID != "" {
		p.loadActivity(t.ctx, l, place.ActivityExecutionID, place.RunID)
	}
	if c.History > 0 {
		t.answerAhead(p, c, place)
	}
}

// claimed ends the claim of a task that was found. What was read without its lock is not to be relied on.
func (t *tx) claimed(l *store.Locked, gone bool) (*store.Locked, error) {
	if gone {
		t.docs = nil
		return nil, store.ErrNotFound
	}
	t.locked = true
	t.s.queue.Remember(l.Task.TaskID, l.Run.RunID)
	l.Documents = t.docs
	if l.Task.Kind != rules.KindActivity {
		return l, nil
	}
	return l, t.note(l.Whole(l.Task.Kind))
}

// loadActivity loads what belongs to an activity task that was found.
func (p *pipe) loadActivity(ctx context.Context, l *store.Locked, executionID, runID string) {
	var none bool
	p.load(func(q *pgdb.Queries) error {
		activity, err := q.ActivityGet(ctx, executionID)
		l.Activity = rules.Activity(activity)
		return err
	}, &none)
	p.load(func(q *pgdb.Queries) error {
		open, err := q.TaskGetOpen(ctx, runID)
		l.OpenTask = rules.Task(open)
		return err
	}, &none)
}

// claimIn locks the first task of a lane that is free, with its run, and loads what belongs to it.
func (t *tx) claimIn(ctx context.Context, c *store.Claim, way locking.Lane) (*store.Locked, error) {
	l := &store.Locked{}
	err := t.read(ctx, func(q *pgdb.Queries) error {
		row, err := q.TaskFindClaimable(ctx, pgdb.TaskFindClaimableParams{
			Now: c.Now, Namespace: c.Namespace, TaskQueue: c.TaskQueue, Kind: c.Kind, TypeName: way.TypeName,
			Compatibility: way.Build, ProtocolMinor: c.ProtocolMinor,
		})
		l.Task, l.Run = rules.Task(row.Task), rules.Run(row.WorkflowRun)
		return err
	})
	if err != nil {
		return nil, err
	}
	t.locked = true
	t.s.queue.Remember(l.Task.TaskID, l.Run.RunID)
	if l.Task.ActivityExecutionID == "" {
		return l, nil
	}
	err = t.trip(func(p *pipe) { p.loadActivity(ctx, l, l.Task.ActivityExecutionID, l.Run.RunID) })
	if err == nil {
		err = t.note(l.Whole(l.Task.Kind))
	}
	if err != nil {
		return nil, err
	}
	return l, nil
}
