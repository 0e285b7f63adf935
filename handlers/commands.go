package handlers

import (
	"strconv"
	"strings"

	"dwserver/handlers/jsondoc"
	"dwserver/runtime/rules"
)

// commandField stores one member of a command, which is neither null nor of a wrong type.
type commandField func(c *rules.WorkflowCommand, v jsondoc.Value)

func textMember(field func(*rules.WorkflowCommand) **string) commandField {
	return func(c *rules.WorkflowCommand, v jsondoc.Value) { *field(c) = ptr(v.Text()) }
}

func intMember(field func(*rules.WorkflowCommand) **int64) commandField {
	return func(c *rules.WorkflowCommand, v jsondoc.Value) { *field(c) = ptr(integerOf(v)) }
}

func rawMember(field func(*rules.WorkflowCommand) *[]byte) commandField {
	return func(c *rules.WorkflowCommand, v jsondoc.Value) { *field(c) = v.Raw() }
}

func payloadMember(field func(*rules.WorkflowCommand) *[]byte) commandField {
	return func(c *rules.WorkflowCommand, v jsondoc.Value) { *field(c) = payloadOf(v) }
}

// commandFields are the members of WorkflowCommand in the OpenAPI document. Commands are taken from the
// document's tree rather than from a generated struct: it tells null from absent, and payloads keep
// their bytes.
var commandFields = map[string]commandField{
	"type":                             func(c *rules.WorkflowCommand, v jsondoc.Value) { c.Type = v.Text() },
	"result":                           payloadMember(func(c *rules.WorkflowCommand) *[]byte { return &c.Result }),
	"arguments":                        payloadMember(func(c *rules.WorkflowCommand) *[]byte { return &c.Arguments }),
	"entries":                          payloadMember(func(c *rules.WorkflowCommand) *[]byte { return &c.Entries }),
	"payload_codec":                    textMember(func(c *rules.WorkflowCommand) **string { return &c.PayloadCodec }),
	"exception":                        rawMember(func(c *rules.WorkflowCommand) *[]byte { return &c.Exception }),
	"message":                          textMember(func(c *rules.WorkflowCommand) **string { return &c.Message }),
	"exception_class":                  textMember(func(c *rules.WorkflowCommand) **string { return &c.ExceptionClass }),
	"exception_type":                   textMember(func(c *rules.WorkflowCommand) **string { return &c.ExceptionType }),
	"non_retryable":                    func(c *rules.WorkflowCommand, v jsondoc.Value) { c.NonRetryable = ptr(v.Kind() == jsondoc.True) },
	"workflow_type":                    textMember(func(c *rules.WorkflowCommand) **string { return &c.WorkflowType }),
	"activity_type":                    textMember(func(c *rules.WorkflowCommand) **string { return &c.ActivityType }),
	"queue":                            textMember(func(c *rules.WorkflowCommand) **string { return &c.Queue }),
	"connection":                       textMember(func(c *rules.WorkflowCommand) **string { return &c.Connection }),
	"retry_policy":                     func(c *rules.WorkflowCommand, v jsondoc.Value) { c.RetryPolicy = retryPolicyOf(v) },
	"start_to_close_timeout":           intMember(func(c *rules.WorkflowCommand) **int64 { return &c.StartToCloseTimeout }),
	"schedule_to_close_timeout":        intMember(func(c *rules.WorkflowCommand) **int64 { return &c.ScheduleToCloseTimeout }),
	"schedule_to_start_timeout":        intMember(func(c *rules.WorkflowCommand) **int64 { return &c.ScheduleToStartTimeout }),
	"heartbeat_timeout":                intMember(func(c *rules.WorkflowCommand) **int64 { return &c.HeartbeatTimeout }),
	"worker_session":                   rawMember(func(c *rules.WorkflowCommand) *[]byte { return &c.WorkerSession }),
	"delay_seconds":                    intMember(func(c *rules.WorkflowCommand) **int64 { return &c.DelaySeconds }),
	"timeout_seconds":                  intMember(func(c *rules.WorkflowCommand) **int64 { return &c.TimeoutSeconds }),
	"change_id":                        textMember(func(c *rules.WorkflowCommand) **string { return &c.ChangeID }),
	"version":                          intMember(func(c *rules.WorkflowCommand) **int64 { return &c.Version }),
	"min_supported":                    intMember(func(c *rules.WorkflowCommand) **int64 { return &c.MinSupported }),
	"max_supported":                    intMember(func(c *rules.WorkflowCommand) **int64 { return &c.MaxSupported }),
	"signal_name":                      textMember(func(c *rules.WorkflowCommand) **string { return &c.SignalName }),
	"condition_key":                    textMember(func(c *rules.WorkflowCommand) **string { return &c.ConditionKey }),
	"condition_definition_fingerprint": textMember(func(c *rules.WorkflowCommand) **string { return &c.ConditionDefinitionFingerprint }),
	"condition_wait_occurrence_id":     textMember(func(c *rules.WorkflowCommand) **string { return &c.ConditionWaitOccurrenceID }),
	"parallel_group_id":                textMember(func(c *rules.WorkflowCommand) **string { return &c.ParallelGroupID }),
	"parallel_group_kind":              textMember(func(c *rules.WorkflowCommand) **string { return &c.ParallelGroupKind }),
	"parallel_group_base_sequence":     intMember(func(c *rules.WorkflowCommand) **int64 { return &c.ParallelGroupBaseSequence }),
	"parallel_group_size":              intMember(func(c *rules.WorkflowCommand) **int64 { return &c.ParallelGroupSize }),
	"parallel_group_index":             intMember(func(c *rules.WorkflowCommand) **int64 { return &c.ParallelGroupIndex }),
	"parallel_group_path":              rawMember(func(c *rules.WorkflowCommand) *[]byte { return &c.ParallelGroupPath }),
	"execution_timeout_seconds":        intMember(func(c *rules.WorkflowCommand) **int64 { return &c.ExecutionTimeoutSeconds }),
	"run_timeout_seconds":              intMember(func(c *rules.WorkflowCommand) **int64 { return &c.RunTimeoutSeconds }),
	"parent_close_policy":              textMember(func(c *rules.WorkflowCommand) **string { return &c.ParentClosePolicy }),
	"cancellation_policy":              textMember(func(c *rules.WorkflowCommand) **string { return &c.CancellationPolicy }),
	"outcome":                          textMember(func(c *rules.WorkflowCommand) **string { return &c.Outcome }),
	"attempts":                         func(c *rules.WorkflowCommand, v jsondoc.Value) { c.Attempts = attemptsOf(v) },
	"execution_mode":                   textMember(func(c *rules.WorkflowCommand) **string { return &c.ExecutionMode }),
	"timeout_kind":                     textMember(func(c *rules.WorkflowCommand) **string { return &c.TimeoutKind }),
}

