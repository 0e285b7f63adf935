package mysql

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"

	"dwserver/gen/mysqldb"
	"dwserver/runtime/rules"
	"dwserver/runtime/store"
	"dwserver/runtime/store/locking"
)

// A head is the first claimable task of a type and build.
type head = mysqldb.TaskFindHeadRow

// Claim implements store.Tx. It passes over what others hold locked and does not wait, so that a
// transaction that holds a run may claim: the task is locked unless another claim has it, then its
// run unless another transition has that. No transition waits for a run while it holds a ready task.
// Where all candidates are taken, a transaction that holds no run starts again and then waits for
// the run of the first, rather than report an empty queue: nothing would wake its poll when the
// locks go. It waits with no more than a registration held, in the order that all transitions lock in.
func (t *tx) Claim(ctx context.Context, c store.Claim) (*store.Locked, error) {
	if len(c.TypeNames) == 0 {
		return nil, store.ErrNotFound
	}
	if t.first != "" && !t.locked {
		if err := t.waitFor(ctx, t.first); err != nil {
			return nil, err
		}
	}
	heads := []head{{TypeName: c.TypeNames[0]}}
	if many := len(c.TypeNames) > 1 || c.BuildID != ""; many {
		var err error
		if heads, err = t.heads(ctx, c); err != nil {
			return nil, err
		}
	}
	taken := "" // a candidate that another transaction holds
	for _, h := range heads {
		found, err := t.firstFree(ctx, c, h)
		if errors.Is(err, store.ErrNotFound) {
			taken = cmp.Or(taken, h.TaskID)
			continue
		}
		if err != nil {
			return nil, err
		}
		l, err := t.lockFound(ctx, found)
		if !errors.Is(err, store.ErrNotFound) {
			return l, err
		}
		taken = cmp.Or(taken, found.TaskID)
	}
	if t.locked || t.settle {
		return nil, store.ErrNotFound
	}
	if taken == "" {
		heads, err := t.heads(ctx, c)
		if err != nil || len(heads) == 0 {
			return nil, cmp.Or(err, store.ErrNotFound)
		}
		taken = heads[0].TaskID
	}
	return nil, t.note(locking.Busy{TaskID: taken})
}

// Head implements store.Tx.
func (t *tx) Head(ctx context.Context, c store.Claim) (store.Head, error) {
	return firstHead(t.heads(ctx, c))
}

// ReadHead implements store.Reader.
func (s *Store) ReadHead(ctx context.Context, c store.Claim) (store.Head, error) {
	var list []head
	db := plain{link{stmts: &s.stmts, probe: s.opt.Probe}}
	err := s.readOn(ctx, db, func(*mysqldb.Queries) (err error) {
		list, err = headsOn(ctx, db, c)
		return err
	})
	return firstHead(list, err)
}

func firstHead(heads []head, err error) (store.Head, error) {
	if err != nil || len(heads) == 0 {
		return store.Head{}, cmp.Or(err, store.ErrNotFound)
	}
	return store.Head{Priority: heads[0].Priority, OrderAt: heads[0].OrderAt, TaskID: heads[0].TaskID}, nil
}

func (t *tx) heads(ctx context.Context, c store.Claim) (list []head, err error) {
	err = t.reading(func() (err error) {
		list, err = headsOn(ctx, plain{t.link()}, c)
		return err
	})
	return list, err
}

// headsOn lists the first claimable task of each type and build, in claim order, by one statement.
func headsOn(ctx context.Context, db plain, c store.Claim) ([]head, error) {
	if len(c.TypeNames) == 0 {
		return nil, nil
	}
	builds := []string{""}
	if c.BuildID != "" {
		builds = append(builds, c.BuildID)
	}
	header, one, _ := strings.Cut(mysqldb.TaskFindHead, "\n")
	var parts []string
	var args []any
	for _, name := range c.TypeNames {
		for _, build := range builds {
			parts = append(parts, "("+one+")")
			args = append(args, c.Namespace, c.TaskQueue, c.Kind, name, build, build, c.Now, c.ProtocolMinor)
		}
	}
	rows, err := db.QueryContext(ctx, header+"\n"+strings.Join(parts, "\nUNION ALL\n"), args...)
	if err != nil {
		return nil, err
	}
	list, err := scanHeads(rows)
	slices.SortFunc(list, func(a, b head) int {
		return cmp.Or(cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.OrderAt, b.OrderAt), strings.Compare(a.TaskID, b.TaskID))
	})
	return list, err
}

func scanHeads(rows *sql.Rows) (list []head, err error) {
	defer rows.Close()
	for rows.Next() {
		var h head
		if err := rows.Scan(&h.TypeName, &h.Compatibility, &h.Priority, &h.OrderAt, &h.TaskID); err != nil {
			return nil, err
		}
		list = append(list, h)
	}
	return list, rows.Err()
}

// firstFree locks the first task of a type and build that no other claim has.
func (t *tx) firstFree(ctx context.Context, c store.Claim, h head) (row mysqldb.TaskFindClaimableRow, err error) {
	err = t.read(ctx, func(q *mysqldb.Queries) (err error) {
		row, err = q.TaskFindClaimable(ctx, mysqldb.TaskFindClaimableParams{
			Namespace: c.Namespace, TaskQueue: c.TaskQueue, Kind: c.Kind, TypeName: h.TypeName,
			Compatibility: h.Compatibility, Now: c.Now, ProtocolMinor: c.ProtocolMinor,
		})
		return err
	})
	return row, err
}

// lockFound locks the run of a task that was found and loads what belongs to it; ErrNotFound when
// another transition has the run.
func (t *tx) lockFound(ctx context.Context, found mysqldb.TaskFindClaimableRow) (*store.Locked, error) {
	l := &store.Locked{}
	err := t.read(ctx, func(q *mysqldb.Queries) error {
		run, err := q.RunLockFree(ctx, found.RunID)
		l.Run = rules.Run(run)
		return err
	})
	if err != nil {
		return nil, err
	}
	if l.Task, err = t.GetTask(ctx, found.TaskID); err != nil {
		return nil, err
	}
	t.s.queue.Remember(found.TaskID, found.RunID)
	return t.whole(ctx, l, l.Task.Kind, "")
}
