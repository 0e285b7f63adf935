package mysql

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"strings"

	"dwserver/gen/mysqldb"
	"dwserver/runtime/rules"
	"dwserver/runtime/store"
	"dwserver/runtime/store/locking"
)

// What is expected is read when the first of it is asked for: questions of one sort together, since every
// statement is a round trip.

// Expect implements store.Tx.
func (t *tx) Expect(e store.Expected) {
	if t.worker == nil && !t.locked && e.Starts == "" {
		t.ahead.Asked = &e
	}
}

// shareAhead shares the expected registration, in front of a run's lock.
func (t *tx) shareAhead(ctx context.Context) error {
	e := t.ahead.Asked
	if e == nil || t.worker != nil {
		return nil
	}
	_, err := t.ShareWorker(ctx, e.Namespace, e.WorkerID)
	return absent(err)
}

// asked is what is expected of a worker, nil when nothing is.
func (t *tx) asked(namespace, workerID string) *store.Expected {
	if e := t.ahead.Asked; e != nil && e.WorkerID == workerID && e.Namespace == namespace && len(e.PollRequestIDs) > 0 {
		return e
	}
	return nil
}

// CountLeases implements store.Tx.
func (t *tx) CountLeases(ctx context.Context, namespace, workerID, kind string, now int64) (int64, error) {
	n, known := t.ahead.Leases(namespace, workerID, kind, now)
	if known {
		return n, nil
	}
	e := t.asked(namespace, workerID)
	if e == nil {
		return t.reads.CountLeases(ctx, namespace, workerID, kind, now)
	}
	err := t.read(ctx, func(q *mysqldb.Queries) error {
		rows, err := q.TaskListLeases(ctx, mysqldb.TaskListLeasesParams{Namespace: namespace, LeaseOwner: workerID})
		if err == nil {
			t.ahead.KnowLeases(e, all(rows, asLease))
		}
		return err
	})
	n, _ = t.ahead.Leases(namespace, workerID, kind, now)
	return n, err
}

func asLease(r mysqldb.TaskListLeasesRow) locking.Lease { return locking.Lease(r) }
func asReceipt(r mysqldb.PollReceipt) rules.PollReceipt { return rules.PollReceipt(r) }

// GetPollReceipt implements store.Tx.
func (t *tx) GetPollReceipt(ctx context.Context, namespace, workerID, kind, pollRequestID string) (rules.PollReceipt, error) {
	r, known := t.ahead.Receipt(namespace, workerID, kind, pollRequestID)
	if e := t.asked(namespace, workerID); !known && e != nil && slices.Contains(e.PollRequestIDs, pollRequestID) && len(e.PollRequestIDs) <= 2 {
		err := t.read(ctx, func(q *mysqldb.Queries) error {
			rows, err := q.ReceiptList(ctx, mysqldb.ReceiptListParams{
				Namespace: namespace, WorkerID: workerID, FirstID: e.PollRequestIDs[0], SecondID: e.PollRequestIDs[len(e.PollRequestIDs)-1],
			})
			if err == nil {
				t.ahead.KnowReceipts(e, all(rows, asReceipt))
			}
			return err
		})
		if err != nil {
			return rules.PollReceipt{}, err
		}
		r, known = t.ahead.Receipt(namespace, workerID, kind, pollRequestID)
	}
	switch {
	case !known:
		return t.reads.GetPollReceipt(ctx, namespace, workerID, kind, pollRequestID)
	case r == nil:
		return rules.PollReceipt{}, store.ErrNotFound
	}
	return *r, nil
}

// lineOf is the line of a claim, looked for when it is not known, with that of the other expected claim.
func (t *tx) lineOf(ctx context.Context, c *store.Claim) (*locking.Line, error) {
	if l := t.ahead.Line(c); l != nil {
		return l, nil
	}
	claims := []store.Claim{*c}
	if e := t.ahead.Asked; e != nil && len(e.Claims) == 2 {
		for i := range e.Claims {
			other := &e.Claims[1-i]
			if e.Claims[i].Like(c) && locking.Together(c, other) && t.ahead.Line(other) == nil {
				claims = append(claims, *other)
			}
		}
	}
	found := t.s.takes.Now()
	places, err := t.places(ctx, claims)
	if err != nil {
		return nil, err
	}
	for _, l := range t.ahead.Begin(claims, found) {
		l.Fill(places)
	}
	return t.ahead.Line(c), nil
}

// places lists the first claimable tasks of each type and build. It looks beyond the tasks that other
// transactions of this process are taking.
func (t *tx) places(ctx context.Context, claims []store.Claim) (list []locking.Place, err error) {
	err = t.reading(func() (err error) {
		list, err = t.link().places(ctx, claims, 2+t.s.takes.Open())
		return err
	})
	return list, err
}

// ReadHead implements store.Reader.
func (s *Store) ReadHead(ctx context.Context, c store.Claim) (store.Head, error) {
	return s.takes.First(ctx, func(most int64) (list []locking.Place, err error) {
		db := link{stmts: &s.stmts, probe: s.opt.Probe}
		err = s.readOn(ctx, db, func(*mysqldb.Queries) (err error) {
			list, err = db.places(ctx, []store.Claim{c}, most)
			return err
		})
		return list, err
	})
}

// LooksFirst implements store.Store: a search in a transaction is a round trip besides.
func (s *Store) LooksFirst() bool { return true }

// places lists so many claimable tasks of each type and build of claims, in claim order, by one statement.
func (l link) places(ctx context.Context, claims []store.Claim, most int64) ([]locking.Place, error) {
	header, one, _ := strings.Cut(mysqldb.TaskFindHead, "\n")
	var parts []string
	var args []any
	for i := range claims {
		c := &claims[i]
		builds := []string{"", c.BuildID}
		if c.BuildID == "" {
			builds = builds[:1]
		}
		for _, name := range c.TypeNames {
			for _, build := range builds {
				parts = append(parts, "("+one+")")
				args = append(args, c.Namespace, c.TaskQueue, c.Kind, name, build, build, c.Now, c.ProtocolMinor, most)
			}
		}
	}
	if len(parts) == 0 {
		return nil, nil
	}
	rows, err := l.orPlain(len(parts) <= maxPrepared).QueryContext(ctx, header+"\n"+strings.Join(parts, "\nUNION ALL\n"), args...)
	if err != nil {
		return nil, err
	}
	list, err := scanPlaces(rows)
	slices.SortFunc(list, func(a, b locking.Place) int {
		return cmp.Or(cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.OrderAt, b.OrderAt), strings.Compare(a.TaskID, b.TaskID))
	})
	return list, err
}

func scanPlaces(rows *sql.Rows) (list []locking.Place, err error) {
	defer rows.Close()
	for rows.Next() {
		var p locking.Place
		err := rows.Scan(&p.Kind, &p.TypeName, &p.Compatibility, &p.Priority, &p.OrderAt, &p.TaskID, &p.RunID, &p.ActivityExecutionID)
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, rows.Err()
}
