package rules

import (
	"encoding/json"
	"fmt"
)

// retrySnapshot is the retry policy and timeouts frozen at scheduling (6.3). Absent seconds are 0.
type retrySnapshot struct {
	MaxAttempts            *int64   `json:"max_attempts"`
	BackoffSeconds         []int64  `json:"backoff_seconds"`
	StartToClose           int64    `json:"start_to_close_timeout"`
	ScheduleToStart        int64    `json:"schedule_to_start_timeout"`
	ScheduleToClose        int64    `json:"schedule_to_close_timeout"`
	Heartbeat              int64    `json:"heartbeat_timeout"`
	NonRetryableErrorTypes []string `json:"non_retryable_error_types"`
}

// defaultMaxAttempts is what an activity without a policy gets.
const defaultMaxAttempts = 1

// policy is an activity's retry snapshot. An activity whose documents do not decode fails the transition.
func (t *Transition) policy(act *Activity) retrySnapshot {
	one := int64(defaultMaxAttempts)
	s := retrySnapshot{MaxAttempts: &one}
	if len(act.RetryPolicy) > 0 { // an explicit null means unlimited
		if err := json.Unmarshal(act.RetryPolicy, &s); err != nil {
			t.Fail(fmt.Errorf("retry policy of activity %s: %w", act.ExecutionID, err))
		}
	}
	t.intact(act.Parallel) // it goes onto every event of the activity
	return s
}

// backoff is the wait in seconds after attempt n (6.3): no jitter, the last entry repeats.
func (s *retrySnapshot) backoff(attempt int64) int64 {
	if len(s.BackoffSeconds) == 0 || attempt < 1 {
		return 0
	}
	return s.BackoffSeconds[min(attempt-1, int64(len(s.BackoffSeconds)-1))]
}

// allows reports whether another attempt may follow attempt n.
func (s *retrySnapshot) allows(attempt int64) bool {
	return s.MaxAttempts == nil || attempt < *s.MaxAttempts
}

func (s *retrySnapshot) nonRetryable(names ...string) bool {
	for _, listed := range s.NonRetryableErrorTypes {
		for _, name := range names {
			if name != "" && name == listed {
				return true
			}
		}
	}
	return false
}

const second int64 = 1_000_000

// lastInstant is the end of the year 9999: what the wire form of instants can name.
const lastInstant int64 = 253_402_300_799_999_999

// after is a deadline so many seconds from now. Never stands for none, and for one that no clock reaches.
func after(now, seconds int64) int64 {
	if seconds <= 0 || seconds > (lastInstant-now)/second {
		return Never
	}
	return now + seconds*second
}

// refreshDeadline recomputes what `due` scans: the earliest deadline that applies in this status.
func (a *Activity) refreshDeadline() {
	switch a.Status {
	case ActivityPending:
		a.NextDeadlineAt = min(a.ScheduleToCloseAt, a.ScheduleDeadlineAt)
	case ActivityRunning:
		a.NextDeadlineAt = min(a.ScheduleToCloseAt, a.HeartbeatDeadlineAt, a.CloseDeadlineAt)
	default:
		a.NextDeadlineAt = Never
	}
}

// dueTimeout names the first deadline that has passed, in the contract's order (6.4), "" for none.
func (a *Activity) dueTimeout(now int64) (kind string, deadline int64) {
	running, pending := a.Status == ActivityRunning, a.Status == ActivityPending
	switch {
	case (running || pending) && a.ScheduleToCloseAt <= now:
		return "schedule_to_close", a.ScheduleToCloseAt
	case pending && a.ScheduleDeadlineAt <= now:
		return "schedule_to_start", a.ScheduleDeadlineAt
	case running && a.HeartbeatDeadlineAt <= now:
		return "heartbeat", a.HeartbeatDeadlineAt
	case running && a.CloseDeadlineAt <= now:
		return "start_to_close", a.CloseDeadlineAt
	}
	return "", Never
}

// DueTimeout names the first deadline that has passed, "" for none.
func (a *Activity) DueTimeout(now int64) string {
	kind, _ := a.dueTimeout(now)
	return kind
}

var localMode = []byte(`{"execution_mode":"local","local_activity":true}`)

// mode are the members that tell a local activity apart, none for others.
func (a *Activity) mode() []byte {
	if a.IsLocal == 1 {
		return localMode
	}
	return nil
}

// view is the activity snapshot of an event's payload (3.5). Arguments are part of it only where
// the activity is scheduled; history holds every payload once.
func (a *Activity) view(arguments []byte) []byte {
	return NewObject(384+len(arguments)).Str("id", a.ExecutionID).Str("idempotency_key", a.ExecutionID).
		Int("sequence", a.Sequence).Str("type", a.ActivityType).Str("class", a.ActivityType).
		Members(a.mode()).Str("attempt_id", a.AttemptID).Str("status", a.Status).Str("payload_codec", "avro").
		Int("attempt_count", a.AttemptCount).Raw("retry_policy", a.RetryPolicy).Str("queue", a.TaskQueue).
		Time("last_heartbeat_at", a.LastHeartbeatAt).Time("created_at", a.CreatedAt).
		Time("started_at", a.StartedAt).Time("closed_at", a.ClosedAt).Raw("arguments", arguments).
		Members(a.Parallel).Bytes()
}

// view is the activity_attempt snapshot of an event's payload.
func (t *Attempt) view(task *Task) []byte {
	o := NewObject(384).Str("id", t.AttemptID).Str("worker_attempt_id", t.WorkerAttemptID).
		Int("attempt_number", t.AttemptNumber).Str("status", t.Status).
		Str("task_id", t.TaskID).Str("lease_owner", t.LeaseOwner)
	if task != nil {
		o.Time("lease_expires_at", task.LeaseExpiresAt)
	}
	return o.Time("started_at", t.StartedAt).Time("last_heartbeat_at", t.LastHeartbeatAt).
		Time("closed_at", t.ClosedAt).Bytes()
}

// activityEvent starts the payload every activity event shares.
func (a *Activity) event(size int) *Object {
	return NewObject(size+512).Str("activity_execution_id", a.ExecutionID).
		Str("activity_class", a.ActivityType).Str("activity_type", a.ActivityType).Int("sequence", a.Sequence)
}

func (a *Activity) attemptEvent(size int, attempt *Attempt) *Object {
	return a.event(size).Str("activity_attempt_id", attempt.AttemptID).Int("attempt_number", attempt.AttemptNumber)
}
