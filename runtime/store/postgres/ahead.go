package postgres

import (
	"context"
	"slices"

	"dwserver/gen/pgdb"
	"dwserver/runtime/rules"
	"dwserver/runtime/store"
)

// ahead is what a transaction has read before it was asked, with a lock that it took anyway. What it writes
// itself is kept up to date here, so that an answer is the one that the database would give.
type ahead struct {
	asked     *store.Expected // not sent yet
	worker    *store.Expected // whose leases and receipts are known, nil when none are
	receipts  []rules.PollReceipt
	leases    []pgdb.TaskListLeasesRow
	lines     []line
	input     *rules.RunInput
	event     *rules.Event
	history   []rules.Event // of one run, from its first event on
	historyOf string        // that run, "" when none is known
	limit     int64         // most events that history would have
}

// line is the tasks that a claim may take, in claim order.
type line struct {
	claim store.Claim
	found int64 // moment of takes at which it was looked for
	tasks []pgdb.TaskFindHeadsRow
}

// Expect implements store.Tx.
func (t *tx) Expect(e store.Expected) {
	if t.worker == nil && !t.locked {
		t.ahead.asked = &e
	}
}

// shareAhead shares the expected registration, in front of a run's lock.
func (t *tx) shareAhead(p *pipe) {
	e := t.ahead.asked
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
	e := t.ahead.asked
	if e == nil {
		return
	}
	t.ahead.asked = nil
	if len(e.PollRequestIDs) > 0 {
		t.ahead.receipts = nil
		p.load(func(q *pgdb.Queries) error {
			rows, err := q.ReceiptList(t.ctx, pgdb.ReceiptListParams{
				Namespace: e.Namespace, WorkerID: e.WorkerID, PollRequestIds: e.PollRequestIDs,
			})
			t.ahead.receipts = all(rows, asReceipt)
			return err
		}, nil)
		p.load(func(q *pgdb.Queries) (err error) {
			t.ahead.leases, err = q.TaskListLeases(t.ctx, pgdb.TaskListLeasesParams{Namespace: e.Namespace, LeaseOwner: e.WorkerID})
			t.ahead.worker = e
			return err
		}, nil)
	}
	if t.first == "" { // what is waited for changes what there is
		t.headsAhead(p, e.Claims)
	}
}

func asReceipt(r pgdb.PollReceipt) rules.PollReceipt { return rules.PollReceipt(r) }

// headsAhead looks for the tasks of claims: of one statement where they differ in kind and types only.
func (t *tx) headsAhead(p *pipe, claims []store.Claim) {
	for i := range claims {
		t.ahead.lines = append(t.ahead.lines, line{claim: claims[i], found: t.s.takes.Now()})
	}
	lines := t.ahead.lines[len(t.ahead.lines)-len(claims):]
	if len(lines) == 2 && alike(&lines[0].claim, &lines[1].claim) {
		t.headsOf(p, lines)
		return
	}
	for i := range lines {
		t.headsOf(p, lines[i:i+1])
	}
}

// alike reports two claims of different kinds that one statement can look for.
func alike(a, b *store.Claim) bool {
	return a.Kind != b.Kind && a.Namespace == b.Namespace && a.TaskQueue == b.TaskQueue && a.BuildID == b.BuildID &&
		a.ProtocolMinor == b.ProtocolMinor
}

// headsOf fills lines that one statement can look for. It looks beyond the tasks that other transactions of
// this process are taking.
func (t *tx) headsOf(p *pipe, lines []line) {
	arg := headsArg(lines, 2+t.s.takes.Open())
	p.load(func(q *pgdb.Queries) error {
		rows, err := q.TaskFindHeads(t.ctx, arg)
		for i := range lines {
			lines[i].tasks = nil
			for _, row := range rows {
				if row.Kind == lines[i].claim.Kind {
					lines[i].tasks = append(lines[i].tasks, row)
				}
			}
		}
		return err
	}, nil)
}

// headsArg asks for the first tasks of lines that differ in kind and types only.
func headsArg(lines []line, rows int64) pgdb.TaskFindHeadsParams {
	c := &lines[0].claim
	arg := pgdb.TaskFindHeadsParams{
		ActivityTypes: []string{}, WorkflowTypes: []string{}, Builds: []string{""}, Namespace: c.Namespace, TaskQueue: c.TaskQueue,
		Now: c.Now, ProtocolMinor: c.ProtocolMinor, MaxRows: rows,
	}
	if c.BuildID != "" {
		arg.Builds = append(arg.Builds, c.BuildID)
	}
	for i := range lines {
		if lines[i].claim.Kind == rules.KindActivity {
			arg.ActivityTypes = lines[i].claim.TypeNames
		} else {
			arg.WorkflowTypes = lines[i].claim.TypeNames
		}
	}
	return arg
}

