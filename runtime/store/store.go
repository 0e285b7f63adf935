// Package store is what the engine needs from a database: transitions, reads of committed state,
// and the errors both may return. The adapters sqlite, postgres and mysql implement it; nothing
// else in the server knows which engine it runs on.
package store

import (
	"context"
	"slices"

	"dwserver/runtime/rules"
)

// Store is one database. Every method is safe for concurrent use.
type Store interface {
	// Transition runs fn as one transaction and commits it when fn returns nil. An error of fn
	// rolls everything back and is returned as it is. fn may run more than once (contention is
	// retried a bounded number of times), so it must keep no state between runs.
	// A context cancelled before COMMIT starts cancels the transition; afterwards the outcome
	// stands (write-path.md 1). Errors: ErrContention, ErrUnavailable, ErrOutcomeUnknown, ErrBroken.
	Transition(ctx context.Context, fn func(ctx context.Context, tx Tx) error) error
	Reader
	// Ping reports whether the database answers.
	Ping(ctx context.Context) error
	// Notify registers fn, called with the queues in which another process of this database made
	// work. Engines without notifications never call it. Call it before serving.
	Notify(fn func(Wake))
	// LooksFirst reports whether a claim is cheaper when it is told what ReadHead found (Claim.Found), so that
	// also a poll that knows of a task asks that first.
	LooksFirst() bool
	// WakeInterval is how long a waiting poll may go without looking again for work that another
	// process made.
	WakeInterval() int64 // microseconds
	Close() error
}

// Wake names work that became claimable: a queue of one kind, and since when it is due.
type Wake struct {
	Namespace   string
	TaskQueue   string
	Kind        string
	TypeName    string
	AvailableAt int64
}

// Tx is one open transaction. Its Lock methods are the only ones that take row locks; each
// transition locks one run at most. Reads return rows as of after the lock. A missing row is ErrNotFound.
type Tx interface {
	// LockTask locks the run of a task and loads, in one round trip, what operations on tasks of a kind
	// need: of a workflow task its owner's registration, of an activity task its activity, an attempt
	// (attemptID, the current one when it is "") and the run's open workflow task. A task of the other kind
	// comes without what belongs to it.
	LockTask(ctx context.Context, kind, taskID, attemptID string) (*Locked, error)
	// LockRun locks a run.
	LockRun(ctx context.Context, runID string) (*Locked, error)
	// LockCurrentRun locks the current run of a workflow id and loads its instance.
	LockCurrentRun(ctx context.Context, workflowID string) (*Locked, error)
	// LockInstance locks a workflow id without its runs.
	LockInstance(ctx context.Context, workflowID string) (rules.Instance, error)
	// LockWorker locks a registration for changing it.
	LockWorker(ctx context.Context, namespace, workerID string) (rules.Worker, error)
	// ShareWorker reads a registration and keeps it from changing until the transaction ends.
	ShareWorker(ctx context.Context, namespace, workerID string) (rules.Worker, error)
	// Expect says what the transaction is going to ask about a worker and its polls. Where a read is a
	// round trip, the questions go out with the next LockTask or ShareWorker: the registration is shared before
	// a run is locked, the rest is read after. A definition goes out with LockInstance. Answers are the same with it and without.
	Expect(e Expected)
	// Claim locks the first claimable task in claim order (priority, fairness, age) together with
	// its run, skipping what others hold locked. ErrNotFound when there is none, ErrCrowded when others hold all for
	// long: nothing will tell of those. A task is
	// claimable when it is ready, due, of one of the types, and allowed for build and protocol. A claim that was
	// told what ReadHead found takes that, and searches only when it is gone: ErrTaken when this process is
	// taking it elsewhere.
	Claim(ctx context.Context, c Claim) (*Locked, error)

	// Head is the first claimable task of committed state and of this transaction's applied writes, in
	// claim order and without a lock: another transaction may hold or take it. ErrNotFound when there is none.
	Head(ctx context.Context, c Claim) (Head, error)

	GetActivity(ctx context.Context, executionID string) (rules.Activity, error)
	GetAttempt(ctx context.Context, attemptID string) (rules.Attempt, error)
	GetTimer(ctx context.Context, timerID string) (rules.Timer, error)
	GetTask(ctx context.Context, taskID string) (rules.Task, error)
	GetInstance(ctx context.Context, workflowID string) (rules.Instance, error)
	GetRun(ctx context.Context, runID string) (rules.Run, error)
	GetRunInput(ctx context.Context, runID string) (rules.RunInput, error)
	GetDefinition(ctx context.Context, namespace, workflowType string) (rules.Definition, error)
	GetCommandRequest(ctx context.Context, key rules.CommandRequest) (rules.CommandRequest, error)
	GetCommand(ctx context.Context, commandID string) (rules.Command, error)
	GetRegistration(ctx context.Context, token string) (rules.Registration, error)
	GetPollReceipt(ctx context.Context, namespace, workerID, kind, pollRequestID string) (rules.PollReceipt, error)

	GetEvent(ctx context.Context, runID string, sequence int64) (rules.Event, error)
	// ListEvents is Reader.ListEvents inside the transaction.
	ListEvents(ctx context.Context, runID string, after, upTo, limit int64) ([]rules.Event, error)
	// CountLeases counts the live leases of a kind that a worker holds.
	CountLeases(ctx context.Context, namespace, workerID, kind string, now int64) (int64, error)

	// The open rows of a run, each ordered by id.
	ListOpenActivities(ctx context.Context, runID string) ([]rules.Activity, error)
	ListOpenTimers(ctx context.Context, runID string) ([]rules.Timer, error)
	ListOpenWaits(ctx context.Context, runID string) ([]rules.Wait, error)         // ordered by opened sequence
	ListOpenTasks(ctx context.Context, runID string) ([]rules.Task, error)         // ready or leased
	ListReceivedSignals(ctx context.Context, runID string) ([]rules.Signal, error) // ordered by command sequence
	// ListLeases locks and lists the tasks a worker holds leased.
	ListLeases(ctx context.Context, namespace, workerID string) ([]rules.Task, error)
	// CountOpen counts the steps with an authored sequence in [from, to) that have not ended, at most two of a
	// kind (activities, timers, waits). An open condition wait does not count: only the worker knows whether it
	// still waits.
	CountOpen(ctx context.Context, runID string, from, to int64) (int64, error)
	// ListSteps lists the steps (activities, timers other than wait timeouts, waits) with an
	// authored sequence in [from, to), ordered by sequence.
	ListSteps(ctx context.Context, runID string, from, to int64) ([]rules.Step, error)
	// LastFairOrder is the largest order_at of the ready tasks of a fairness key in a queue, 0 when none.
	LastFairOrder(ctx context.Context, namespace, taskQueue, kind, fairnessKey string) (int64, error)

	// Apply writes effects. The transaction may hold them back until its next read or its commit.
	// ErrConflict when a guarded row is not as the effects assume.
	Apply(ctx context.Context, e *rules.Effects) error
	// Savepoint runs fn inside a savepoint: an error of fn undoes what fn wrote and is returned.
	Savepoint(ctx context.Context, fn func() error) error
}

