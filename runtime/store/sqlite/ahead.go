package sqlite

import (
	"context"
	"slices"

	"dwserver/gen/sqlitedb"
	"dwserver/runtime/rules"
	"dwserver/runtime/store"
)

// ahead answers what a transaction said it would ask about a worker: one statement for all receipts, one for
// the leases of both kinds. What the transaction writes makes it ask again.
type ahead struct {
	of       store.Expected
	receipts []rules.PollReceipt
	listed   bool // receipts are known
	leases   sqlitedb.TaskCountLeasesOfRow
	from     int64 // leases are known from then until leases.Until
	counted  bool
}

// most is how many poll request ids one statement asks for.
const most = 2

// Expect implements store.Tx.
func (t *tx) Expect(e store.Expected) { t.ahead = ahead{of: e} }

// wrote forgets what a write may have changed.
func (a *ahead) wrote(e *rules.Effects) {
	a.listed = a.listed && len(e.PollReceipts) == 0 && len(e.DropReceipts) == 0
	a.counted = a.counted && len(e.Tasks) == 0 && len(e.NewTasks) == 0
}

// forget forgets all answers.
func (a *ahead) forget() { a.listed, a.counted = false, false }

func (a *ahead) about(namespace, workerID string) bool {
	return a.of.WorkerID == workerID && a.of.Namespace == namespace
}

// GetPollReceipt implements store.Tx.
func (t *tx) GetPollReceipt(ctx context.Context, namespace, workerID, kind, pollRequestID string) (rules.PollReceipt, error) {
	a, ids := &t.ahead, t.ahead.of.PollRequestIDs
	if !a.about(namespace, workerID) || len(ids) > most || !slices.Contains(ids, pollRequestID) || !bindable(kind) {
		return t.reads.GetPollReceipt(ctx, namespace, workerID, kind, pollRequestID)
	}
	if !a.listed {
		rows, err := t.q.ReceiptListOf(t.ctx, sqlitedb.ReceiptListOfParams{
			Namespace: namespace, WorkerID: workerID, First: ids[0], Second: ids[len(ids)-1],
		})
		if a.receipts, err = all(rows, asReceipt, t.end(err)); err != nil {
			return rules.PollReceipt{}, err
		}
		a.listed = true
	}
	for i := range a.receipts {
		if r := &a.receipts[i]; r.Kind == kind && r.PollRequestID == pollRequestID {
			return *r, nil
		}
	}
	return rules.PollReceipt{}, store.ErrNotFound
}

func bindable(kind string) bool { return kind == rules.KindWorkflow || kind == rules.KindActivity }

func asReceipt(r sqlitedb.PollReceipt) rules.PollReceipt { return rules.PollReceipt(r) }

// CountLeases implements store.Tx.
func (t *tx) CountLeases(ctx context.Context, namespace, workerID, kind string, now int64) (int64, error) {
	a := &t.ahead
	if !a.about(namespace, workerID) || !bindable(kind) {
		return t.reads.CountLeases(ctx, namespace, workerID, kind, now)
	}
	if !a.counted || now < a.from || now >= a.leases.Until {
		row, err := t.q.TaskCountLeasesOf(t.ctx, sqlitedb.TaskCountLeasesOfParams{Namespace: namespace, LeaseOwner: workerID, Now: now})
		if err = t.end(err); err != nil {
			return 0, err
		}
		a.leases, a.from, a.counted = row, now, true
	}
	if kind == rules.KindWorkflow {
		return a.leases.Workflow, nil
	}
	return a.leases.Activity, nil
}
