package mysql

import (
	"context"
	"slices"

	"dwserver/gen/mysqldb"
	"dwserver/runtime/rules"
	"dwserver/runtime/store"
	"dwserver/runtime/store/rows"
)

// The methods below implement store.Reader on the pool.

func (s *Store) ReadNamespace(ctx context.Context, name string) (out rules.Namespace, err error) {
	err = s.run(ctx, func(q *mysqldb.Queries) error {
		row, err := q.NamespaceGet(ctx, name)
		out = rules.Namespace(row)
		return err
	})
	return out, err
}

func (s *Store) ListNamespaces(ctx context.Context) (out []rules.Namespace, err error) {
	err = s.run(ctx, func(q *mysqldb.Queries) error {
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
	err = s.run(ctx, func(q *mysqldb.Queries) error {
		row, err := q.WorkerGet(ctx, mysqldb.WorkerGetParams{Namespace: namespace, WorkerID: workerID})
		out = rules.Worker(row)
		return err
	})
	return out, err
}

func (s *Store) ReadPoll(ctx context.Context, key store.PollKey) (w rules.Worker, receipt *rules.PollReceipt, err error) {
	err = s.run(ctx, func(q *mysqldb.Queries) error {
		row, err := q.WorkerGetOfPoll(ctx, mysqldb.WorkerGetOfPollParams(key))
		w = rules.Worker(row.Worker)
		if receipt = nil; row.TaskID.Valid {
			receipt = &rules.PollReceipt{
				Namespace: key.Namespace, WorkerID: key.WorkerID, Kind: key.Kind, PollRequestID: key.PollRequestID,
				Binding: row.Binding.String, TaskID: row.TaskID.String, Attempt: row.Attempt.Int64, PruneAt: row.PruneAt.Int64,
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
	err = s.run(ctx, func(q *mysqldb.Queries) error {
		list, err := q.RunList(ctx, workflowID)
		out = all(list, asRun)
		return err
	})
	return out, err
}

func (s *Store) ListActivities(ctx context.Context, runID string, after, limit int64) (out []rules.Activity, err error) {
	err = s.run(ctx, func(q *mysqldb.Queries) error {
		list, err := q.ActivityListPage(ctx, mysqldb.ActivityListPageParams{RunID: runID, After: after, Limit: rowLimit(limit)})
		out = all(list, asActivity)
		slices.SortFunc(out, bySequence)
		return err
	})
	return out, err
}

func (s *Store) ListAttempts(ctx context.Context, executionID string) (out []rules.Attempt, err error) {
	err = s.run(ctx, func(q *mysqldb.Queries) error {
		list, err := q.AttemptList(ctx, executionID)
		out = all(list, asAttempt)
		slices.SortFunc(out, byAttempt)
		return err
	})
	return out, err
}

func (s *Store) ListLabels(ctx context.Context, runIDs []string) (out []rules.RunInput, err error) {
	err = s.readText(ctx, func(q *mysqldb.Queries) error {
		list, err := q.RunLabelsList(ctx, runIDs)
		out = all(list, asLabels)
		return err
	})
	return out, err
}

func asLabels(row mysqldb.RunLabelsListRow) rules.RunInput {
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
	err = s.run(ctx, func(q *mysqldb.Queries) error {
		list, err := q.CommandList(ctx, runID)
		out = all(list, asCommand)
		slices.SortFunc(out, byCommand)
		return err
	})
	return out, err
}

func (s *Store) ListWorkflows(ctx context.Context, p store.ListPage) (out []rules.Run, err error) {
	sel := rows.Page(p)
	arg := mysqldb.RunListPageParams{
		Namespace: sel.Namespace, StartedAt: sel.StartedAt, RunID: sel.RunID, WorkflowType: sel.WorkflowType,
		Statuses: sel.Statuses, Limit: rowLimit(sel.MaxRows),
	}
	err = s.run(ctx, func(q *mysqldb.Queries) error {
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
	err = s.run(ctx, func(q *mysqldb.Queries) error {
		list, err := q.TimerListDue(ctx, mysqldb.TimerListDueParams{Now: now, Limit: rowLimit(limit)})
		out = all(list, asTimer)
		return err
	})
	return out, err
}

func (s *Store) DueActivities(ctx context.Context, now, limit int64) (out []rules.Activity, err error) {
	err = s.run(ctx, func(q *mysqldb.Queries) error {
		list, err := q.ActivityListDue(ctx, mysqldb.ActivityListDueParams{Now: now, Limit: rowLimit(limit)})
		out = all(list, asActivity)
		return err
	})
	return out, err
}

func (s *Store) DueRuns(ctx context.Context, now, limit int64) (out []rules.Run, err error) {
	err = s.run(ctx, func(q *mysqldb.Queries) error {
		list, err := q.RunListDue(ctx, mysqldb.RunListDueParams{Now: now, Limit: rowLimit(limit)})
		out = all(list, asRun)
		return err
	})
	return out, err
}

func (s *Store) DueLeases(ctx context.Context, now, limit int64) (out []rules.Task, err error) {
	err = s.run(ctx, func(q *mysqldb.Queries) error {
		list, err := q.TaskListLeaseExpired(ctx, mysqldb.TaskListLeaseExpiredParams{Now: now, Limit: rowLimit(limit)})
		out = all(list, asOverdue)
		return err
	})
	return out, err
}

func (s *Store) NextDue(ctx context.Context) (at int64, err error) {
	err = s.run(ctx, func(q *mysqldb.Queries) (err error) {
		at, err = q.DueNext(ctx)
		return err
	})
	return at, err
}

func (s *Store) ListDelayed(ctx context.Context, now, limit int64) (out []rules.Task, err error) {
	err = s.run(ctx, func(q *mysqldb.Queries) error {
		list, err := q.TaskListDelayed(ctx, mysqldb.TaskListDelayedParams{Now: now, Limit: rowLimit(limit)})
		out = all(list, asDelayed)
		return err
	})
	return out, err
}

func (s *Store) PrunePollReceipts(ctx context.Context, now, limit int64) (n int64, err error) {
	err = s.run(ctx, func(q *mysqldb.Queries) (err error) {
		n, err = q.ReceiptPrune(ctx, mysqldb.ReceiptPruneParams{Now: now, Limit: rowLimit(limit)})
		return err
	})
	return n, err
}

func (s *Store) PruneRegistrations(ctx context.Context, endedBefore, limit int64) (n int64, err error) {
	err = s.run(ctx, func(q *mysqldb.Queries) (err error) {
		n, err = q.RegistrationPrune(ctx, mysqldb.RegistrationPruneParams{EndedBefore: endedBefore, Limit: rowLimit(limit)})
		return err
	})
	return n, err
}
