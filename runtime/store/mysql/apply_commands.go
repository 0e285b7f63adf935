package mysql

import (
	"dwserver/gen/mysqldb"
	"dwserver/runtime/rules"
	"dwserver/runtime/store/rows"
)

func (t *tx) applySignals(e *rules.Effects) {
	each(t, e.NewSignals, func(q *mysqldb.Queries, r *rules.Signal) error {
		return q.SignalInsert(t.ctx, mysqldb.SignalInsertParams(rows.Signal(*r)))
	})
	each(t, e.Signals, func(q *mysqldb.Queries, r *rules.Signal) error {
		return affected(q.SignalUpdate(t.ctx, mysqldb.SignalUpdateParams(rows.UpdateSignal(r))))
	})
}

func (t *tx) applyCommands(e *rules.Effects) {
	each(t, e.NewCommands, func(q *mysqldb.Queries, r *rules.Command) error {
		return q.CommandInsert(t.ctx, mysqldb.CommandInsertParams(*r))
	})
	each(t, e.Commands, func(q *mysqldb.Queries, r *rules.Command) error {
		return affected(q.CommandUpdate(t.ctx, mysqldb.CommandUpdateParams(rows.UpdateCommand(r))))
	})
	each(t, e.NewRequests, func(q *mysqldb.Queries, r *rules.CommandRequest) error {
		return q.CommandRequestInsert(t.ctx, mysqldb.CommandRequestInsertParams(rows.CommandRequest(*r)))
	})
}

func (t *tx) applyWorkers(e *rules.Effects) {
	if w := e.Worker; w != nil {
		t.hold(func(q *mysqldb.Queries) error {
			return q.WorkerUpsert(t.ctx, mysqldb.WorkerUpsertParams(rows.Worker(*w)))
		})
	}
	if w := e.RemoveWorker; w != nil {
		t.hold(func(q *mysqldb.Queries) error {
			return affected(q.WorkerDelete(t.ctx, mysqldb.WorkerDeleteParams{
				Namespace: w.Namespace, WorkerID: w.WorkerID, Generation: w.Generation,
			}))
		})
	}
	if e.Seen != nil {
		t.seen = append(t.seen, *e.Seen)
	}
	each(t, e.Registrations, func(q *mysqldb.Queries, r *rules.Registration) error {
		return q.RegistrationUpsert(t.ctx, mysqldb.RegistrationUpsertParams(*r))
	})
	each(t, sorted(e.Definitions, byDefinition), func(q *mysqldb.Queries, r *rules.Definition) error {
		return q.DefinitionUpsert(t.ctx, mysqldb.DefinitionUpsertParams(rows.Definition(*r)))
	})
}

func (t *tx) applyReceipts(e *rules.Effects) {
	each(t, e.DropReceipts, func(q *mysqldb.Queries, r *rules.PollReceipt) error {
		return q.ReceiptDrop(t.ctx, mysqldb.ReceiptDropParams{
			Namespace: r.Namespace, WorkerID: r.WorkerID, Kind: r.Kind, PollRequestID: r.PollRequestID,
			TaskID: r.TaskID, Attempt: r.Attempt,
		})
	})
	each(t, e.PollReceipts, func(q *mysqldb.Queries, r *rules.PollReceipt) error {
		return q.ReceiptInsert(t.ctx, mysqldb.ReceiptInsertParams(*r))
	})
	each(t, e.Namespaces, func(q *mysqldb.Queries, r *rules.Namespace) error {
		return q.NamespaceUpsert(t.ctx, mysqldb.NamespaceUpsertParams(*r))
	})
}
