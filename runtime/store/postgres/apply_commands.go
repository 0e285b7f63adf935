package postgres

import (
	"dwserver/gen/pgdb"
	"dwserver/runtime/rules"
	"dwserver/runtime/store/rows"
)

func (t *tx) applySignals(e *rules.Effects) {
	each(t, e.NewSignals, func(q *pgdb.Queries, r *rules.Signal) error {
		return q.SignalInsert(t.ctx, pgdb.SignalInsertParams(rows.Signal(*r)))
	})
	each(t, e.Signals, func(q *pgdb.Queries, r *rules.Signal) error {
		return q.SignalUpdate(t.ctx, pgdb.SignalUpdateParams(rows.UpdateSignal(r)))
	})
}

func (t *tx) applyCommands(e *rules.Effects) {
	each(t, e.NewCommands, func(q *pgdb.Queries, r *rules.Command) error {
		return q.CommandInsert(t.ctx, pgdb.CommandInsertParams(*r))
	})
	each(t, e.Commands, func(q *pgdb.Queries, r *rules.Command) error {
		return q.CommandUpdate(t.ctx, pgdb.CommandUpdateParams(rows.UpdateCommand(r)))
	})
	each(t, e.NewRequests, func(q *pgdb.Queries, r *rules.CommandRequest) error {
		return q.CommandRequestInsert(t.ctx, pgdb.CommandRequestInsertParams(rows.CommandRequest(*r)))
	})
}

func (t *tx) applyWorkers(e *rules.Effects) {
	if e.Worker != nil || e.RemoveWorker != nil {
		t.worker = nil
	}
	if w := e.Worker; w != nil {
		t.hold(func(q *pgdb.Queries) error { return q.WorkerUpsert(t.ctx, pgdb.WorkerUpsertParams(rows.Worker(*w))) })
	}
	if w := e.RemoveWorker; w != nil {
		t.hold(func(q *pgdb.Queries) error {
			return q.WorkerDelete(t.ctx, pgdb.WorkerDeleteParams{
				Namespace: w.Namespace, WorkerID: w.WorkerID, Generation: w.Generation,
			})
		})
	}
	if e.Seen != nil {
		t.seen = append(t.seen, *e.Seen)
	}
	each(t, e.Registrations, func(q *pgdb.Queries, r *rules.Registration) error {
		return q.RegistrationUpsert(t.ctx, pgdb.RegistrationUpsertParams(*r))
	})
	each(t, sorted(e.Definitions, byDefinition), func(q *pgdb.Queries, r *rules.Definition) error {
		return q.DefinitionUpsert(t.ctx, pgdb.DefinitionUpsertParams(rows.Definition(*r)))
	})
}

func (t *tx) applyReceipts(e *rules.Effects) {
	each(t, e.DropReceipts, func(q *pgdb.Queries, r *rules.PollReceipt) error {
		return q.ReceiptDrop(t.ctx, pgdb.ReceiptDropParams{
			Namespace: r.Namespace, WorkerID: r.WorkerID, Kind: r.Kind, PollRequestID: r.PollRequestID,
			TaskID: r.TaskID, Attempt: r.Attempt,
		})
	})
	each(t, e.PollReceipts, func(q *pgdb.Queries, r *rules.PollReceipt) error {
		return q.ReceiptInsert(t.ctx, pgdb.ReceiptInsertParams(*r))
	})
	each(t, e.Namespaces, func(q *pgdb.Queries, r *rules.Namespace) error {
		return q.NamespaceUpsert(t.ctx, pgdb.NamespaceUpsertParams(*r))
	})
}