// Locked is a locked run with what the operation that locked it needs next.
type Locked struct {
	Instance rules.Instance // LockCurrentRun only
	Run      rules.Run
	Task     rules.Task     // LockTask and Claim
	Activity rules.Activity // of an activity task
	Attempt  rules.Attempt  // of an activity task; zero when not found
	Owner    rules.Worker   // LockTask of a workflow task: registration of its lease owner; zero when gone
	// Documents are what the answer to a claim is made of; nil where they were not read with its lock.
	Documents *Documents
	OpenTask  rules.Task // the run's open workflow task; zero when none. Of a workflow task only that task itself
}

// Expected are the questions about a worker that a transaction is going to ask: ShareWorker, CountLeases,
// GetPollReceipt of either kind, Head and Claim.
type Expected struct {
	Namespace      string
	WorkerID       string
	PollRequestIDs []string
	Claims         []Claim
	// Starts is a workflow type whose definition is going to be asked for after LockInstance; "" when none is.
	Starts string
}

// Claim says which tasks a poll may take.
type Claim struct {
	Namespace     string
	TaskQueue     string
	Kind          string
	TypeNames     []string
	BuildID       string // claims tasks without compatibility, or with this one
	ProtocolMinor int64  // claims tasks whose history needs at most this minor
	Now           int64
	// History says that the claimer goes on to read what a task's answer is made of: the run's input and
	// its first so many events, or the event that scheduled the activity. 0 when it does not.
	History int64
	// Found is what ReadHead found for such a claim, nil when nothing is known.
	Found *Head
}

// Like reports whether two claims look for the same tasks, whenever they do.
func (c *Claim) Like(o *Claim) bool {
	return c.Namespace == o.Namespace && c.TaskQueue == o.TaskQueue && c.Kind == o.Kind && c.BuildID == o.BuildID &&
		c.ProtocolMinor == o.ProtocolMinor && slices.Equal(c.TypeNames, o.TypeNames)
}

// Head is a claimable task by its place in claim order.
type Head struct {
	Priority int64
	OrderAt  int64
	TaskID   string
	RunID    string

	ActivityExecutionID string // of an activity task, where a claim needs it
	Moment              int64  // for the store that found it
}