// commandOf decodes one command that passed the schema.
func commandOf(v jsondoc.Value) rules.WorkflowCommand {
	var c rules.WorkflowCommand
	var other objectWriter
	v.Each(func(_ int, name string, member jsondoc.Value) bool {
		if member.Kind() == jsondoc.Null {
			return true
		}
		if store, ok := commandFields[name]; ok {
			store(&c, member)
		} else if isGroupMember(name) {
			other.raw(name, member.Raw())
		}
		return true
	})
	if !other.empty() {
		c.ParallelOther = other.bytes()
	}
	return c
}

// isGroupMember reports the further members of parallel and selection groups, which are kept as sent.
func isGroupMember(name string) bool {
	return name == "mode" || strings.HasPrefix(name, "parallel_") || strings.HasPrefix(name, "selection_member_")
}

// retryPolicyOf reads a retry policy: max_attempts null is without limit, absent is the default.
func retryPolicyOf(v jsondoc.Value) *rules.RetryPolicy {
	p := &rules.RetryPolicy{}
	if most := v.Member("max_attempts"); !most.IsZero() {
		if p.Unlimited = most.Kind() == jsondoc.Null; !p.Unlimited {
			p.MaxAttempts = ptr(integerOf(most))
		}
	}
	each(v.Member("backoff_seconds"), func(item jsondoc.Value) {
		p.BackoffSeconds = append(p.BackoffSeconds, integerOf(item))
	})
	each(v.Member("non_retryable_error_types"), func(item jsondoc.Value) {
		p.NonRetryableErrorTypes = append(p.NonRetryableErrorTypes, item.Text())
	})
	return p
}

func each(list jsondoc.Value, f func(item jsondoc.Value)) {
	if list.IsZero() {
		return
	}
	list.Each(func(_ int, _ string, item jsondoc.Value) bool {
		f(item)
		return true
	})
}

// integerOf reads a number that passed the schema as an integer.
func integerOf(v jsondoc.Value) int64 {
	n, _ := strconv.ParseInt(v.Text(), 10, 64)
	return n
}

// payloadOf is a payload as it is stored: the text of an envelope, nil for none. A bare string is a blob
// of the only codec; PHP escapes the slashes of base64, so blobs are written anew when they have escapes.
func payloadOf(v jsondoc.Value) []byte {
	switch {
	case v.IsZero() || v.Kind() == jsondoc.Null:
		return nil
	case v.Kind() == jsondoc.String:
		if len(v.Bytes()) == 0 {
			return nil
		}
		return inlineEnvelope(v)
	}
	if blob := v.Member("blob"); !blob.IsZero() && blob.Kind() == jsondoc.String {
		return inlineEnvelope(blob)
	}
	return v.Raw()
}

func inlineEnvelope(blob jsondoc.Value) []byte {
	text := blob.Bytes()
	out := make([]byte, 0, len(text)+len(`{"codec":"avro","blob":""}`))
	out = append(out, `{"codec":"avro","blob":"`...)
	out = append(out, text...) // base64 needs no escaping
	return append(out, '"', '}')
}
