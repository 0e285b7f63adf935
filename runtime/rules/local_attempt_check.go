package rules

import "strconv"

// mostLocalMillis bounds durations: beyond some decades they are none.
const mostLocalMillis = 1 << 40

// checkLocalAttempts holds the reported attempts to the policy, to each other and to the command's
// outcome (commands-and-history.md 4.1).
func checkLocalAttempts(c *WorkflowCommand, e *commandErrors) {
	policy := retrySnapshot{}
	if c.RetryPolicy != nil {
		policy.BackoffSeconds = c.RetryPolicy.BackoffSeconds
	}
	if n := int64(len(c.Attempts)); n > localMaxAttempts(c.RetryPolicy) {
		e.add("attempts", "There are more attempts than the retry policy allows.")
	}
	ids, beats := map[string]bool{}, 0
	for i := range c.Attempts {
		a := &c.Attempts[i]
		check := attemptCheck{a, "attempts." + strconv.Itoa(i) + ".", e}
		if a.Number != int64(i+1) {
			check.fail("attempt_number", "Attempt numbers must be contiguous from 1.")
		}
		if id := deref(a.AttemptID); id != "" {
			if ids[id] || len(id) > 255 {
				check.fail("attempt_id", "Attempt ids must be unique and at most 255 bytes.")
			}
			ids[id] = true
		}
		check.any()
		beats += len(a.Heartbeats)
		if i == len(c.Attempts)-1 {
			check.final(c)
		} else {
			check.retried(policy.backoff(a.Number))
		}
	}
	if beats > mostLocalHeartbeats {
		e.add("attempts", "There are more than 1000 heartbeats.")
	}
}

// attemptCheck is the check of one attempt.
type attemptCheck struct {
	*LocalAttempt
	path   string // of the attempt, with a dot at the end
	errors *commandErrors
}

func (a *attemptCheck) fail(field, message string) { a.errors.add(a.path+field, message) }

// any holds an attempt to what every one has. Before protocol 1.19 unknown members are ignored.
func (a *attemptCheck) any() {
	if a.errors.minor >= 19 {
		for _, name := range a.Unknown {
			a.fail(name, "The field is not known.")
		}
	}
	if n := derefInt(a.DurationMS); n < 0 || n > mostLocalMillis {
		a.fail("duration_ms", "The duration_ms field is out of range.")
	}
	if a.Outcome != "completed" && deref(a.Message) == "" {
		a.fail("message", "The message field is required unless the attempt completed.")
	}
	checkText(a.errors, a.path+"exception_type", a.ExceptionType)
	checkTimeoutKind(a.errors, a.path+"timeout_kind", a.Outcome, a.TimeoutKind)
	last := int64(0)
	for i := range a.Heartbeats {
		a.heartbeat(i, &last)
	}
}

func (a *attemptCheck) heartbeat(i int, last *int64) {
	beat, path := &a.Heartbeats[i], "heartbeats."+strconv.Itoa(i)
	switch {
	case beat.ElapsedMS == nil:
		a.fail(path+".elapsed_ms", "The elapsed_ms field is required.")
	case *beat.ElapsedMS < *last || *beat.ElapsedMS > mostLocalMillis:
		a.fail(path+".elapsed_ms", "Elapsed times must not decrease.")
	default:
		*last = *beat.ElapsedMS
	}
	if len(beat.Details) > 0 && !isObject(beat.Details) {
		a.fail(path+".details", "The details must be an object.")
	}
}

// final holds the last attempt to the command's own outcome.
func (a *attemptCheck) final(c *WorkflowCommand) {
	if a.Outcome != deref(c.Outcome) {
		a.fail("outcome", "The last attempt must have the command's outcome.")
	}
	if isTrue(a.NonRetryable) != isTrue(c.NonRetryable) {
		a.fail("non_retryable", "The last attempt must agree with the command on non_retryable.")
	}
	if a.RetryReason != nil {
		a.fail("retry_reason", "The last attempt is not retried.")
	}
	if a.BackoffSeconds != nil {
		a.fail("backoff_seconds", "The last attempt is not retried.")
	}
}

// retryReasons are the reasons to retry an attempt that ended in such a way, besides a cold replay.
var retryReasons = map[string]string{"failed": "failure", "timed_out": "timeout"}

// retried holds an attempt that was followed by another to the policy.
func (a *attemptCheck) retried(backoff int64) {
	why, retries := retryReasons[a.Outcome]
	switch reason := deref(a.RetryReason); {
	case !retries:
		a.fail("outcome", "Only failed and timed-out attempts are retried.")
	case reason != why && reason != "cold_replay":
		a.fail("retry_reason", "The retry_reason field does not fit the attempt's outcome.")
	}
	if isTrue(a.NonRetryable) {
		a.fail("non_retryable", "A non-retryable attempt is not retried.")
	}
	if a.BackoffSeconds == nil || *a.BackoffSeconds != backoff {
		a.fail("backoff_seconds", "The backoff_seconds field must be the policy's entry.")
	}
}

func isTrue(b *bool) bool { return b != nil && *b }
