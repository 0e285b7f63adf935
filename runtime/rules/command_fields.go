package rules

import (
	"math"
	"regexp"
	"strings"
)

func required(e *commandErrors, field string, value *string) {
	if value == nil || strings.TrimSpace(*value) == "" {
		e.add(field, "The "+field+" field is required.")
		return
	}
	checkText(e, field, value)
}

// checkText holds a text member to 255 characters, the width of the routing columns.
func checkText(e *commandErrors, field string, value *string) {
	if value != nil && len([]rune(*value)) > 255 {
		e.add(field, "The "+field+" field must not be longer than 255 characters.")
	}
}

func checkDoc(e *commandErrors, field string, doc []byte, codec *string) {
	if msg := CheckPayload(doc, codec); msg != "" {
		e.add(field, msg)
	}
}

func atLeast(e *commandErrors, field string, value *int64, least int64) {
	if value != nil && (*value < least || *value > math.MaxInt32) {
		e.add(field, "The "+field+" field is out of range.")
	}
}

func notOver(e *commandErrors, field string, value *int64, over string, limit *int64) {
	if value != nil && limit != nil && *value > *limit {
		e.add(field, "The "+field+" field must not be greater than "+over+".")
	}
}

func checkScheduleActivity(c *WorkflowCommand, e *commandErrors) {
	required(e, "activity_type", c.ActivityType)
	checkText(e, "queue", c.Queue)
	checkDoc(e, "arguments", c.Arguments, c.PayloadCodec)
	for _, f := range [...]struct {
		name  string
		value *int64
	}{
		{"start_to_close_timeout", c.StartToCloseTimeout}, {"schedule_to_close_timeout", c.ScheduleToCloseTimeout},
		{"schedule_to_start_timeout", c.ScheduleToStartTimeout}, {"heartbeat_timeout", c.HeartbeatTimeout},
	} {
		atLeast(e, f.name, f.value, 1)
	}
	notOver(e, "start_to_close_timeout", c.StartToCloseTimeout, "schedule_to_close_timeout", c.ScheduleToCloseTimeout)
	notOver(e, "schedule_to_start_timeout", c.ScheduleToStartTimeout, "schedule_to_close_timeout", c.ScheduleToCloseTimeout)
	notOver(e, "heartbeat_timeout", c.HeartbeatTimeout, "start_to_close_timeout", c.StartToCloseTimeout)
	checkRetryPolicy(c.RetryPolicy, e)
	checkParallel(c, "activity", e)
}

func checkRetryPolicy(p *RetryPolicy, e *commandErrors) {
	if p == nil {
		return
	}
	atLeast(e, "retry_policy.max_attempts", p.MaxAttempts, 1)
	for _, s := range p.BackoffSeconds {
		if s < 0 || s > math.MaxInt32 {
			e.add("retry_policy.backoff_seconds", "Backoff seconds are out of range.")
			break
		}
	}
	for _, s := range p.NonRetryableErrorTypes {
		if s == "" {
			e.add("retry_policy.non_retryable_error_types", "Error types must not be empty.")
			break
		}
	}
}

func checkStartTimer(c *WorkflowCommand, e *commandErrors) {
	if c.DelaySeconds == nil {
		e.add("delay_seconds", "The delay_seconds field is required.")
	}
	atLeast(e, "delay_seconds", c.DelaySeconds, 0)
	checkParallel(c, "timer", e)
}

func checkSideEffect(c *WorkflowCommand, e *commandErrors) {
	if Envelope(c.Result) == nil {
		e.add("result", "The result field is required.")
	}
	checkDoc(e, "result", c.Result, c.PayloadCodec)
}

func checkVersionMarker(c *WorkflowCommand, e *commandErrors) {
	required(e, "change_id", c.ChangeID)
	for _, f := range [...]struct {
		name  string
		value *int64
	}{{"version", c.Version}, {"min_supported", c.MinSupported}, {"max_supported", c.MaxSupported}} {
		switch {
		case f.value == nil:
			e.add(f.name, "The "+f.name+" field is required.")
		case *f.value < math.MinInt32 || *f.value > math.MaxInt32:
			e.add(f.name, "The "+f.name+" field must fit 32 bits.")
		}
	}
	if c.Version != nil && c.MinSupported != nil && c.MaxSupported != nil &&
		(*c.Version < *c.MinSupported || *c.Version > *c.MaxSupported) {
		e.add("version", "The version must lie between min_supported and max_supported.")
	}
}

var fingerprintForm = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

func checkConditionWait(c *WorkflowCommand, e *commandErrors) {
	checkText(e, "condition_key", c.ConditionKey)
	checkText(e, "condition_wait_occurrence_id", c.ConditionWaitOccurrenceID)
	atLeast(e, "timeout_seconds", c.TimeoutSeconds, 0)
	if p := c.ConditionDefinitionFingerprint; p != nil && !fingerprintForm.MatchString(*p) {
		e.add("condition_definition_fingerprint", "The fingerprint must be sha256: and 64 hexadecimal digits.")
	}
	checkParallel(c, "condition", e)
}

func checkSignalWait(c *WorkflowCommand, e *commandErrors) {
	required(e, "signal_name", c.SignalName)
	atLeast(e, "timeout_seconds", c.TimeoutSeconds, 0)
	checkParallel(c, "signal", e)
}

func checkCompleteWorkflow(c *WorkflowCommand, e *commandErrors) {
	checkDoc(e, "result", c.Result, c.PayloadCodec)
}

func checkFailWorkflow(c *WorkflowCommand, e *commandErrors) {
	if c.Message == nil || *c.Message == "" {
		e.add("message", "The message field is required.")
	}
	if c.Exception != nil && !isObject(c.Exception) {
		e.add("exception", "The exception must be an object.")
	}
}

func checkContinueAsNew(c *WorkflowCommand, e *commandErrors) {
	checkDoc(e, "arguments", c.Arguments, c.PayloadCodec)
	checkText(e, "queue", c.Queue)
	if c.WorkflowType != nil {
		required(e, "workflow_type", c.WorkflowType)
	}
}
