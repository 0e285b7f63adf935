package postgres

import (
	"context"

	"dwserver/gen/pgdb"
	"dwserver/runtime/rules"
)

// reads are the reads that transactions and readers share; run makes the round trip.
type reads struct {
	run func(ctx context.Context, fn func(*pgdb.Queries) error) error
}

// all converts listed rows.
func all[S, T any](rows []S, as func(S) T) []T {
	if len(rows) == 0 {
		return nil
	}
	list := make([]T, len(rows))
	for i := range rows {
		list[i] = as(rows[i])
	}
	return list
}

func asRun(r pgdb.WorkflowRun) rules.Run        { return rules.Run(r) }
func asEvent(r pgdb.HistoryEvent) rules.Event   { return rules.Event(r) }
func asTask(r pgdb.Task) rules.Task             { return rules.Task(r) }
func asActivity(r pgdb.Activity) rules.Activity { return rules.Activity(r) }
func asTimer(r pgdb.Timer) rules.Timer          { return rules.Timer(r) }
func asWait(r pgdb.Wait) rules.Wait             { return rules.Wait(r) }
func asSignal(r pgdb.Signal) rules.Signal       { return rules.Signal(r) }
func asCommand(r pgdb.Command) rules.Command    { return rules.Command(r) }
func asStep(r pgdb.StepListRow) rules.Step      { return rules.Step(r) }
func asNamespace(r pgdb.Namespace) rules.Namespace {
	return rules.Namespace(r)
}

// The methods below implement store.Tx; Store passes its own on to them.

func (r *reads) GetActivity(ctx context.Context, executionID string) (out rules.Activity, err error) {
	err = r.run(ctx, func(q *pgdb.Queries) error {
		row, err := q.ActivityGet(ctx, executionID)
		out = rules.Activity(row)
		return err
	})
	return out, err
}

func (r *reads) GetAttempt(ctx context.Context, attemptID string) (out rules.Attempt, err error) {
	err = r.run(ctx, func(q *pgdb.Queries) error {
		row, err := q.AttemptGet(ctx, attemptID)
		out = rules.Attempt(row)
		return err
	})
	return out, err
}

func (r *reads) GetTimer(ctx context.Context, timerID string) (out rules.Timer, err error) {
	err = r.run(ctx, func(q *pgdb.Queries) error {
		row, err := q.TimerGet(ctx, timerID)
		out = rules.Timer(row)
		return err
	})
	return out, err
}

func (r *reads) GetTask(ctx context.Context, taskID string) (out rules.Task, err error) {
	err = r.run(ctx, func(q *pgdb.Queries) error {
		row, err := q.TaskGet(ctx, taskID)
		out = rules.Task(row)
		return err
	})
	return out, err
}

func (r *reads) GetInstance(ctx context.Context, workflowID string) (out rules.Instance, err error) {
	err = r.run(ctx, func(q *pgdb.Queries) error {
		row, err := q.InstanceGet(ctx, workflowID)
		out = rules.Instance(row)
		return err
	})
	return out, err
}

func (r *reads) GetRun(ctx context.Context, runID string) (out rules.Run, err error) {
	err = r.run(ctx, func(q *pgdb.Queries) error {
		row, err := q.RunGet(ctx, runID)
		out = rules.Run(row)
		return err
	})
	return out, err
}

func (r *reads) GetRunInput(ctx context.Context, runID string) (out rules.RunInput, err error) {
	err = r.run(ctx, func(q *pgdb.Queries) error {
		row, err := q.RunInputGet(ctx, runID)
		out = rules.RunInput(row)
		return err
	})
	return out, err
}

func (r *reads) GetDefinition(ctx context.Context, namespace, workflowType string) (out rules.Definition, err error) {
	err = r.run(ctx, func(q *pgdb.Queries) error {
		row, err := q.DefinitionGet(ctx, pgdb.DefinitionGetParams{Namespace: namespace, WorkflowType: workflowType})
		out = rules.Definition(row)
		return err
	})
	return out, err
}

func (r *reads) GetCommandRequest(ctx context.Context, key rules.CommandRequest) (out rules.CommandRequest, err error) {
	err = r.run(ctx, func(q *pgdb.Queries) error {
		row, err := q.CommandRequestGet(ctx, pgdb.CommandRequestGetParams{
			WorkflowID: key.WorkflowID, CommandType: key.CommandType, TargetName: key.TargetName, RequestID: key.RequestID,
		})
		out = rules.CommandRequest(row)
		return err
	})
	return out, err
}

func (r *reads) ListEvents(ctx context.Context, runID string, after, upTo, limit int64) (out []rules.Event, err error) {
	err = r.run(ctx, func(q *pgdb.Queries) error {
		rows, err := q.EventList(ctx, pgdb.EventListParams{RunID: runID, After: after, UpTo: upTo, MaxRows: limit})
		out = all(rows, asEvent)
		return err
	})
	return out, err
}

