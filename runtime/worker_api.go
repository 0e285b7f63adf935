package runtime

import (
	"time"

	"dwserver/runtime/rules"
)

// RegisterRequest is a worker registration (worker-plane.md 4.1), shape-checked by the caller.
// Zero maxima mean the contract's defaults were already filled in by the caller.
type RegisterRequest struct {
	Namespace          string
	WorkerID           string // "" lets the engine make one
	TaskQueue          string
	Runtime            string
	SDKVersion         string
	BuildID            string
	ProtocolMinor      int64
	WorkflowTypes      []string
	ActivityTypes      []string
	Capabilities       []string
	CapabilityManifest []byte // JSON object, "" when absent
	Manifest           map[string]rules.ManifestEntry
	Fingerprints       map[string]string // workflow type → definition fingerprint
	Contracts          map[string][]byte // workflow type → command contract, JSON object
	MaxWorkflowTasks   int64
	MaxActivityTasks   int64
	MaxSessions        int64
	TaskSlots          []byte // JSON object
	ProcessMetrics     []byte // JSON object
	ProcessIdentity    string // host, process id and start joined; "" when any is unknown
	HeartbeatInterval  int64  // seconds, 0 when absent
}

// ManifestEntry is one feature of a capability manifest.
type ManifestEntry = rules.ManifestEntry

// RegisterResult is the registration as it now stands.
type RegisterResult struct {
	Worker         rules.Worker
	RecoveredTasks int64 // workflow tasks returned to ready
}

// HeartbeatWorkerRequest is a worker heartbeat (4.3). Empty documents leave the stored ones unchanged.
type HeartbeatWorkerRequest struct {
	Namespace         string
	WorkerID          string
	TaskSlots         []byte
	ProcessMetrics    []byte
	HeartbeatInterval int64
}

// PollRequest is a poll of one kind (5.1, 6.1), shape-checked by the caller.
type PollRequest struct {
	Namespace       string
	WorkerID        string
	TaskQueue       string
	BuildID         string        // "" when absent
	PollRequestID   string        // "" when absent
	Timeout         time.Duration // negative: the configured long-poll time
	HistoryPageSize int64         // 0: the default
	ProtocolMinor   int64
	TaskKinds       []string // workflow polls; empty means workflow
}

// Poll statuses (5.1).
const (
	PollLeased            = "leased"
	PollEmpty             = "empty"
	PollNoWorkflowTypes   = "no_workflow_capability"
	PollNoActivityTypes   = "no_activity_capability"
	PollStaleRegistration = "stale_worker_registration"
	// PollWorkflowTaskPending ends a query poll early.
	PollWorkflowTaskPending = "workflow_task_pending"
)

// PollResult is a poll's answer: a status, and the leased task when the status is leased.
type PollResult struct {
	Status     string
	Workflow   *WorkflowTaskAnswer
	Activity   *ActivityTaskAnswer
	ServerTime int64
}

// WorkflowTaskAnswer is a leased workflow task with its first history page.
type WorkflowTaskAnswer struct {
	Task      rules.Task
	Run       rules.Run
	Arguments []byte // payload envelope
	// SignalArguments is the envelope of the arguments of the signal the task resumes on, empty for none.
	SignalArguments []byte
	Page            HistoryPage
}

// HistoryPage is a stretch of a run's history as of a claim.
type HistoryPage struct {
	Events      []rules.Event
	TotalEvents int64 // events the claim covers
	NextAfter   int64 // sequence after which the next page starts, 0 when this is the last
	SizeBytes   int64 // of the whole history the claim covers
	FanOut      int64 // open activities and timers
	Budget      rules.BudgetPressure
}

// ActivityTaskAnswer is a leased activity task.
type ActivityTaskAnswer struct {
	Task      rules.Task
	Run       rules.Run // LastHistorySequence is run_history_sequence
	Activity  rules.Activity
	Attempt   rules.Attempt
	Arguments []byte // payload envelope, empty when none
}

// WorkflowFence names a workflow task and the claim a caller believes to hold (7.7).
type WorkflowFence struct {
	Namespace  string
	TaskID     string
	LeaseOwner string
	Attempt    int64
}

// ActivityFence names an activity task and attempt (6.2).
type ActivityFence struct {
	Namespace  string
	TaskID     string
	AttemptID  string
	LeaseOwner string
}

// CompleteWorkflowTaskRequest is a workflow-task completion (5.4).
type CompleteWorkflowTaskRequest struct {
	WorkflowFence
	Commands      []rules.WorkflowCommand
	Extras        rules.Extras
	BodyDigest    []byte // digest of the canonical body without carried polls
	ProtocolMinor int64
	Carriers
}

// CompleteWorkflowTaskResult answers a completion; Recorded is false for a repeat.
type CompleteWorkflowTaskResult struct {
	RunID               string
	RunStatus           string
	CreatedTaskIDs      []string
	Recorded            bool
	LastHistorySequence int64 // the run's last event after the whole transaction
	CarriedAnswers
}

// FailWorkflowTaskRequest is a replay or worker failure of a workflow task (5.5).
type FailWorkflowTaskRequest struct {
	WorkflowFence
	Message    string
	Type       string
	Reason     string
	StackTrace string
}

// FailWorkflowTaskResult: Outcome is failed or waiting_for_history.
type FailWorkflowTaskResult struct {
	Outcome    string
	NextTaskID string
}

// WorkflowHeartbeatResult is a renewed workflow-task lease (5.3).
type WorkflowHeartbeatResult struct {
	LeaseExpiresAt int64
	RunStatus      string
	TaskStatus     string
}

// WorkflowHistoryRequest asks for the page after a sequence (5.2).
type WorkflowHistoryRequest struct {
	WorkflowFence
	After    int64
	PageSize int64 // 0: the default
}

// CompleteActivityRequest reports success (6.4).
type CompleteActivityRequest struct {
	ActivityFence
	Result     []byte // payload envelope, empty when none
	ResultSize int64  // decoded payload bytes
	BodyDigest []byte
	Carriers
	Continuation *Continuation // nil when none was sent
}

// FailActivityRequest reports failure (6.5).
type FailActivityRequest struct {
	ActivityFence
	Failure    rules.ActivityFailureReport
	BodyDigest []byte
	Carriers
}

// ActivityOutcomeResult answers complete and fail; Recorded is false for a repeat.
type ActivityOutcomeResult struct {
	Outcome    string // completed or failed
	Recorded   bool
	NextTaskID string
	CarriedAnswers
	Continuation *ContinuationAnswer // nil when none was sent, or for a repeat
}

// HeartbeatActivityRequest is an activity heartbeat (6.3). Progress is the JSON object of the
// reported members, empty when none was sent.
type HeartbeatActivityRequest struct {
	ActivityFence
	Progress []byte
}

// ActivityState answers heartbeats and status requests: whether the attempt may go on.
type ActivityState struct {
	CanContinue       bool
	CancelRequested   bool
	Reason            string
	HeartbeatRecorded bool
	Run               rules.Run
	Task              rules.Task
	Activity          rules.Activity
	Attempt           rules.Attempt
}
