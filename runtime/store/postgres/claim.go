package postgres

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"dwserver/gen/pgdb"
	"dwserver/runtime/rules"
	"dwserver/runtime/store"
	"dwserver/runtime/store/locking"
)

// A lane is one range of the claim index: a type and a build.
type lane struct{ typeName, build string }

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
	line, err := t.lineOf(ctx, &c)
	if err != nil || len(line.tasks) == 0 {
		return nil, cmp.Or(err, store.ErrNotFound)
	}
	tasks := line.tasks
	for i := range tasks {
		if !t.take(tasks[i].TaskID, line.found) {
			continue
		}
		l, err := t.claimTask(ctx, &c, &tasks[i])
		if errors.Is(err, store.ErrNotFound) {
			l, err = t.search(ctx, &c, tasks)
		}
		if !errors.Is(err, store.ErrNotFound) {
			return l, err
		}
		break
	}
	if !t.locked && !t.settle {
		return nil, t.note(locking.Busy{TaskID: tasks[0].TaskID})
	}
	return nil, store.ErrNotFound
}

// take marks a task as this transaction's to take, or reports that another's is faster.
func (t *tx) take(taskID string, found int64) bool {
	if slices.Contains(t.taking, taskID) {
		return true
	}
	ok := t.s.takes.Take(taskID, found)
	if ok {
		t.taking = append(t.taking, taskID)
	}
	return ok
}

// search locks the first free task of the lanes that have any.
func (t *tx) search(ctx context.Context, c *store.Claim, heads []pgdb.TaskFindHeadsRow) (*store.Locked, error) {
	var seen []lane
	for i := range heads {
		way := lane{heads[i].TypeName, heads[i].Compatibility}
		if slices.Contains(seen, way) {
			continue
		}
		seen = append(seen, way)
		if l, err := t.claimIn(ctx, c, way); !errors.Is(err, store.ErrNotFound) {
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
	return t.s.firstFree(line.tasks, line.found)
}

// ReadHead implements store.Reader. What transactions of this process are taking is passed over.
func (s *Store) ReadHead(ctx context.Context, c store.Claim) (store.Head, error) {
	if len(c.TypeNames) == 0 {
		return store.Head{}, store.ErrNotFound
	}
	found, arg := s.takes.Now(), headsArg([]line{{claim: c}}, 2+s.takes.Open())
	var tasks []pgdb.TaskFindHeadsRow
	err := s.run(ctx, func(q *pgdb.Queries) (err error) {
		tasks, err = q.TaskFindHeads(ctx, arg)
		return err
	})
	if err != nil {
		return store.Head{}, err
	}
	return s.firstFree(tasks, found)
}

// firstFree is the first of the tasks found at a moment that no transaction of this process is taking.
func (s *Store) firstFree(tasks []pgdb.TaskFindHeadsRow, found int64) (store.Head, error) {
	for i := range tasks {
		if h := &tasks[i]; !s.takes.Gone(h.TaskID, found) {
			return store.Head{Priority: h.Priority, OrderAt: h.OrderAt, TaskID: h.TaskID, RunID: h.RunID}, nil
		}
	}
	return store.Head{}, store.ErrNotFound
}

// claimTask locks a task that was found, with its run, and loads what belongs to it.
func (t *tx) claimTask(ctx context.Context, c *store.Claim, head *pgdb.TaskFindHeadsRow) (*store.Locked, error) {
	l := &store.Locked{}
	err := t.trip(func(p *pipe) {
		p.load(func(q *pgdb.Queries) error {
			row, err := q.TaskLockHead(ctx, pgdb.TaskLockHeadParams{TaskID: head.TaskID, Now: c.Now, ProtocolMinor: c.ProtocolMinor})
			l.Task, l.Run = rules.Task(row.Task), rules.Run(row.WorkflowRun)
			return err
		}, nil)
		if head.ActivityExecutionID != "" {
			p.loadActivity(ctx, l, head)
		}
		if c.History > 0 {
			t.answerAhead(p, c, head)
		}
	})
	if err != nil {
		return nil, err
	}
	t.locked = true
	t.s.queue.Remember(l.Task.TaskID, l.Run.RunID)
	if l.Task.Kind == rules.KindActivity {
		err = t.note(l.Whole(l.Task.Kind))
	}
	return l, err
}

// loadActivity loads what belongs to an activity task that was found.
func (p *pipe) loadActivity(ctx context.Context, l *store.Locked, head *pgdb.TaskFindHeadsRow) {
	var none bool
	p.load(func(q *pgdb.Queries) error {
		activity, err := q.ActivityGet(ctx, head.ActivityExecutionID)
		l.Activity = rules.Activity(activity)
		return err
	}, &none)
	p.load(func(q *pgdb.Queries) error {
		open, err := q.TaskGetOpen(ctx, head.RunID)
		l.OpenTask = rules.Task(open)
		return err
	}, &none)
}

// answerAhead reads what the answer to a claim is made of, behind its lock.
func (t *tx) answerAhead(p *pipe, c *store.Claim, head *pgdb.TaskFindHeadsRow) {
	var none bool
	if head.Kind == rules.KindActivity {
		p.load(func(q *pgdb.Queries) error {
			row, err := q.EventGetOfActivity(t.ctx, head.ActivityExecutionID)
			t.ahead.event = new(rules.Event(row))
			return err
		}, &none)
		return
	}
	p.load(func(q *pgdb.Queries) error {
		row, err := q.RunInputGet(t.ctx, head.RunID)
		t.ahead.input = new(rules.RunInput(row))
		return err
	}, &none)
	p.load(func(q *pgdb.Queries) error {
		rows, err := q.EventList(t.ctx, pgdb.EventListParams{RunID: head.RunID, UpTo: math.MaxInt64, MaxRows: c.History})
		t.ahead.history, t.ahead.historyOf, t.ahead.limit = all(rows, asEvent), head.RunID, c.History
		return err
	}, nil)
}

// claimIn locks the first task of a lane that is free, with its run, and loads what belongs to it.
func (t *tx) claimIn(ctx context.Context, c *store.Claim, way lane) (*store.Locked, error) {
	l := &store.Locked{}
	err := t.read(ctx, func(q *pgdb.Queries) error {
		row, err := q.TaskFindClaimable(ctx, pgdb.TaskFindClaimableParams{
			Now: c.Now, Namespace: c.Namespace, TaskQueue: c.TaskQueue, Kind: c.Kind, TypeName: way.typeName,
			Compatibility: way.build, ProtocolMinor: c.ProtocolMinor,
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
	var none bool
	err = t.trip(func(p *pipe) {
		p.load(func(q *pgdb.Queries) error {
			activity, err := q.ActivityGet(ctx, l.Task.ActivityExecutionID)
			l.Activity = rules.Activity(activity)
			return err
		}, &none)
		if l.Run.WorkflowTaskID != "" {
			p.load(func(q *pgdb.Queries) error {
				open, err := q.TaskGet(ctx, l.Run.WorkflowTaskID)
				l.OpenTask = rules.Task(open)
				return err
			}, &none)
		}
	})
	if err == nil {
		err = t.note(l.Whole(l.Task.Kind))
	}
	if err != nil {
		return nil, err
	}
	return l, nil
}