func (r *reads) GetEvent(ctx context.Context, runID string, sequence int64) (out rules.Event, err error) {
	err = r.run(ctx, func(q *pgdb.Queries) error {
		row, err := q.EventGet(ctx, pgdb.EventGetParams{RunID: runID, Sequence: sequence})
		out = rules.Event(row)
		return err
	})
	return out, err
}

func (r *reads) CountLeases(ctx context.Context, namespace, workerID, kind string, now int64) (n int64, err error) {
	err = r.run(ctx, func(q *pgdb.Queries) (err error) {
		n, err = q.TaskCountLeases(ctx, pgdb.TaskCountLeasesParams{
			Namespace: namespace, LeaseOwner: workerID, Kind: kind, Now: now,
		})
		return err
	})
	return n, err
}

func (r *reads) GetCommand(ctx context.Context, commandID string) (out rules.Command, err error) {
	err = r.run(ctx, func(q *pgdb.Queries) error {
		row, err := q.CommandGet(ctx, commandID)
		out = rules.Command(row)
		return err
	})
	return out, err
}

func (r *reads) GetRegistration(ctx context.Context, token string) (out rules.Registration, err error) {
	err = r.run(ctx, func(q *pgdb.Queries) error {
		row, err := q.RegistrationGet(ctx, token)
		out = rules.Registration(row)
		return err
	})
	return out, err
}

func (r *reads) GetPollReceipt(ctx context.Context, namespace, workerID, kind, pollRequestID string) (out rules.PollReceipt, err error) {
	err = r.run(ctx, func(q *pgdb.Queries) error {
		row, err := q.ReceiptGet(ctx, pgdb.ReceiptGetParams{
			Namespace: namespace, WorkerID: workerID, Kind: kind, PollRequestID: pollRequestID,
		})
		out = rules.PollReceipt(row)
		return err
	})
	return out, err
}

func (r *reads) ListOpenActivities(ctx context.Context, runID string) (out []rules.Activity, err error) {
	err = r.run(ctx, func(q *pgdb.Queries) error {
		rows, err := q.ActivityListOpen(ctx, runID)
		out = all(rows, asActivity)
		return err
	})
	return out, err
}

func (r *reads) ListOpenTimers(ctx context.Context, runID string) (out []rules.Timer, err error) {
	err = r.run(ctx, func(q *pgdb.Queries) error {
		rows, err := q.TimerListOpen(ctx, runID)
		out = all(rows, asTimer)
		return err
	})
	return out, err
}

func (r *reads) ListOpenWaits(ctx context.Context, runID string) (out []rules.Wait, err error) {
	err = r.run(ctx, func(q *pgdb.Queries) error {
		rows, err := q.WaitListOpen(ctx, runID)
		out = all(rows, asWait)
		return err
	})
	return out, err
}

func (r *reads) ListOpenTasks(ctx context.Context, runID string) (out []rules.Task, err error) {
	err = r.run(ctx, func(q *pgdb.Queries) error {
		rows, err := q.TaskListOpen(ctx, runID)
		out = all(rows, asTask)
		return err
	})
	return out, err
}

func (r *reads) ListReceivedSignals(ctx context.Context, runID string) (out []rules.Signal, err error) {
	err = r.run(ctx, func(q *pgdb.Queries) error {
		rows, err := q.SignalListReceived(ctx, runID)
		out = all(rows, asSignal)
		return err
	})
	return out, err
}

func (r *reads) ListLeases(ctx context.Context, namespace, workerID string) (out []rules.Task, err error) {
	err = r.run(ctx, func(q *pgdb.Queries) error {
		rows, err := q.TaskListLeased(ctx, pgdb.TaskListLeasedParams{Namespace: namespace, LeaseOwner: workerID})
		out = all(rows, asTask)
		return err
	})
	return out, err
}

func (r *reads) CountOpen(ctx context.Context, runID string, from, to int64) (n int64, err error) {
	err = r.run(ctx, func(q *pgdb.Queries) (err error) {
		n, err = q.StepCountOpen(ctx, pgdb.StepCountOpenParams{RunID: runID, FromSequence: from, ToSequence: to})
		return err
	})
	return n, err
}

func (r *reads) ListSteps(ctx context.Context, runID string, from, to int64) (out []rules.Step, err error) {
	err = r.run(ctx, func(q *pgdb.Queries) error {
		rows, err := q.StepList(ctx, pgdb.StepListParams{RunID: runID, FromSequence: from, ToSequence: to})
		out = all(rows, asStep)
		return err
	})
	return out, err
}

func (r *reads) LastFairOrder(ctx context.Context, namespace, taskQueue, kind, fairnessKey string) (n int64, err error) {
	err = r.run(ctx, func(q *pgdb.Queries) (err error) {
		n, err = q.TaskLastFairOrder(ctx, pgdb.TaskLastFairOrderParams{
			Namespace: namespace, TaskQueue: taskQueue, Kind: kind, FairnessKey: fairnessKey,
		})
		return err
	})
	return n, err
}
