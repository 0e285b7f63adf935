package sqlite

import (
	"context"

	"dwserver/gen/sqlitedb"
	"dwserver/gen/sqliteraw"
	"dwserver/runtime/rules"
)

// reads are the reads that transactions and readers share. In a transaction ctx is set and faults
// are remembered; a reader has neither, as many goroutines use it.
type reads struct {
	q     *sqliteraw.Queries
	ctx   context.Context
	fault error // a fault the transaction may not outlive, whatever its function makes of it
}

// during is the context a statement runs under: the transaction's, else ctx, which is asked before the
// statement starts. A statement that has started is short and runs to its end.
func (r *reads) during(ctx context.Context) context.Context {
	if r.ctx != nil {
		return r.ctx
	}
	return ctx
}

// end classifies a statement's error and, in a transaction, remembers a fault.
func (r *reads) end(err error) error {
	if err == nil {
		return nil
	}
	err = classify(err)
	if r.ctx != nil && r.fault == nil && hard(err) {
		r.fault = err
	}
	return err
}

// all converts listed rows.
func all[S, T any](rows []S, as func(S) T, err error) ([]T, error) {
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	list := make([]T, len(rows))
	for i := range rows {
		list[i] = as(rows[i])
	}
	return list, nil
}

func asRun(r sqlitedb.WorkflowRun) rules.Run        { return rules.Run(r) }
func asEvent(r sqlitedb.HistoryEvent) rules.Event   { return rules.Event(r) }
func asTask(r sqlitedb.Task) rules.Task             { return rules.Task(r) }
func asActivity(r sqlitedb.Activity) rules.Activity { return rules.Activity(r) }
func asTimer(r sqlitedb.Timer) rules.Timer          { return rules.Timer(r) }
func asWait(r sqlitedb.Wait) rules.Wait             { return rules.Wait(r) }
func asSignal(r sqlitedb.Signal) rules.Signal       { return rules.Signal(r) }
func asCommand(r sqlitedb.Command) rules.Command    { return rules.Command(r) }
func asStep(r sqlitedb.StepListRow) rules.Step      { return rules.Step(r) }
func asNamespace(r sqlitedb.Namespace) rules.Namespace {
	return rules.Namespace(r)
}

// The methods below implement store.Tx; Store passes its own on to them.

func (r *reads) GetActivity(ctx context.Context, executionID string) (rules.Activity, error) {
	row, err := r.q.ActivityGet(r.during(ctx), executionID)
	return rules.Activity(row), r.end(err)
}

func (r *reads) GetAttempt(ctx context.Context, attemptID string) (rules.Attempt, error) {
	row, err := r.q.AttemptGet(r.during(ctx), attemptID)
	return rules.Attempt(row), r.end(err)
}

func (r *reads) GetTimer(ctx context.Context, timerID string) (rules.Timer, error) {
	row, err := r.q.TimerGet(r.during(ctx), timerID)
	return rules.Timer(row), r.end(err)
}

func (r *reads) GetTask(ctx context.Context, taskID string) (rules.Task, error) {
	row, err := r.q.TaskGet(r.during(ctx), taskID)
	return rules.Task(row), r.end(err)
}

func (r *reads) GetInstance(ctx context.Context, workflowID string) (rules.Instance, error) {
	row, err := r.q.InstanceGet(r.during(ctx), workflowID)
	return rules.Instance(row), r.end(err)
}

func (r *reads) GetRun(ctx context.Context, runID string) (rules.Run, error) {
	row, err := r.q.RunGet(r.during(ctx), runID)
	return rules.Run(row), r.end(err)
}

func (r *reads) GetRunInput(ctx context.Context, runID string) (rules.RunInput, error) {
	row, err := r.q.RunInputGet(r.during(ctx), runID)
	return rules.RunInput(row), r.end(err)
}

func (r *reads) GetDefinition(ctx context.Context, namespace, workflowType string) (rules.Definition, error) {
	row, err := r.q.DefinitionGet(r.during(ctx), sqlitedb.DefinitionGetParams{Namespace: namespace, WorkflowType: workflowType})
	return rules.Definition(row), r.end(err)
}

func (r *reads) GetCommandRequest(ctx context.Context, key rules.CommandRequest) (rules.CommandRequest, error) {
	row, err := r.q.CommandRequestGet(r.during(ctx), sqlitedb.CommandRequestGetParams{
		WorkflowID: key.WorkflowID, CommandType: key.CommandType, TargetName: key.TargetName, RequestID: key.RequestID,
	})
	return rules.CommandRequest(row), r.end(err)
}

