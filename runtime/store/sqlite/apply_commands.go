package sqlite

import (
	"dwserver/gen/sqlitedb"
	"dwserver/runtime/rules"
	"dwserver/runtime/store/rows"
)

func (t *tx) applySignals(e *rules.Effects) error {
	for i := range e.NewSignals {
		err := t.q.SignalInsert(t.ctx, sqlitedb.SignalInsertParams(rows.Signal(e.NewSignals[i])))
		if err = t.put("signal", e.NewSignals[i].SignalID, err); err != nil {
			return err
		}
	}
	for i := range e.Signals {
		n, err := t.q.SignalUpdate(t.ctx, sqlitedb.SignalUpdateParams(rows.UpdateSignal(&e.Signals[i])))
		if err = t.set("signal", e.Signals[i].SignalID, n, err); err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) applyCommands(e *rules.Effects) error {
	for i := range e.NewCommands {
		err := t.q.CommandInsert(t.ctx, sqlitedb.CommandInsertParams(e.NewCommands[i]))
		if err = t.put("command", e.NewCommands[i].CommandID, err); err != nil {
			return err
		}
	}
	for i := range e.Commands {
		n, err := t.q.CommandUpdate(t.ctx, sqlitedb.CommandUpdateParams(rows.UpdateCommand(&e.Commands[i])))
		if err = t.set("command", e.Commands[i].CommandID, n, err); err != nil {
			return err
		}
	}
	for i := range e.NewRequests {
		err := t.q.CommandRequestInsert(t.ctx, sqlitedb.CommandRequestInsertParams(rows.CommandRequest(e.NewRequests[i])))
		if err = t.put("commandrequest", e.NewRequests[i].CommandID, err); err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) applyWorkers(e *rules.Effects) error {
	if w := e.Worker; w != nil {
		t.reregisters(w.Namespace, w.WorkerID)
		err := t.q.WorkerUpsert(t.ctx, sqlitedb.WorkerUpsertParams(rows.Worker(*w)))
		if err = t.put("worker", w.WorkerID, err); err != nil {
			return err
		}
		wrote(t.cache, &t.cache.workers, workerKey(w.Namespace, w.WorkerID), *w)
	}
	if w := e.RemoveWorker; w != nil {
		t.reregisters(w.Namespace, w.WorkerID)
		n, err := t.q.WorkerDelete(t.ctx, sqlitedb.WorkerDeleteParams{
			Namespace: w.Namespace, WorkerID: w.WorkerID, Generation: w.Generation,
		})
		if err = t.set("worker", w.WorkerID, n, err); err != nil {
			return err
		}
		t.cache.workers.forget(workerKey(w.Namespace, w.WorkerID))
	}
	if w := e.Seen; w != nil {
		t.reregisters(w.Namespace, w.WorkerID)
		t.cache.workers.forget(workerKey(w.Namespace, w.WorkerID))
		err := t.q.WorkerSeen(t.ctx, sqlitedb.WorkerSeenParams{LastSeenAt: w.At, Namespace: w.Namespace, WorkerID: w.WorkerID})
		if err = t.put("worker", w.WorkerID, err); err != nil {
			return err
		}
	}
	for i := range e.Registrations {
		err := t.q.RegistrationUpsert(t.ctx, sqlitedb.RegistrationUpsertParams(e.Registrations[i]))
		if err = t.put("registration", e.Registrations[i].Token, err); err != nil {
			return err
		}
	}
	for i := range e.Definitions {
		err := t.q.DefinitionUpsert(t.ctx, sqlitedb.DefinitionUpsertParams(rows.Definition(e.Definitions[i])))
		if err = t.put("definition", e.Definitions[i].WorkflowType, err); err != nil {
			return err
		}
	}
	return nil
}

// reregisters notes a registration that readers will have to read anew.
func (t *tx) reregisters(namespace, workerID string) {
	t.w.workers = append(t.w.workers, workerKey(namespace, workerID))
}

func (t *tx) applyReceipts(e *rules.Effects) error {
	for i := range e.DropReceipts {
		r := &e.DropReceipts[i]
		err := t.q.ReceiptDrop(t.ctx, sqlitedb.ReceiptDropParams{
			Namespace: r.Namespace, WorkerID: r.WorkerID, Kind: r.Kind, PollRequestID: r.PollRequestID,
			TaskID: r.TaskID, Attempt: r.Attempt,
		})
		if err = t.put("pollreceipt", r.PollRequestID, err); err != nil {
			return err
		}
	}
	for i := range e.PollReceipts {
		err := t.q.ReceiptInsert(t.ctx, sqlitedb.ReceiptInsertParams(e.PollReceipts[i]))
		if err = t.put("pollreceipt", e.PollReceipts[i].PollRequestID, err); err != nil {
			return err
		}
	}
	for i := range e.Namespaces {
		err := t.q.NamespaceUpsert(t.ctx, sqlitedb.NamespaceUpsertParams(e.Namespaces[i]))
		if err = t.put("namespace", e.Namespaces[i].Name, err); err != nil {
			return err
		}
	}
	return nil
}
