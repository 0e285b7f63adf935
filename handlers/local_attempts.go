package handlers

import (
	"strconv"

	"dwserver/handlers/jsondoc"
	"dwserver/runtime/rules"
)

// attemptFields are the members of LocalActivityAttempt in the OpenAPI document, but for its list.
var attemptFields = map[string]func(a *rules.LocalAttempt, v jsondoc.Value){
	"attempt_id":      func(a *rules.LocalAttempt, v jsondoc.Value) { a.AttemptID = ptr(v.Text()) },
	"attempt_number":  func(a *rules.LocalAttempt, v jsondoc.Value) { a.Number = integerOf(v) },
	"outcome":         func(a *rules.LocalAttempt, v jsondoc.Value) { a.Outcome = v.Text() },
	"duration_ms":     func(a *rules.LocalAttempt, v jsondoc.Value) { a.DurationMS = ptr(integerOf(v)) },
	"message":         func(a *rules.LocalAttempt, v jsondoc.Value) { a.Message = ptr(v.Text()) },
	"exception_type":  func(a *rules.LocalAttempt, v jsondoc.Value) { a.ExceptionType = ptr(v.Text()) },
	"non_retryable":   func(a *rules.LocalAttempt, v jsondoc.Value) { a.NonRetryable = ptr(v.Kind() == jsondoc.True) },
	"timeout_kind":    func(a *rules.LocalAttempt, v jsondoc.Value) { a.TimeoutKind = ptr(v.Text()) },
	"retry_reason":    func(a *rules.LocalAttempt, v jsondoc.Value) { a.RetryReason = ptr(v.Text()) },
	"backoff_seconds": func(a *rules.LocalAttempt, v jsondoc.Value) { a.BackoffSeconds = ptr(integerOf(v)) },
	"heartbeats":      heartbeatsOf,
}

// attemptsOf decodes the attempts of a local activity, which passed the schema. Members that it does not
// name are kept by name: whether they are refused depends on the protocol version.
func attemptsOf(list jsondoc.Value) []rules.LocalAttempt {
	out := []rules.LocalAttempt{}
	each(list, func(item jsondoc.Value) {
		out = append(out, rules.LocalAttempt{})
		attempt := &out[len(out)-1]
		item.Each(func(_ int, name string, member jsondoc.Value) bool {
			store, known := attemptFields[name]
			switch {
			case !known:
				attempt.Unknown = append(attempt.Unknown, name)
			case member.Kind() != jsondoc.Null:
				store(attempt, member)
			}
			return true
		})
	})
	return out
}

func heartbeatsOf(a *rules.LocalAttempt, list jsondoc.Value) {
	list.Each(func(i int, _ string, item jsondoc.Value) bool {
		var beat rules.LocalHeartbeat
		item.Each(func(_ int, name string, member jsondoc.Value) bool {
			switch {
			case name == "elapsed_ms":
				beat.ElapsedMS = ptr(integerOf(member))
			case name != "details":
				a.Unknown = append(a.Unknown, "heartbeats."+strconv.Itoa(i)+"."+name)
			case member.Kind() == jsondoc.Object:
				beat.Details = member.Raw()
			}
			return true
		})
		a.Heartbeats = append(a.Heartbeats, beat)
		return true
	})
}
