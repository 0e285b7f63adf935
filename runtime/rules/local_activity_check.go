package rules

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
)

// localAttempt is one attempt of a local activity, as reported (commands-and-history.md 4.1).
type localAttempt struct {
	AttemptID      *string          `json:"attempt_id"`
	Number         int64            `json:"attempt_number"`
	Outcome        string           `json:"outcome"`
	DurationMS     *int64           `json:"duration_ms"`
	Message        *string          `json:"message"`
	ExceptionType  *string          `json:"exception_type"`
	NonRetryable   *bool            `json:"non_retryable"`
	TimeoutKind    *string          `json:"timeout_kind"`
	RetryReason    *string          `json:"retry_reason"`
	BackoffSeconds *int64           `json:"backoff_seconds"`
	Heartbeats     []localHeartbeat `json:"heartbeats"`
}

type localHeartbeat struct {
	ElapsedMS int64           `json:"elapsed_ms"`
	Details   json.RawMessage `json:"details"`
}

const (
	mostLocalAttempts   = 100
	mostLocalHeartbeats = 1000
	mostLocalMillis     = 1 << 40 // durations beyond some decades are no durations
)

// checkLocalActivity is the command's own rules; closed says that unknown nested members are refused
// (protocol 1.19). It leaves the decoded attempts on the command.
func checkLocalActivity(c *WorkflowCommand, e *commandErrors) {
	required(e, "activity_type", c.ActivityType)
	checkDoc(e, "arguments", c.Arguments, c.PayloadCodec)
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
		if c.Message == nil || *c.Message == "" {
			e.add("message", "The message field is required unless the outcome is completed.")
		}
		checkText(e, "exception_type", c.ExceptionType)
	default:
		e.add("outcome", "The outcome field must be completed, failed, timed_out or cancelled.")
		return
	}
	checkTimeoutKind(e, "timeout_kind", outcome, c.TimeoutKind)
	if c.Queue != nil {
		e.add("queue", "A local activity has no queue.")
	}
	if c.Connection != nil {
		e.add("connection", "A local activity has no connection.")
	}
	if c.ExecutionMode != nil && *c.ExecutionMode != "local" {
		e.add("execution_mode", "The execution_mode field must be local.")
	}
	checkLocalTimeouts(c, e)
	checkLocalPolicy(c.RetryPolicy, e)
	c.decodeAttempts(e)
	if c.local != nil {
		checkLocalAttempts(c, e)
	}
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
}

func localMaxAttempts(p *RetryPolicy) int64 {
	if p == nil || p.MaxAttempts == nil {
		return defaultMaxAttempts
	}
	return *p.MaxAttempts
}

// decodeAttempts reads the reported attempts. Before 1.19 an absent list is one attempt with the
// command's outcome, and unknown members are ignored.
func (c *WorkflowCommand) decodeAttempts(e *commandErrors) {
	if c.Attempts == nil {
		if e.minor >= 19 {
			e.add("attempts", "The attempts field is required.")
			return
		}
		c.local = []localAttempt{{
			Number: 1, Outcome: deref(c.Outcome), Message: c.Message, ExceptionType: c.ExceptionType,
			NonRetryable: c.NonRetryable, TimeoutKind: c.TimeoutKind,
		}}
		return
	}
	dec := json.NewDecoder(bytes.NewReader(c.Attempts))
	if e.minor >= 19 {
		dec.DisallowUnknownFields()
	}
	if err := dec.Decode(&c.local); err != nil {
		c.local = nil
		e.add("attempts", "The attempts field does not have the form of a list of attempts.")
	} else if n := len(c.local); n < 1 || n > mostLocalAttempts {
		c.local = nil
		e.add("attempts", "There must be between 1 and 100 attempts.")
	}
}

