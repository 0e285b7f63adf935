package rules

import "strings"

// timeoutClass is what SDKs raise for a timed-out activity (6.4).
const timeoutClass = `Workflow\V2\Exceptions\ActivityTimeoutException`

// TimeOutActivity enforces the first deadline that has passed (6.4): a retry where the policy and
// the kind allow one, else ActivityTimedOut. It reports false, and does nothing, when none has.
func (t *Transition) TimeOutActivity(act *Activity, attempt *Attempt, task *Task) bool {
	kind, deadline := act.dueTimeout(t.Now)
	if kind == "" {
		return false
	}
	end := attemptEnd{
		status: AttemptFailed, retryReason: "timeout", timeoutKind: kind, category: "timeout",
		class: timeoutClass, message: timeoutMessage(act, kind, deadline),
	}
	policy := t.policy(act)
	before := *act
	if kind == "schedule_to_start" {
		*attempt = t.missedAttempt(act, task)
	}
	t.closeAttempt(act, attempt, task, AttemptFailed, TaskFailed)
	retry := kind != "schedule_to_close" && !policy.nonRetryable(end.class)
	if retry && policy.allows(act.AttemptCount) {
		t.retryActivity(act, attempt, task, &end, &policy)
	} else {
		t.closeActivity(act, ActivityFailed)
		t.recordTimedOut(&before, act, attempt, &end)
		t.Resume(act.resumePayload("ActivityTimedOut"))
	}
	t.writeActivity(act, attempt, task)
	return true
}

// missedAttempt is the attempt of an activity that nobody started in time: it counts against the limit, and
// has its row, so that attempts are numbered without a gap.
func (t *Transition) missedAttempt(act *Activity, task *Task) Attempt {
	act.AttemptCount++
	attempt := Attempt{
		AttemptID: t.NewID(), ExecutionID: act.ExecutionID, RunID: act.RunID, TaskID: task.TaskID,
		AttemptNumber: act.AttemptCount, StartedAt: t.Now,
	}
	act.AttemptID = attempt.AttemptID
	t.Eff.NewTries = append(t.Eff.NewTries, attempt)
	return attempt
}

func (t *Transition) recordTimedOut(before, act *Activity, attempt *Attempt, end *attemptEnd) {
	payload := act.event(1024)
	if attempt.AttemptID != "" {
		payload.Str("activity_attempt_id", attempt.AttemptID).Int("attempt_number", attempt.AttemptNumber)
	}
	payload.Str("failure_id", t.NewID()).Str("failure_category", "timeout").Str("timeout_kind", end.timeoutKind).
		Str("message", end.message).Str("exception_class", end.class).
		Time("schedule_deadline_at", before.ScheduleDeadlineAt).Time("close_deadline_at", before.CloseDeadlineAt).
		Time("schedule_to_close_deadline_at", before.ScheduleToCloseAt).
		Time("heartbeat_deadline_at", before.HeartbeatDeadlineAt).Raw("activity", act.view(nil))
	if attempt.AttemptID != "" {
		payload.Raw("activity_attempt", attempt.view(nil))
	}
	act.ClosedEventSequence = t.Record("ActivityTimedOut", act.Sequence, payload.Members(act.Parallel))
}

func timeoutMessage(act *Activity, kind string, deadline int64) string {
	text := "Activity " + act.ActivityType + " " + strings.ReplaceAll(kind, "_", "-") +
		" deadline expired at " + FormatTime(deadline)
	if kind == "heartbeat" {
		last := "never"
		if act.LastHeartbeatAt != 0 {
			last = FormatTime(act.LastHeartbeatAt)
		}
		text += " (last heartbeat: " + last + ")"
	}
	return text + "."
}