// lineOf is the line of a claim, looked for when it is not known.
func (t *tx) lineOf(ctx context.Context, c *store.Claim) (*line, error) {
	for i := range t.ahead.lines {
		if t.ahead.lines[i].claim.Like(c) {
			return &t.ahead.lines[i], nil
		}
	}
	if err := t.trip(func(p *pipe) { t.headsAhead(p, []store.Claim{*c}) }); err != nil {
		return nil, err
	}
	return &t.ahead.lines[len(t.ahead.lines)-1], nil
}

// wroteAhead brings what is known up to what was written.
func (t *tx) wroteAhead(e *rules.Effects) {
	if e.Worker != nil || e.RemoveWorker != nil {
		t.worker = nil
	}
	t.ahead.receipts = slices.DeleteFunc(t.ahead.receipts, func(r rules.PollReceipt) bool {
		return slices.ContainsFunc(e.DropReceipts, func(d rules.PollReceipt) bool {
			return d.Namespace == r.Namespace && d.WorkerID == r.WorkerID && d.Kind == r.Kind && d.PollRequestID == r.PollRequestID
		})
	})
	t.ahead.receipts = append(t.ahead.receipts, e.PollReceipts...)
	for _, list := range [...][]rules.Task{e.NewTasks, e.Tasks} {
		for i := range list {
			t.wroteTask(&list[i])
		}
	}
}

func (t *tx) wroteTask(task *rules.Task) {
	a := &t.ahead
	if w := a.worker; w != nil {
		a.leases = slices.DeleteFunc(a.leases, func(l pgdb.TaskListLeasesRow) bool { return l.TaskID == task.TaskID })
		if task.Status == rules.TaskLeased && task.LeaseOwner == w.WorkerID && task.Namespace == w.Namespace {
			a.leases = append(a.leases, pgdb.TaskListLeasesRow{TaskID: task.TaskID, Kind: task.Kind, LeaseExpiresAt: task.LeaseExpiresAt})
		}
	}
	if task.Status == rules.TaskReady { // it may be in front of what is known
		a.lines = slices.DeleteFunc(a.lines, func(l line) bool { return l.claim.Kind == task.Kind })
		return
	}
	for i := range a.lines {
		a.lines[i].without(task.TaskID)
	}
}

func (l *line) without(taskID string) {
	l.tasks = slices.DeleteFunc(l.tasks, func(row pgdb.TaskFindHeadsRow) bool { return row.TaskID == taskID })
}

// forget is for what failed or was rolled back: what is known may not be so.
func (t *tx) forget() { t.ahead = ahead{} }

// CountLeases implements store.Tx.
func (t *tx) CountLeases(ctx context.Context, namespace, workerID, kind string, now int64) (n int64, err error) {
	if w := t.ahead.worker; w == nil || w.WorkerID != workerID || w.Namespace != namespace {
		return t.reads.CountLeases(ctx, namespace, workerID, kind, now)
	}
	for i := range t.ahead.leases {
		if l := &t.ahead.leases[i]; l.Kind == kind && l.LeaseExpiresAt > now {
			n++
		}
	}
	return n, nil
}

// GetPollReceipt implements store.Tx.
func (t *tx) GetPollReceipt(ctx context.Context, namespace, workerID, kind, pollRequestID string) (rules.PollReceipt, error) {
	w := t.ahead.worker
	if w == nil || w.WorkerID != workerID || w.Namespace != namespace || !slices.Contains(w.PollRequestIDs, pollRequestID) {
		return t.reads.GetPollReceipt(ctx, namespace, workerID, kind, pollRequestID)
	}
	for _, r := range slices.Backward(t.ahead.receipts) { // the last that was written stands
		if r.Kind == kind && r.PollRequestID == pollRequestID && r.WorkerID == workerID && r.Namespace == namespace {
			return r, nil
		}
	}
	return rules.PollReceipt{}, store.ErrNotFound
}

// GetRunInput implements store.Tx.
func (t *tx) GetRunInput(ctx context.Context, runID string) (rules.RunInput, error) {
	if in := t.ahead.input; in != nil && in.RunID == runID {
		return *in, nil
	}
	return t.reads.GetRunInput(ctx, runID)
}

// GetEvent implements store.Tx.
func (t *tx) GetEvent(ctx context.Context, runID string, sequence int64) (rules.Event, error) {
	if ev := t.ahead.event; ev != nil && ev.RunID == runID && ev.Sequence == sequence {
		return *ev, nil
	}
	return t.reads.GetEvent(ctx, runID, sequence)
}

// ListEvents implements store.Tx.
func (t *tx) ListEvents(ctx context.Context, runID string, after, upTo, limit int64) ([]rules.Event, error) {
	a := &t.ahead
	if runID != a.historyOf || after != 0 || limit > a.limit {
		return t.reads.ListEvents(ctx, runID, after, upTo, limit)
	}
	n := 0
	for n < len(a.history) && int64(n) < limit && a.history[n].Sequence <= upTo {
		n++
	}
	return a.history[:n:n], nil
}
