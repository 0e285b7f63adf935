package rules

// WorkflowCommand is one command of a workflow-task completion, decoded (commands-and-history.md 3).
// A nil member was absent or null. Which member belongs to which type is checked by CheckCommands.
type WorkflowCommand struct {
	Type string

	Result       []byte // payload: JSON string or envelope
	Arguments    []byte // payload
	PayloadCodec *string
	Exception    []byte // JSON object

	Message        *string
	ExceptionClass *string
	ExceptionType  *string
	NonRetryable   *bool

	WorkflowType *string
	ActivityType *string
	Queue        *string
	Connection   *string

	RetryPolicy            *RetryPolicy
	StartToCloseTimeout    *int64
	ScheduleToCloseTimeout *int64
	ScheduleToStartTimeout *int64
	HeartbeatTimeout       *int64
	WorkerSession          []byte // JSON object

	DelaySeconds   *int64
	TimeoutSeconds *int64

	ChangeID     *string
	Version      *int64
	MinSupported *int64
	MaxSupported *int64

	SignalName                     *string
	ConditionKey                   *string
	ConditionDefinitionFingerprint *string
	ConditionWaitOccurrenceID      *string

	ParallelGroupID           *string
	ParallelGroupKind         *string
	ParallelGroupBaseSequence *int64
	ParallelGroupSize         *int64
	ParallelGroupIndex        *int64
	ParallelGroupPath         []byte // JSON list, outermost first
	ParallelOther             []byte // JSON object of any other parallel_* and selection_member_* members, and mode

	// record_local_activity
	Outcome       *string
	Attempts      []LocalAttempt // nil when absent
	ExecutionMode *string

	// Members of commands that are not built yet; their presence elsewhere is still refused.
	ExecutionTimeoutSeconds *int64
	RunTimeoutSeconds       *int64
	ParentClosePolicy       *string
	CancellationPolicy      *string
	TimeoutKind             *string
	Entries                 []byte
}

// LocalAttempt is one reported attempt of a local activity (commands-and-history.md 4.1).
type LocalAttempt struct {
	AttemptID      *string
	Number         int64
	Outcome        string
	DurationMS     *int64
	Message        *string
	ExceptionType  *string
	NonRetryable   *bool
	TimeoutKind    *string
	RetryReason    *string
	BackoffSeconds *int64
	Heartbeats     []LocalHeartbeat
	Unknown        []string // paths below the attempt of members that it does not have
}

// LocalHeartbeat is one reported heartbeat of a local attempt.
type LocalHeartbeat struct {
	ElapsedMS *int64
	Details   []byte // JSON object, empty when none was given
}

// RetryPolicy is a command's retry_policy; a nil MaxAttempts with Unlimited false was absent.
type RetryPolicy struct {
	MaxAttempts            *int64
	Unlimited              bool // max_attempts was an explicit null
	BackoffSeconds         []int64
	NonRetryableErrorTypes []string
}
