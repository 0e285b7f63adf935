package postgres

import (
	"context"

	"dwserver/gen/pgdb"
	"dwserver/runtime/rules"
	"dwserver/runtime/store"
	"dwserver/runtime/store/locking"
)

// Expect implements store.Tx.
func (t *tx) Expect(e store.Expected) {
	if e.Starts != "" {
		t.definition = &definition{namespace: e.Namespace, workflowType: e.Starts}
		return
	}
	if t.worker == nil && !t.locked {
		t.ahead.Asked = &e
	}
}

// shareAhead shares the expected registration, in front of a run's lock.
func (t *tx) shareAhead(p *pipe) {
	e := t.ahead.Asked
	if e == nil || t.worker != nil {
		return
	}
	var none bool
	p.load(func(q *pgdb.Queries) error {
		row, err := q.WorkerShare(t.ctx, pgdb.WorkerShareParams{Namespace: e.Namespace, WorkerID: e.WorkerID})
		if err == nil {
			t.worker = new(rules.Worker(row))
		}
		return err
	}, &none)
}

// lookAhead reads the rest of what is expected.
func (t *tx) lookAhead(p *pipe) {
	e := t.ahead.Asked
	if e == nil {
		return
	}
	t.ahead.Asked = nil
	if len(e.PollRequestIDs) > 0 {
		p.load(func(q *pgdb.Queries) error {
			rows, err := q.ReceiptList(t.ctx, pgdb.ReceiptListParams{
				Namespace: e.Namespace, WorkerID: e.WorkerID, PollRequestIds: e.PollRequestIDs,
			})
			t.ahead.KnowReceipts(e, all(rows, asReceipt))
			return err
		}, nil)
		p.load(func(q *pgdb.Queries) error {
			rows, err := q.TaskListLeases(t.ctx, pgdb.TaskListLeasesParams{Namespace: e.Namespace, LeaseOwner: e.WorkerID})
			t.ahead.KnowLeases(e, all(rows, asLease))
			return err
		}, nil)
	}
	switch {
	case t.first != "": // what is waited for changes what there is
	case t.told != nil:
		t.told.lock(t, p)
	default:
		t.headsAhead(p, e.Claims)
	}
}

func asReceipt(r pgdb.PollReceipt) rules.PollReceipt { return rules.PollReceipt(r) }
func asLease(r pgdb.TaskListLeasesRow) locking.Lease { return locking.Lease(r) }
func asPlace(r pgdb.TaskFindHeadsRow) locking.Place  { return locking.Place(r) }

// headsAhead looks for the tasks of claims.
func (t *tx) headsAhead(p *pipe, claims []store.Claim) {
	lines := t.ahead.Begin(claims, t.s.takes.Now())
	if len(lines) == 2 && locking.Together(&lines[0].Claim, &lines[1].Claim) {
		t.headsOf(p, lines)
		return
	}
	for i := range lines {
		t.headsOf(p, lines[i:i+1])
	}
}

// headsOf fills lines that one statement can look for. It looks beyond the tasks that other transactions of
// this process are taking.
func (t *tx) headsOf(p *pipe, lines []*locking.Line) {
	claims := make([]*store.Claim, len(lines))
	for i, l := range lines {
		claims[i] = &l.Claim
	}
	arg := headsArg(2+t.s.takes.Open(), claims...)
	p.load(func(q *pgdb.Queries) error {
		rows, err := q.TaskFindHeads(t.ctx, arg)
		for _, l := range lines {
			l.Fill(all(rows, asPlace))
		}
		return err
	}, nil)
}

// headsArg asks for so many tasks of each type and build of claims.
func headsArg(most int64, claims ...*store.Claim) pgdb.TaskFindHeadsParams {
	first := claims[0]
	arg := pgdb.TaskFindHeadsParams{
		ActivityTypes: []string{}, WorkflowTypes: []string{}, Builds: []string{""}, Namespace: first.Namespace,
		TaskQueue: first.TaskQueue, Now: first.Now, ProtocolMinor: first.ProtocolMinor, MaxRows: most,
	}
	if first.BuildID != "" {
		arg.Builds = append(arg.Builds, first.BuildID)
	}
	for _, c := range claims {
		if c.Kind == rules.KindActivity {
			arg.ActivityTypes = c.TypeNames
		} else {
			arg.WorkflowTypes = c.TypeNames
		}
	}
	return arg
}

