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

// A lane is one range of the claim index: a type and a build.
type lane struct{ typeName, build string }

func lanes(c store.Claim) []lane {
	list := make([]lane, 0, 2*len(c.TypeNames))
	for _, name := range c.TypeNames {
		list = append(list, lane{name, ""})
		if c.BuildID != "" {
			list = append(list, lane{name, c.BuildID})
		}
	}
	return list
}

// Claim implements store.Tx. It passes over what others hold locked and does not wait, so that a
// transaction that holds a run may claim. Where all candidates are locked, a transaction that holds
// none starts again and then waits for the run of the first, rather than report an empty queue:
// nothing would wake its poll when the locks go. It waits with no more than a registration held, in
// the order that all transitions lock in.
func (t *tx) Claim(ctx context.Context, c store.Claim) (*store.Locked, error) {
	if t.first != "" && !t.locked {
		if err := t.waitFor(ctx, t.first); err != nil {
			return nil, err
		}
	}
	list := lanes(c)
	if len(list) == 1 {
		if l, err := t.claimIn(ctx, c, list[0]); !errors.Is(err, store.ErrNotFound) {
			return l, err
		}
		if t.locked || t.settle {
			return nil, store.ErrNotFound
		}
	}
	heads, err := heads(ctx, t.read, c)
	if err != nil {
		return nil, err
	}
	if len(list) > 1 {
		for _, head := range heads {
			way := lane{head.TypeName, head.Compatibility}
			if l, err := t.claimIn(ctx, c, way); !errors.Is(err, store.ErrNotFound) {
				return l, err
			}
		}
	}
	if len(heads) > 0 && !t.locked && !t.settle {
		return nil, t.note(locking.Busy{TaskID: heads[0].TaskID})
	}
	return nil, store.ErrNotFound
}

// Head implements store.Tx.
func (t *tx) Head(ctx context.Context, c store.Claim) (store.Head, error) {
	return firstHead(heads(ctx, t.read, c))
}

// ReadHead implements store.Reader.
func (s *Store) ReadHead(ctx context.Context, c store.Claim) (store.Head, error) {
	return firstHead(heads(ctx, s.run, c))
}

func firstHead(heads []pgdb.TaskFindHeadsRow, err error) (store.Head, error) {
	if err != nil || len(heads) == 0 {
		return store.Head{}, cmp.Or(err, store.ErrNotFound)
	}
	return store.Head{Priority: heads[0].Priority, OrderAt: heads[0].OrderAt, TaskID: heads[0].TaskID}, nil
}

// reading runs one generated read, in a transaction or outside.
type reading func(context.Context, func(*pgdb.Queries) error) error

// heads are the lanes that have a claimable task, the one to be claimed first in front.
func heads(ctx context.Context, read reading, c store.Claim) (found []pgdb.TaskFindHeadsRow, err error) {
	if len(c.TypeNames) == 0 {
		return nil, nil
	}
	builds := []string{""}
	if c.BuildID != "" {
		builds = append(builds, c.BuildID)
	}
	err = read(ctx, func(q *pgdb.Queries) (err error) {
		found, err = q.TaskFindHeads(ctx, pgdb.TaskFindHeadsParams{
			TypeNames: c.TypeNames, Builds: builds, Namespace: c.Namespace, TaskQueue: c.TaskQueue, Kind: c.Kind,
			Now: c.Now, ProtocolMinor: c.ProtocolMinor,
		})
		return err
	})
	return found, err
}

// claimIn locks the first task of a lane that is free, with its run, and loads what belongs to it.
func (t *tx) claimIn(ctx context.Context, c store.Claim, way lane) (*store.Locked, error) {
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
