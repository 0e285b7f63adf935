package handlers

import (
	"encoding/json"
	"fmt"

	"dwserver/gen/control"
	"dwserver/runtime"
	"dwserver/runtime/rules"
)

// failureEvent is what failure answers take from WorkflowFailed, WorkflowTimedOut, ActivityFailed and
// ActivityTimedOut events (commands-and-history.md 5).
type failureEvent struct {
	FailureID           string          `json:"failure_id"`
	SourceKind          string          `json:"source_kind"`
	SourceID            string          `json:"source_id"`
	Category            string          `json:"failure_category"`
	NonRetryable        *bool           `json:"non_retryable"`
	ExceptionType       string          `json:"exception_type"`
	ExceptionClass      string          `json:"exception_class"`
	Message             string          `json:"message"`
	Exception           json.RawMessage `json:"exception"`
	TimeoutKind         string          `json:"timeout_kind"`
	ActivityType        string          `json:"activity_type"`
	ActivityExecutionID string          `json:"activity_execution_id"`
	ActivityAttemptID   string          `json:"activity_attempt_id"`
	AttemptNumber       *int64          `json:"attempt_number"`
	Sequence            *int64          `json:"sequence"`
}

// showFailure adds the members that only failed runs have (control-plane.md 3). The failure of the run
// itself is the last of the list: clients look there for what ended it.
func showFailure(d *runtime.Description, out *control.WorkflowDescription) error {
	activities := make([]*control.FreeObject, 0, len(d.Failures))
	for i := range d.Failures {
		row, _, err := failureRow(&d.Failures[i], "activity_execution", "")
		if err != nil {
			return err
		}
		activities = append(activities, row)
	}
	own, e, err := failureRow(d.CloseEvent, "workflow_run", d.Run.RunID)
	if err != nil {
		return err
	}
	all := append(activities[:len(activities):len(activities)], own)
	out.Error, out.Exception, out.Failures = &e.Message, e.exception(), all
	out.Failure = &control.WorkflowFailure{
		Message: e.Message, Reason: orNil(d.Run.ClosedReason),
		ExceptionType: orNil(e.ExceptionType), ExceptionClass: orNil(e.ExceptionClass),
		FailureCategory: orNil(e.Category), NonRetryable: e.NonRetryable,
		SourceKind: orNil(e.SourceKind), SourceID: orNil(e.SourceID), EventSequence: &d.CloseEvent.Sequence,
		Exception: e.exception(), ActivityFailures: activities, Failures: all,
	}
	return nil
}

// failureRow reads a failure event and shows it; kind and source stand in where the event names none.
func failureRow(event *rules.Event, kind, source string) (*control.FreeObject, *failureEvent, error) {
	e := &failureEvent{}
	if err := json.Unmarshal(event.Payload, e); err != nil {
		return nil, nil, fmt.Errorf("event %d of run %s: %w", event.Sequence, event.RunID, err)
	}
	if e.SourceKind == "" {
		e.SourceKind = kind
	}
	if e.SourceID == "" {
		e.SourceID = source + e.ActivityExecutionID // an event has at most one of them
	}
	row := rules.NewObject(768).Str("id", e.FailureID).Str("failure_id", e.FailureID).
		Str("event_type", event.EventType).Int("event_sequence", event.Sequence).
		Str("source_kind", e.SourceKind).Str("source_id", e.SourceID).Str("failure_category", e.Category)
	if e.NonRetryable != nil {
		row.Bool("non_retryable", *e.NonRetryable)
	}
	row.Str("exception_type", e.ExceptionType).Str("exception_class", e.ExceptionClass).Str("message", e.Message).
		Raw("exception", e.exception()).Raw("exception_payload", e.exception()).Str("timeout_kind", e.TimeoutKind).
		Str("activity_type", e.ActivityType).Str("activity_execution_id", e.ActivityExecutionID).
		Str("activity_attempt_id", e.ActivityAttemptID).IntPtr("attempt_number", e.AttemptNumber).
		IntPtr("sequence", e.Sequence).Time("recorded_at", event.RecordedAt)
	object := control.FreeObject(row.Bytes())
	return &object, e, nil
}

// exception is the recorded exception, or one made of the flat members.
func (e *failureEvent) exception() json.RawMessage {
	if len(e.Exception) > 0 && string(e.Exception) != "null" {
		return e.Exception
	}
	return rules.NewObject(256).Str("type", e.ExceptionType).Str("class", e.ExceptionClass).
		Str("message", e.Message).Bytes()
}