// ReadHead implements store.Reader.
func (s *Store) ReadHead(ctx context.Context, c store.Claim) (store.Head, error) {
	if len(c.TypeNames) == 0 {
		return store.Head{}, store.ErrNotFound
	}
	return s.takes.First(ctx, func(most int64) (list []locking.Place, err error) {
		err = s.run(ctx, func(q *pgdb.Queries) error {
			rows, err := q.TaskFindHeads(ctx, headsArg(most, &c))
			list = all(rows, asPlace)
			return err
		})
		return list, err
	})
}

// LooksFirst implements store.Store: a claim that knows its task locks it in the transaction's first round trip.
func (s *Store) LooksFirst() bool { return true }

// lineOf is the line of a claim, looked for when it is not known.
func (t *tx) lineOf(c *store.Claim) (*locking.Line, error) {
	if l := t.ahead.Line(c); l != nil {
		return l, nil
	}
	if err := t.trip(func(p *pipe) { t.headsAhead(p, []store.Claim{*c}) }); err != nil {
		return nil, err
	}
	return t.ahead.Line(c), nil
}

// CountLeases implements store.Tx.
func (t *tx) CountLeases(ctx context.Context, namespace, workerID, kind string, now int64) (int64, error) {
	if n, known := t.ahead.Leases(namespace, workerID, kind, now); known {
		return n, nil
	}
	return t.reads.CountLeases(ctx, namespace, workerID, kind, now)
}

// GetPollReceipt implements store.Tx.
func (t *tx) GetPollReceipt(ctx context.Context, namespace, workerID, kind, pollRequestID string) (rules.PollReceipt, error) {
	switch r, known := t.ahead.Receipt(namespace, workerID, kind, pollRequestID); {
	case !known:
		return t.reads.GetPollReceipt(ctx, namespace, workerID, kind, pollRequestID)
	case r == nil:
		return rules.PollReceipt{}, store.ErrNotFound
	default:
		return *r, nil
	}
}

// answerAhead reads what the answer to a claim is made of, behind its lock.
func (t *tx) answerAhead(p *pipe, c *store.Claim, place *locking.Place) {
	var none bool
	d := &store.Documents{}
	t.docs = d
	if place.Kind == rules.KindActivity {
		p.load(func(q *pgdb.Queries) error {
			row, err := q.EventGetOfActivity(t.ctx, place.ActivityExecutionID)
			d.Event = new(rules.Event(row))
			return err
		}, &none)
		return
	}
	p.load(func(q *pgdb.Queries) error {
		row, err := q.RunInputGet(t.ctx, place.RunID)
		d.Input = new(rules.RunInput(row))
		return err
	}, &none)
	p.load(func(q *pgdb.Queries) error {
		rows, err := q.EventList(t.ctx, pgdb.EventListParams{RunID: place.RunID, UpTo: rules.Never, MaxRows: c.History})
		d.History, d.HistoryOf, d.Limit = all(rows, asEvent), place.RunID, c.History
		return err
	}, nil)
}

// GetRunInput implements store.Tx.
func (t *tx) GetRunInput(ctx context.Context, runID string) (rules.RunInput, error) {
	if t.docs != nil {
		if in := t.docs.RunInput(runID); in != nil {
			return *in, nil
		}
	}
	return t.reads.GetRunInput(ctx, runID)
}

// GetEvent implements store.Tx.
func (t *tx) GetEvent(ctx context.Context, runID string, sequence int64) (rules.Event, error) {
	if t.docs != nil {
		if ev := t.docs.EventAt(runID, sequence); ev != nil {
			return *ev, nil
		}
	}
	return t.reads.GetEvent(ctx, runID, sequence)
}

// ListEvents implements store.Tx.
func (t *tx) ListEvents(ctx context.Context, runID string, after, upTo, limit int64) ([]rules.Event, error) {
	if t.docs != nil {
		if page, known := t.docs.Page(runID, after, upTo, limit); known {
			return page, nil
		}
	}
	return t.reads.ListEvents(ctx, runID, after, upTo, limit)
}
