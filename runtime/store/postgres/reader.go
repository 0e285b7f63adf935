package postgres

import (
	"context"

	"dwserver/gen/pgdb"
	"dwserver/runtime/rules"
	"dwserver/runtime/store"
	"dwserver/runtime/store/rows"
)

// The methods below implement store.Reader on the pool.

func (s *Store) ReadNamespace(ctx context.Context, name string) (out rules.Namespace, err error) {
	err = s.run(ctx, func(q *pgdb.Queries) error {
		row, err := q.NamespaceGet(ctx, name)
		out = rules.Namespace(row)
		return err
	})
	return out, err
}

func (s *Store) ListNamespaces(ctx context.Context) (out []rules.Namespace, err error) {
	err = s.run(ctx, func(q *pgdb.Queries) error {
		list, err := q.NamespaceList(ctx)
		out = all(list, asNamespace)
		return err
	})
	return out, err
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

func (s *Store) ReadWorker(ctx context.Context, namespace, workerID string) (out rules.Worker, err error) {
	err = s.run(ctx, func(q *pgdb.Queries) error {
		row, err := q.WorkerGet(ctx, pgdb.WorkerGetParams{Namespace: namespace, WorkerID: workerID})
		out = rules.Worker(row)
		return err
	})
	return out, err
}

func (s *Store) ReadPoll(ctx context.Context, key store.PollKey) (w rules.Worker, receipt *rules.PollReceipt, err error) {
	err = s.run(ctx, func(q *pgdb.Queries) error {
		row, err := q.WorkerGetOfPoll(ctx, pgdb.WorkerGetOfPollParams(key))
		w = rules.Worker(row.Worker)
		if receipt = nil; row.TaskID != "" {
			receipt = &rules.PollReceipt{
				Namespace: key.Namespace, WorkerID: key.WorkerID, Kind: key.Kind, PollRequestID: key.PollRequestID,
				Binding: row.Binding, TaskID: row.TaskID, Attempt: row.Attempt, PruneAt: row.PruneAt,
			}
		}
		return err
	})
	return w, receipt, err
}

func (s *Store) ReadPollReceipt(ctx context.Context, namespace, workerID, kind, pollRequestID string) (rules.PollReceipt, error) {
	return s.GetPollReceipt(ctx, namespace, workerID, kind, pollRequestID)
}

func (s *Store) ReadDefinition(ctx context.Context, namespace, workflowType string) (rules.Definition, error) {
	return s.GetDefinition(ctx, namespace, workflowType)
}

func (s *Store) ListRuns(ctx context.Context, workflowID string) (out []rules.Run, err error) {
	err = s.run(ctx, func(q *pgdb.Queries) error {
		list, err := q.RunList(ctx, workflowID)
		out = all(list, asRun)
		return err
	})
	return out, err
}

func (s *Store) ListActivities(ctx context.Context, runID string, after, limit int64) (out []rules.Activity, err error) {
	err = s.run(ctx, func(q *pgdb.Queries) error {
		list, err := q.ActivityListPage(ctx, pgdb.ActivityListPageParams{RunID: runID, After: after, MaxRows: limit})
		out = all(list, asActivity)
		return err
	})
	return out, err
}

func (s *Store) ListAttempts(ctx context.Context, executionID string) (out []rules.Attempt, err error) {
	err = s.run(ctx, func(q *pgdb.Queries) error {
		list, err := q.AttemptList(ctx, executionID)
		out = all(list, asAttempt)
		return err
	})
	return out, err
}

func asAttempt(row pgdb.ActivityAttempt) rules.Attempt { return rules.Attempt(row) }

func (s *Store) ListLabels(ctx context.Context, runIDs []string) (out []rules.RunInput, err error) {
	err = s.run(ctx, func(q *pgdb.Queries) error {
		list, err := q.RunLabelsList(ctx, runIDs)
		out = all(list, asLabels)
		return err
	})
	return out, err
}

func asLabels(row pgdb.RunLabelsListRow) rules.RunInput {
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

func (s *Store) ListCommands(ctx context.Context, runID string) (out []rules.Command, err error) {
	err = s.run(ctx, func(q *pgdb.Queries) error {
		list, err := q.CommandList(ctx, runID)
		out = all(list, asCommand)
		return err
	})
	return out, err
}

func (s *Store) ListWorkflows(ctx context.Context, p store.ListPage) (out []rules.Run, err error) {
	arg := pgdb.RunListPageParams(rows.Page(p))
	err = s.run(ctx, func(q *pgdb.Queries) error {
		list, err := q.RunListPage(ctx, arg)
		out = all(list, asRun)
		return err
	})
	return out, err
}

func (s *Store) ReadEvent(ctx context.Context, runID string, sequence int64) (rules.Event, error) {
	return s.GetEvent(ctx, runID, sequence)
}

func (s *Store) DueTimers(ctx context.Context, now, limit int64) (out []rules.Timer, err error) {
	err = s.run(ctx, func(q *pgdb.Queries) error {
		list, err := q.TimerListDue(ctx, pgdb.TimerListDueParams{Now: now, MaxRows: limit})
		out = all(list, asTimer)
		return err
	})
	return out, err
}

func (s *Store) DueActivities(ctx context.Context, now, limit int64) (out []rules.Activity, err error) {
	err = s.run(ctx, func(q *pgdb.Queries) error {
		list, err := q.ActivityListDue(ctx, pgdb.ActivityListDueParams{Now: now, MaxRows: limit})
		out = all(list, asActivity)
		return err
	})
	return out, err
}

func (s *Store) DueRuns(ctx context.Context, now, limit int64) (out []rules.Run, err error) {
	err = s.run(ctx, func(q *pgdb.Queries) error {
		list, err := q.RunListDue(ctx, pgdb.RunListDueParams{Now: now, MaxRows: limit})
		out = all(list, asRun)
		return err
	})
	return out, err
}

func (s *Store) DueLeases(ctx context.Context, now, limit int64) (out []rules.Task, err error) {
	err = s.run(ctx, func(q *pgdb.Queries) error {
		list, err := q.TaskListLeaseExpired(ctx, pgdb.TaskListLeaseExpiredParams{Now: now, MaxRows: limit})
		out = all(list, asTask)
		return err
	})
	return out, err
}

func (s *Store) NextDue(ctx context.Context) (at int64, err error) {
	err = s.run(ctx, func(q *pgdb.Queries) (err error) {
		at, err = q.DueNext(ctx)
		return err
	})
	return at, err
}

func (s *Store) ListDelayed(ctx context.Context, now, limit int64) (out []rules.Task, err error) {
	err = s.run(ctx, func(q *pgdb.Queries) error {
		list, err := q.TaskListDelayed(ctx, pgdb.TaskListDelayedParams{Now: now, MaxRows: limit})
		out = all(list, asTask)
		return err
	})
	return out, err
}

func (s *Store) PrunePollReceipts(ctx context.Context, now, limit int64) (n int64, err error) {
	err = s.run(ctx, func(q *pgdb.Queries) (err error) {
		n, err = q.ReceiptPrune(ctx, pgdb.ReceiptPruneParams{Now: now, MaxRows: limit})
		return err
	})
	return n, err
}

func (s *Store) PruneRegistrations(ctx context.Context, endedBefore, limit int64) (n int64, err error) {
	err = s.run(ctx, func(q *pgdb.Queries) (err error) {
		n, err = q.RegistrationPrune(ctx, pgdb.RegistrationPruneParams{EndedBefore: endedBefore, MaxRows: limit})
		return err
	})
	return n, err
}
