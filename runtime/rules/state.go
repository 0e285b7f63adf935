// Package rules holds the engine's decisions as pure functions: stored state + request + now in,
// verdict and Effects out. It imports the standard library only and does no I/O.
//
// Conventions for every stored value: times are integer microseconds UTC, 0 means "not yet";
// deadlines use Never for "none" so that one range scan finds what is due; text is never NULL,
// "" means absent; documents are JSON text in []byte, empty means absent.
package rules

import "math"

// Never is the stored value of a deadline that does not exist.
const Never int64 = math.MaxInt64

// HighestHistoryFloor is the largest worker-protocol minor that any history needs of its reader.
const HighestHistoryFloor = 17

// Run statuses (commands-and-history.md 6.1).
const (
	RunPending    = "pending"
	RunRunning    = "running"
	RunWaiting    = "waiting"
	RunCompleted  = "completed"
	RunFailed     = "failed"
	RunCancelled  = "cancelled"
	RunTerminated = "terminated"
)

// Task kinds and statuses (commands-and-history.md 6.1). Timers have rows of their own; their
// task id only names them in created_task_ids.
const (
	KindWorkflow = "workflow"
	KindActivity = "activity"

	TaskReady     = "ready"
	TaskLeased    = "leased"
	TaskCompleted = "completed"
	TaskFailed    = "failed"
	TaskCancelled = "cancelled"
)

// Activity execution statuses.
const (
	ActivityPending   = "pending"
	ActivityRunning   = "running"
	ActivityCompleted = "completed"
	ActivityFailed    = "failed"
	ActivityCancelled = "cancelled"
)

// Attempt statuses.
const (
	AttemptRunning   = "running"
	AttemptCompleted = "completed"
	AttemptFailed    = "failed"
	AttemptCancelled = "cancelled"
	AttemptExpired   = "expired"
)

// Timer statuses and kinds.
const (
	TimerPending   = "pending"
	TimerFired     = "fired"
	TimerCancelled = "cancelled"

	TimerPlain            = ""
	TimerConditionTimeout = "condition_timeout"
	TimerSignalTimeout    = "signal_timeout"
)

// Wait kinds and statuses. A wait is an opened condition or signal wait of a run.
const (
	WaitCondition = "condition"
	WaitSignal    = "signal"

	WaitOpen      = "open"
	WaitSatisfied = "satisfied"
	WaitTimedOut  = "timed_out"
	WaitCancelled = "cancelled"
)

// Signal statuses.
const (
	SignalReceived = "received"
	SignalApplied  = "applied"
	SignalRejected = "rejected"
)

// Instance is a workflow id: the chain of its runs. Workflow ids are unique over all namespaces.
type Instance struct {
	WorkflowID   string
	Namespace    string
	WorkflowType string
	CurrentRunID string
	RunCount     int64
	CreatedAt    int64
}

// Run is the hot row of one run: everything a transition reads or changes, and nothing large.
type Run struct {
	RunID               string
	WorkflowID          string
	Namespace           string
	RunNumber           int64
	WorkflowType        string
	TaskQueue           string
	Status              string
	ClosedReason        string
	Priority            int64
	FairnessKey         string
	FairnessWeight      int64
	Compatibility       string
	BusinessKey         string
	ExecutionTimeout    int64 // seconds, 0 none
	RunTimeout          int64 // seconds, 0 none
	ExecutionDeadlineAt int64 // Never when none
	RunDeadlineAt       int64 // Never when none
	DeadlineAt          int64 // earliest of the two while open, Never when none or closed: what `due` scans
	LastHistorySequence int64
	HistorySizeBytes    int64
	LastStepSequence    int64 // largest authored sequence written so far
	LastCommandSequence int64 // sequence of the newest command row of this run
	MessagePosition     int64 // message cursor carried by MessageCursorAdvanced
	OpenActivities      int64
	OpenTimers          int64
	OpenWaits           int64
	PendingSignals      int64
	WorkflowTaskID      string // the one open (ready or leased) workflow task, "" when none
	PendingWake         []byte // resume payload to use when the leased workflow task ends; empty when none
	MinProtocol         int64  // lowest worker-protocol minor that may read this history (worker-plane.md 2)
	ContinuedFromRunID  string
	ClosedEventSequence int64 // event that closed the run, 0 while open
	StartedAt           int64
	ClosedAt            int64
	LastProgressAt      int64
}

