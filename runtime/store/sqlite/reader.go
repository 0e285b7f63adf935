package sqlite

import (
	"context"
	"encoding/json"

	"dwserver/gen/sqlitedb"
	"dwserver/runtime/rules"
	"dwserver/runtime/store"
	"dwserver/runtime/store/rows"
)

// The methods below implement store.Reader on the pool of readers.

func (s *Store) ReadNamespace(ctx context.Context, name string) (rules.Namespace, error) {
	row, err := s.q.NamespaceGet(s.during(ctx), name)
	return rules.Namespace(row), s.end(err)
}

func (s *Store) ListNamespaces(ctx context.Context) ([]rules.Namespace, error) {
	list, err := s.q.NamespaceList(s.during(ctx))
	return all(list, asNamespace, s.end(err))
}

func (s *Store) ReadInstance(ctx context.Context, workflowID string) (rules.Instance, error) {
	return s.GetInstance(ctx, workflowID)
}

func (s *Store) ReadRun(ctx context.Context, runID string) (rules.Run, error) {
	return s.GetRun(ctx, runID)
}

func (s *Store) ReadRunInput(ctx context.Context, runID string) (rules.RunInput, error) {
	return s.GetRunInput(ctx, runID)
}

func (s *Store) ReadTask(ctx context.Context, taskID string) (rules.Task, error) {
	return s.GetTask(ctx, taskID)
}

func (s *Store) ReadActivity(ctx context.Context, executionID string) (rules.Activity, error) {
	return s.GetActivity(ctx, executionID)
}

func (s *Store) ReadAttempt(ctx context.Context, attemptID string) (rules.Attempt, error) {
	return s.GetAttempt(ctx, attemptID)
}

func (s *Store) ReadWorker(ctx context.Context, namespace, workerID string) (rules.Worker, error) {
	known, key := s.writer.registered, workerKey(namespace, workerID)
	worker, ok, changes := known.get(key)
	if ok {
		return worker, ctx.Err()
	}
	row, err := s.q.WorkerGet(s.during(ctx), sqlitedb.WorkerGetParams{Namespace: namespace, WorkerID: workerID})
	if err == nil && s.writer.keep {
		known.put(key, rules.Worker(row), changes)
	}
	return rules.Worker(row), s.end(err)
}

func (s *Store) ReadPoll(ctx context.Context, key store.PollKey) (rules.Worker, *rules.PollReceipt, error) {
	worker, err := s.ReadWorker(ctx, key.Namespace, key.WorkerID)
	if err != nil {
		return worker, nil, err
	}
	receipt, err := s.ReadPollReceipt(ctx, key.Namespace, key.WorkerID, key.Kind, key.PollRequestID)
	if err != nil {
		return worker, nil, absent(err)
	}
	return worker, &receipt, nil
}

func (s *Store) ReadPollReceipt(ctx context.Context, namespace, workerID, kind, pollRequestID string) (rules.PollReceipt, error) {
	return s.GetPollReceipt(ctx, namespace, workerID, kind, pollRequestID)
}

func (s *Store) ReadHead(ctx context.Context, c store.Claim) (store.Head, error) {
	return s.Head(ctx, c)
}

// LooksFirst implements store.Store: a claim's own search is a call.
func (s *Store) LooksFirst() bool { return false }

func (s *Store) ReadDefinition(ctx context.Context, namespace, workflowType string) (rules.Definition, error) {
	return s.GetDefinition(ctx, namespace, workflowType)
}

func (s *Store) ListRuns(ctx context.Context, workflowID string) ([]rules.Run, error) {
	list, err := s.q.RunList(s.during(ctx), workflowID)
	return all(list, asRun, s.end(err))
}

func (s *Store) ListActivities(ctx context.Context, runID string, after, limit int64) ([]rules.Activity, error) {
	rows, err := s.q.ActivityListPage(s.during(ctx), sqlitedb.ActivityListPageParams{RunID: runID, After: after, MaxRows: limit})
	return all(rows, asActivity, s.end(err))
}

func (s *Store) ListAttempts(ctx context.Context, executionID string) ([]rules.Attempt, error) {
	rows, err := s.q.AttemptList(s.during(ctx), executionID)
	return all(rows, asAttempt, s.end(err))
}

func asAttempt(row sqlitedb.ActivityAttempt) rules.Attempt { return rules.Attempt(row) }