func checkLocalAttempts(c *WorkflowCommand, e *commandErrors) {
	policy := retrySnapshot{}
	if c.RetryPolicy != nil {
		policy.BackoffSeconds = c.RetryPolicy.BackoffSeconds
	}
	if n := int64(len(c.local)); n > localMaxAttempts(c.RetryPolicy) {
		e.add("attempts", "There are more attempts than the retry policy allows.")
	}
	ids, beats := map[string]bool{}, 0
	for i := range c.local {
		a := &c.local[i]
		path := "attempts." + strconv.Itoa(i) + "."
		if a.Number != int64(i+1) {
			e.add(path+"attempt_number", "Attempt numbers must be contiguous from 1.")
		}
		if id := deref(a.AttemptID); id != "" && (ids[id] || len(id) > 255) {
			e.add(path+"attempt_id", "Attempt ids must be unique and at most 255 bytes.")
		} else {
			ids[id] = true
		}
		if n := derefInt(a.DurationMS); n < 0 || n > mostLocalMillis {
			e.add(path+"duration_ms", "The duration_ms field is out of range.")
		}
		beats += a.checkHeartbeats(path, e)
		if i == len(c.local)-1 {
			a.checkFinal(c, path, e)
		} else {
			a.checkRetried(policy.backoff(a.Number), path, e)
		}
	}
	if beats > mostLocalHeartbeats {
		e.add("attempts", "There are more than 1000 heartbeats.")
	}
}

func (a *localAttempt) checkHeartbeats(path string, e *commandErrors) int {
	last := int64(0)
	for i, beat := range a.Heartbeats {
		if beat.ElapsedMS < last || beat.ElapsedMS > mostLocalMillis {
			e.add(fmt.Sprintf("%sheartbeats.%d.elapsed_ms", path, i), "Elapsed times must not decrease.")
		}
		if d := beat.Details; len(d) > 0 && !isObject(d) && string(d) != "null" && string(d) != "[]" {
			e.add(fmt.Sprintf("%sheartbeats.%d.details", path, i), "The details must be an object.")
		}
		if !isObject(beat.Details) {
			a.Heartbeats[i].Details = nil
		}
		last = beat.ElapsedMS
	}
	return len(a.Heartbeats)
}

// checkFinal holds the last attempt to the command's own outcome.
func (a *localAttempt) checkFinal(c *WorkflowCommand, path string, e *commandErrors) {
	if a.Outcome != deref(c.Outcome) {
		e.add(path+"outcome", "The last attempt must have the command's outcome.")
	}
	if a.Outcome != "completed" && deref(a.Message) == "" {
		e.add(path+"message", "The message field is required unless the attempt completed.")
	}
	if (a.NonRetryable != nil && *a.NonRetryable) != (c.NonRetryable != nil && *c.NonRetryable) {
		e.add(path+"non_retryable", "The last attempt must agree with the command on non_retryable.")
	}
	if a.RetryReason != nil {
		e.add(path+"retry_reason", "The last attempt is not retried.")
	}
	if a.BackoffSeconds != nil {
		e.add(path+"backoff_seconds", "The last attempt is not retried.")
	}
	checkTimeoutKind(e, path+"timeout_kind", a.Outcome, a.TimeoutKind)
}

// checkRetried holds an attempt that was followed by another to the policy.
func (a *localAttempt) checkRetried(backoff int64, path string, e *commandErrors) {
	reason := deref(a.RetryReason)
	switch {
	case a.Outcome != "failed" && a.Outcome != "timed_out":
		e.add(path+"outcome", "Only failed and timed-out attempts are retried.")
	case a.Outcome == "failed" && reason != "failure" && reason != "cold_replay",
		a.Outcome == "timed_out" && reason != "timeout" && reason != "cold_replay":
		e.add(path+"retry_reason", "The retry_reason field does not fit the attempt's outcome.")
	}
	if deref(a.Message) == "" {
		e.add(path+"message", "The message field is required unless the attempt completed.")
	}
	if a.NonRetryable != nil && *a.NonRetryable {
		e.add(path+"non_retryable", "A non-retryable attempt is not retried.")
	}
	if a.BackoffSeconds == nil || *a.BackoffSeconds != backoff {
		e.add(path+"backoff_seconds", "The backoff_seconds field must be the policy's entry.")
	}
	checkTimeoutKind(e, path+"timeout_kind", a.Outcome, a.TimeoutKind)
}