// RunInput is what a run was started with: written once, read by polls and describe.
type RunInput struct {
	RunID            string
	Arguments        []byte // payload envelope
	Memo             []byte // JSON object
	SearchAttributes []byte // JSON object
	DefinitionPrint  string // workflow definition fingerprint recorded at start
}

// Event is one history event. Sequence is 0 until the writer of the transition assigns it.
type Event struct {
	RunID             string
	Sequence          int64
	EventID           string
	EventType         string
	Payload           []byte // JSON object
	WorkflowTaskID    string
	WorkflowCommandID string
	RecordedAt        int64
}

// Task is a workflow or activity task (commands-and-history.md 6.2).
type Task struct {
	TaskID              string
	RunID               string
	WorkflowID          string
	Namespace           string
	Kind                string
	TaskQueue           string
	TypeName            string // workflow type or activity type: exact-match routing
	Status              string
	Priority            int64
	OrderAt             int64 // position within its priority: AvailableAt, pushed back by a fairness key's share
	AvailableAt         int64
	ReadyAt             int64 // since when the task was ready before the current or next claim
	FairnessKey         string
	Compatibility       string
	MinProtocol         int64
	AttemptCount        int64 // claims so far: the fence's attempt
	LeaseOwner          string
	LeaseGeneration     int64 // registration generation of the owner at claim
	LeasedAt            int64
	LeaseExpiresAt      int64 // Never unless leased
	ClaimedSequence     int64 // last history sequence the claim delivered
	ActivityExecutionID string
	ActivityAttemptID   string // attempt of the current claim
	Payload             []byte // resume payload (JSON object)
	Receipt             []byte // digest of the recorded completion's canonical body
	LastError           string
	CreatedAt           int64
	ClosedAt            int64
}

// Activity is an activity execution: all attempts of one scheduled activity.
type Activity struct {
	ExecutionID         string
	RunID               string
	Namespace           string
	Sequence            int64 // authored sequence
	ActivityType        string
	TaskQueue           string
	Status              string
	AttemptCount        int64
	AttemptID           string // current or last attempt
	TaskID              string // current or last task
	RetryPolicy         []byte // retry snapshot (6.3), empty when the command gave none
	Parallel            []byte // parallel keys as JSON members, empty outside groups
	ScheduledEvent      int64  // sequence of ActivityScheduled, which holds the arguments
	ScheduleDeadlineAt  int64
	ScheduleToCloseAt   int64
	CloseDeadlineAt     int64
	HeartbeatDeadlineAt int64
	NextDeadlineAt      int64 // earliest deadline that applies now: what `due` scans
	CreatedAt           int64
	StartedAt           int64
	LastHeartbeatAt     int64
	ClosedAt            int64
	ClosedEventSequence int64
	IsLocal             int64 // 1 when a workflow worker ran it in its own process
}

// Attempt is one delivery of an activity.
type Attempt struct {
	AttemptID       string
	ExecutionID     string
	RunID           string
	TaskID          string
	AttemptNumber   int64
	Status          string
	LeaseOwner      string
	StartedAt       int64
	LastHeartbeatAt int64
	ClosedAt        int64
	Outcome         string // completed or failed as reported by the worker, "" otherwise
	Receipt         []byte // digest of the recorded outcome's canonical body
	NextTaskID      string // task the recorded outcome created
	WorkerAttemptID string // id a worker gave the attempt of a local activity
}

// Timer is a durable timer: plain, or the timeout of a wait.
type Timer struct {
	TimerID      string
	RunID        string
	TaskID       string
	Sequence     int64 // authored sequence
	Kind         string
	WaitID       string
	DelaySeconds int64
	FireAt       int64
	DueAt        int64 // FireAt while pending, Never afterwards: what `due` scans
	Status       string
	Parallel     []byte
	CreatedAt    int64
	ClosedAt     int64
}

