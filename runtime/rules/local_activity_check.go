package rules

// Most attempts of a local activity, and heartbeats of all of its attempts (commands-and-history.md 4.1).
const (
	mostLocalAttempts   = 100
	mostLocalHeartbeats = 1000
)

// checkLocalActivity is the command's own rules. Before protocol 1.19 an absent list of attempts stands
// for one with the command's outcome, which is put in its place here.
func checkLocalActivity(c *WorkflowCommand, e *commandErrors) {
	required(e, "activity_type", c.ActivityType)
	checkDoc(e, "arguments", c.Arguments, c.PayloadCodec)
	checkText(e, "exception_type", c.ExceptionType)
	if !checkLocalOutcome(c, e) {
		return
	}
	checkLocalPlace(c, e)
	checkLocalTimeouts(c, e)
	checkLocalPolicy(c.RetryPolicy, e)
	switch n := len(c.Attempts); {
	case c.Attempts == nil && e.minor >= 19:
		e.add("attempts", "The attempts field is required.")
	case c.Attempts == nil:
		c.Attempts = []LocalAttempt{{
			Number: 1, Outcome: *c.Outcome, Message: c.Message, ExceptionType: c.ExceptionType,
			NonRetryable: c.NonRetryable, TimeoutKind: c.TimeoutKind,
		}}
	case n < 1 || n > mostLocalAttempts:
		e.add("attempts", "There must be between 1 and 100 attempts.")
		return
	}
	checkLocalAttempts(c, e)
}

// checkLocalOutcome holds the command to its outcome, and reports whether it has one.
func checkLocalOutcome(c *WorkflowCommand, e *commandErrors) bool {
	outcome := deref(c.Outcome)
	switch outcome {
	case "completed":
		checkDoc(e, "result", c.Result, c.PayloadCodec)
		if Envelope(c.Result) == nil {
			e.add("result", "The result field is required when the outcome is completed.")
		}
		if c.NonRetryable != nil {
			e.add("non_retryable", "The non_retryable field is not allowed when the outcome is completed.")
		}
	case "failed", "timed_out", "cancelled":
		if deref(c.Message) == "" {
			e.add("message", "The message field is required unless the outcome is completed.")
		}
	default:
		e.add("outcome", "The outcome field must be completed, failed, timed_out or cancelled.")
		return false
	}
	checkTimeoutKind(e, "timeout_kind", outcome, c.TimeoutKind)
	return true
}

func checkTimeoutKind(e *commandErrors, field, outcome string, kind *string) {
	switch {
	case outcome == "timed_out" && kind == nil:
		e.add(field, "The timeout_kind field is required when the outcome is timed_out.")
	case outcome != "timed_out" && kind != nil:
		e.add(field, "The timeout_kind field is only allowed when the outcome is timed_out.")
	case kind != nil && *kind != "start_to_close" && *kind != "schedule_to_close" && *kind != "heartbeat":
		e.add(field, "The timeout_kind field is not one of the known kinds.")
	}
}

// checkLocalPlace refuses what only an activity that is routed somewhere has.
func checkLocalPlace(c *WorkflowCommand, e *commandErrors) {
	if c.Queue != nil {
		e.add("queue", "A local activity has no queue.")
	}
	if c.Connection != nil {
		e.add("connection", "A local activity has no connection.")
	}
	if c.ExecutionMode != nil && *c.ExecutionMode != "local" {
		e.add("execution_mode", "The execution_mode field must be local.")
	}
}

func checkLocalTimeouts(c *WorkflowCommand, e *commandErrors) {
	atLeast(e, "start_to_close_timeout", c.StartToCloseTimeout, 1)
	atLeast(e, "schedule_to_close_timeout", c.ScheduleToCloseTimeout, 1)
	atLeast(e, "heartbeat_timeout", c.HeartbeatTimeout, 1)
	notOver(e, "start_to_close_timeout", c.StartToCloseTimeout, "schedule_to_close_timeout", c.ScheduleToCloseTimeout)
	notOver(e, "heartbeat_timeout", c.HeartbeatTimeout, "start_to_close_timeout", c.StartToCloseTimeout)
}

func checkLocalPolicy(p *RetryPolicy, e *commandErrors) {
	checkRetryPolicy(p, e)
	if p == nil {
		return
	}
	most := localMaxAttempts(p)
	if p.Unlimited || most > mostLocalAttempts {
		e.add("retry_policy.max_attempts", "A local activity has at most 100 attempts.")
	}
	if n := int64(len(p.BackoffSeconds)); n > max(most-1, 0) {
		e.add("retry_policy.backoff_seconds", "There are more backoff entries than retries.")
	}
	seen := make(map[string]bool, len(p.NonRetryableErrorTypes))
	for _, name := range p.NonRetryableErrorTypes {
		if seen[name] {
			e.add("retry_policy.non_retryable_error_types", "Error types must be named once each.")
			return
		}
		seen[name] = true
	}
}

func localMaxAttempts(p *RetryPolicy) int64 {
	if p == nil || p.MaxAttempts == nil {
		return defaultMaxAttempts
	}
	return *p.MaxAttempts
}