func (s *Store) ListLabels(ctx context.Context, runIDs []string) ([]rules.RunInput, error) {
	ids, err := json.Marshal(runIDs)
	if err != nil {
		return nil, err
	}
	list, err := s.q.RunLabelsList(s.during(ctx), string(ids))
	return all(list, asLabels, s.end(err))
}

func asLabels(row sqlitedb.RunLabelsListRow) rules.RunInput {
	return rules.RunInput{RunID: row.RunID, Memo: row.Memo, SearchAttributes: row.SearchAttributes}
}

func (s *Store) ListOpenWaitsOf(ctx context.Context, runID string) ([]rules.Wait, error) {
	return s.ListOpenWaits(ctx, runID)
}

func (s *Store) ListOpenActivitiesOf(ctx context.Context, runID string) ([]rules.Activity, error) {
	return s.ListOpenActivities(ctx, runID)
}

func (s *Store) ListOpenTimersOf(ctx context.Context, runID string) ([]rules.Timer, error) {
	return s.ListOpenTimers(ctx, runID)
}

func (s *Store) ListCommands(ctx context.Context, runID string) ([]rules.Command, error) {
	list, err := s.q.CommandList(s.during(ctx), runID)
	return all(list, asCommand, s.end(err))
}

func (s *Store) ListWorkflows(ctx context.Context, p store.ListPage) ([]rules.Run, error) {
	arg := sqlitedb.RunListPageParams(rows.Page(p))
	list, err := s.q.RunListPage(s.during(ctx), arg)
	return all(list, asRun, s.end(err))
}

func (s *Store) ReadEvent(ctx context.Context, runID string, sequence int64) (rules.Event, error) {
	return s.GetEvent(ctx, runID, sequence)
}

func (s *Store) DueTimers(ctx context.Context, now, limit int64) ([]rules.Timer, error) {
	list, err := s.q.TimerListDue(s.during(ctx), sqlitedb.TimerListDueParams{Now: now, MaxRows: limit})
	return all(list, asTimer, s.end(err))
}

func (s *Store) DueActivities(ctx context.Context, now, limit int64) ([]rules.Activity, error) {
	list, err := s.q.ActivityListDue(s.during(ctx), sqlitedb.ActivityListDueParams{Now: now, MaxRows: limit})
	return all(list, asActivity, s.end(err))
}

func (s *Store) DueRuns(ctx context.Context, now, limit int64) ([]rules.Run, error) {
	list, err := s.q.RunListDue(s.during(ctx), sqlitedb.RunListDueParams{Now: now, MaxRows: limit})
	return all(list, asRun, s.end(err))
}

func (s *Store) DueLeases(ctx context.Context, now, limit int64) ([]rules.Task, error) {
	list, err := s.q.TaskListLeaseExpired(s.during(ctx), sqlitedb.TaskListLeaseExpiredParams{Now: now, MaxRows: limit})
	return all(list, asTask, s.end(err))
}

func (s *Store) NextDue(ctx context.Context) (int64, error) {
	at, err := s.q.DueNext(s.during(ctx))
	return at, s.end(err)
}

func (s *Store) ListDelayed(ctx context.Context, now, limit int64) ([]rules.Task, error) {
	list, err := s.q.TaskListDelayed(s.during(ctx), sqlitedb.TaskListDelayedParams{Now: now, MaxRows: limit})
	return all(list, asTask, s.end(err))
}

func (s *Store) PrunePollReceipts(ctx context.Context, now, limit int64) (n int64, err error) {
	err = s.writer.do(ctx, func(_ context.Context, t *tx) (err error) {
		if err := t.writing(); err != nil {
			return err
		}
		n, err = t.q.ReceiptPrune(t.ctx, sqlitedb.ReceiptPruneParams{Now: now, MaxRows: limit})
		return t.end(err)
	})
	return n, err
}

func (s *Store) PruneRegistrations(ctx context.Context, endedBefore, limit int64) (n int64, err error) {
	err = s.writer.do(ctx, func(_ context.Context, t *tx) (err error) {
		if err := t.writing(); err != nil {
			return err
		}
		n, err = t.q.RegistrationPrune(t.ctx, sqlitedb.RegistrationPruneParams{EndedBefore: endedBefore, MaxRows: limit})
		return t.end(err)
	})
	return n, err
}