func (r *reads) ListEvents(ctx context.Context, runID string, after, upTo, limit int64) ([]rules.Event, error) {
	rows, err := r.q.EventList(r.during(ctx), sqlitedb.EventListParams{RunID: runID, After: after, UpTo: upTo, MaxRows: limit})
	return all(rows, asEvent, r.end(err))
}

func (r *reads) GetEvent(ctx context.Context, runID string, sequence int64) (rules.Event, error) {
	row, err := r.q.EventGet(r.during(ctx), sqlitedb.EventGetParams{RunID: runID, Sequence: sequence})
	return rules.Event(row), r.end(err)
}

func (r *reads) CountLeases(ctx context.Context, namespace, workerID, kind string, now int64) (int64, error) {
	n, err := r.q.TaskCountLeases(r.during(ctx), sqlitedb.TaskCountLeasesParams{
		Namespace: namespace, LeaseOwner: workerID, Kind: kind, Now: now,
	})
	return n, r.end(err)
}

func (r *reads) GetCommand(ctx context.Context, commandID string) (rules.Command, error) {
	row, err := r.q.CommandGet(r.during(ctx), commandID)
	return rules.Command(row), r.end(err)
}

func (r *reads) GetRegistration(ctx context.Context, token string) (rules.Registration, error) {
	row, err := r.q.RegistrationGet(r.during(ctx), token)
	return rules.Registration(row), r.end(err)
}

func (r *reads) GetPollReceipt(ctx context.Context, namespace, workerID, kind, pollRequestID string) (rules.PollReceipt, error) {
	row, err := r.q.ReceiptGet(r.during(ctx), sqlitedb.ReceiptGetParams{
		Namespace: namespace, WorkerID: workerID, Kind: kind, PollRequestID: pollRequestID,
	})
	return rules.PollReceipt(row), r.end(err)
}

func (r *reads) ListOpenActivities(ctx context.Context, runID string) ([]rules.Activity, error) {
	rows, err := r.q.ActivityListOpen(r.during(ctx), runID)
	return all(rows, asActivity, r.end(err))
}

func (r *reads) ListOpenTimers(ctx context.Context, runID string) ([]rules.Timer, error) {
	rows, err := r.q.TimerListOpen(r.during(ctx), runID)
	return all(rows, asTimer, r.end(err))
}

func (r *reads) ListOpenWaits(ctx context.Context, runID string) ([]rules.Wait, error) {
	rows, err := r.q.WaitListOpen(r.during(ctx), runID)
	return all(rows, asWait, r.end(err))
}

func (r *reads) ListOpenTasks(ctx context.Context, runID string) ([]rules.Task, error) {
	rows, err := r.q.TaskListOpen(r.during(ctx), runID)
	return all(rows, asTask, r.end(err))
}

func (r *reads) ListReceivedSignals(ctx context.Context, runID string) ([]rules.Signal, error) {
	rows, err := r.q.SignalListReceived(r.during(ctx), runID)
	return all(rows, asSignal, r.end(err))
}

func (r *reads) ListLeases(ctx context.Context, namespace, workerID string) ([]rules.Task, error) {
	rows, err := r.q.TaskListLeased(r.during(ctx), sqlitedb.TaskListLeasedParams{Namespace: namespace, LeaseOwner: workerID})
	return all(rows, asTask, r.end(err))
}

func (r *reads) CountOpen(ctx context.Context, runID string, from, to int64) (int64, error) {
	n, err := r.q.StepCountOpen(r.during(ctx), sqlitedb.StepCountOpenParams{RunID: runID, FromSequence: from, ToSequence: to})
	return n, r.end(err)
}

func (r *reads) ListSteps(ctx context.Context, runID string, from, to int64) ([]rules.Step, error) {
	rows, err := r.q.StepList(r.during(ctx), sqlitedb.StepListParams{RunID: runID, FromSequence: from, ToSequence: to})
	return all(rows, asStep, r.end(err))
}

func (r *reads) LastFairOrder(ctx context.Context, namespace, taskQueue, kind, fairnessKey string) (int64, error) {
	n, err := r.q.TaskLastFairOrder(r.during(ctx), sqlitedb.TaskLastFairOrderParams{
		Namespace: namespace, TaskQueue: taskQueue, Kind: kind, FairnessKey: fairnessKey,
	})
	return n, r.end(err)
}