// Wait is an opened condition or signal wait.
type Wait struct {
	WaitID         string
	RunID          string
	Kind           string
	Sequence       int64  // authored sequence
	Name           string // signal name, or condition key
	Fingerprint    string
	OccurrenceID   string
	TimeoutSeconds int64 // -1 when the command gave none
	TimerID        string
	Status         string
	OpenedSequence int64 // history sequence of its opening event
	Parallel       []byte
	CreatedAt      int64
	ClosedAt       int64
}

// Signal is an accepted signal.
type Signal struct {
	SignalID         string
	RunID            string
	WorkflowID       string
	CommandID        string
	CommandSequence  int64
	Name             string
	Arguments        []byte // payload envelope
	WaitID           string // signal_wait_id
	Status           string
	ReceivedSequence int64 // history sequence of SignalReceived
	WorkflowSequence int64 // authored sequence it was applied at, 0 before
	CreatedAt        int64
	ClosedAt         int64
}

// Command is a control-plane command on an instance, accepted or rejected.
type Command struct {
	CommandID       string
	WorkflowID      string
	RunID           string
	Namespace       string
	Sequence        int64
	Type            string
	TargetName      string
	RequestID       string
	Status          string
	Outcome         string
	RejectionReason string
	Reason          string
	AcceptedAt      int64
	AppliedAt       int64
}

// CommandRequest binds a client's request_id to the command it made (settled.md, Repeats).
type CommandRequest struct {
	WorkflowID  string
	CommandType string
	TargetName  string
	RequestID   string
	CommandID   string
	BodyDigest  []byte
}

// Worker is a registration.
type Worker struct {
	Namespace          string
	WorkerID           string
	Generation         int64 // grows with every registration of this id
	RegistrationToken  string
	TaskQueue          string
	Runtime            string
	SDKVersion         string
	BuildID            string
	Status             string // active | draining
	ProtocolMinor      int64
	WorkflowTypes      []byte // JSON list of strings
	ActivityTypes      []byte // JSON list of strings
	Capabilities       []byte // JSON list of strings
	CapabilityManifest []byte // JSON object
	Fingerprints       []byte // JSON object type -> fingerprint
	MaxWorkflowTasks   int64
	MaxActivityTasks   int64
	MaxSessions        int64
	TaskSlots          []byte // JSON object
	ProcessMetrics     []byte // JSON object
	ProcessIdentity    string // host, process id and start joined; "" when unknown
	HeartbeatInterval  int64  // seconds
	LastSeenAt         int64
	RegisteredAt       int64
	UpdatedAt          int64
}

// Registration is the fence of one registration (worker-plane.md 4.2). State is active, superseded or finished.
type Registration struct {
	Token          string
	Namespace      string
	WorkerID       string
	State          string
	RecoveredCount int64
	EndedAt        int64
}

// Definition is the newest command contract a worker registered for a workflow type.
type Definition struct {
	Namespace    string
	WorkflowType string
	Contract     []byte // JSON object
	Fingerprint  string
	UpdatedAt    int64
}

// Step is one authored step as a completion may name it again.
type Step struct {
	Sequence int64
	Kind     string // activity, timer, condition or signal
	Name     string // activity type, signal name or condition key
	Status   string
	Parallel []byte
}

// PollReceipt binds a poll_request_id to the lease it got (worker-plane.md 7.6).
type PollReceipt struct {
	Namespace     string
	WorkerID      string
	Kind          string
	PollRequestID string
	Binding       string // queue, build and task kinds
	TaskID        string
	Attempt       int64
	PruneAt       int64
}

// Namespace is an isolation boundary for workflows and workers.
type Namespace struct {
	Name          string
	Description   string
	RetentionMode string
	RetentionDays int64
	Status        string
	CreatedAt     int64
	UpdatedAt     int64
}