// Admits reports whether a poll may take a task as it stands.
func (c *Claim) Admits(task *rules.Task) bool {
	return task.Status == rules.TaskReady && task.Namespace == c.Namespace && task.TaskQueue == c.TaskQueue &&
		task.Kind == c.Kind && slices.Contains(c.TypeNames, task.TypeName) && task.AvailableAt <= c.Now &&
		(task.Compatibility == "" || task.Compatibility == c.BuildID) && task.MinProtocol <= c.ProtocolMinor
}

// Reader reads committed state without locks or a write transaction. A missing row is ErrNotFound.
type Reader interface {
	ReadNamespace(ctx context.Context, name string) (rules.Namespace, error)
	ListNamespaces(ctx context.Context) ([]rules.Namespace, error)
	ReadInstance(ctx context.Context, workflowID string) (rules.Instance, error)
	ReadRun(ctx context.Context, runID string) (rules.Run, error)
	ReadRunInput(ctx context.Context, runID string) (rules.RunInput, error)
	// ListLabels reads memo and search attributes of runs, without their arguments, in any order.
	ListLabels(ctx context.Context, runIDs []string) ([]rules.RunInput, error)
	ReadTask(ctx context.Context, taskID string) (rules.Task, error)
	ReadActivity(ctx context.Context, executionID string) (rules.Activity, error)
	ReadAttempt(ctx context.Context, attemptID string) (rules.Attempt, error)
	ReadWorker(ctx context.Context, namespace, workerID string) (rules.Worker, error)
	// ReadPoll is ReadWorker and, in the same round trip where there is one, ReadPollReceipt: nil when there is none.
	ReadPoll(ctx context.Context, key PollKey) (rules.Worker, *rules.PollReceipt, error)
	ReadPollReceipt(ctx context.Context, namespace, workerID, kind, pollRequestID string) (rules.PollReceipt, error)
	// ReadHead is Tx.Head of committed state: a poll that finds nothing need not open a transition. It waits
	// for claims of this process that are about to take all that is there.
	ReadHead(ctx context.Context, c Claim) (Head, error)
	ReadDefinition(ctx context.Context, namespace, workflowType string) (rules.Definition, error)
	ListRuns(ctx context.Context, workflowID string) ([]rules.Run, error) // ascending run number
	ListOpenWaitsOf(ctx context.Context, runID string) ([]rules.Wait, error)
	ListOpenActivitiesOf(ctx context.Context, runID string) ([]rules.Activity, error)
	ListOpenTimersOf(ctx context.Context, runID string) ([]rules.Timer, error)
	ListCommands(ctx context.Context, runID string) ([]rules.Command, error) // ascending sequence
	// ListActivities lists a run's activities after an authored sequence, ascending, at most limit;
	// ListAttempts all attempts of one, by number.
	ListActivities(ctx context.Context, runID string, after, limit int64) ([]rules.Activity, error)
	ListAttempts(ctx context.Context, executionID string) ([]rules.Attempt, error)
	// ListWorkflows pages over the runs of a namespace, newest start first, id descending.
	ListWorkflows(ctx context.Context, p ListPage) ([]rules.Run, error)
	// ListEvents returns the events of a run after a sequence up to and including another,
	// ascending, at most limit.
	ListEvents(ctx context.Context, runID string, after, upTo, limit int64) ([]rules.Event, error)
	ReadEvent(ctx context.Context, runID string, sequence int64) (rules.Event, error)

	// What is due by now, oldest first, at most limit of each. NextDue is the earliest time after
	// which one of them will return something, Never when nothing is pending.
	DueTimers(ctx context.Context, now, limit int64) ([]rules.Timer, error)
	DueActivities(ctx context.Context, now, limit int64) ([]rules.Activity, error)
	DueRuns(ctx context.Context, now, limit int64) ([]rules.Run, error)
	DueLeases(ctx context.Context, now, limit int64) ([]rules.Task, error)
	NextDue(ctx context.Context) (int64, error)
	// ListDelayed lists ready tasks that become available after now, soonest first.
	ListDelayed(ctx context.Context, now, limit int64) ([]rules.Task, error)
	// PrunePollReceipts deletes receipts whose time is over and whose lease is not live, and
	// PruneRegistrations the ended registration tokens; both return how many they deleted.
	PrunePollReceipts(ctx context.Context, now, limit int64) (int64, error)
	PruneRegistrations(ctx context.Context, endedBefore, limit int64) (int64, error)
}

// PollKey names a poll of a worker.
type PollKey struct{ Kind, PollRequestID, Namespace, WorkerID string }

// ListPage selects a page of runs: those started before (StartedAt, RunID) in list order, or the
// first page when StartedAt is 0. Empty filters match all.
type ListPage struct {
	Namespace    string
	WorkflowType string
	Statuses     []string
	StartedAt    int64
	RunID        string
	Limit        int64
}
