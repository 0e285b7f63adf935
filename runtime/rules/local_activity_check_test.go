package rules

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLocalActivityRules(t *testing.T) {
	one := func(members string) func(*WorkflowCommand) { return attempts(`[{` + members + `}]`) }
	two := func(first string) func(*WorkflowCommand) {
		return func(c *WorkflowCommand) {
			retrying(2, 1)(c)
			attempts(`[{` + first + `},{"attempt_number":2,"outcome":"completed"}]`)(c)
		}
	}
	for name, row := range map[string]struct {
		change []func(*WorkflowCommand)
		field  string
	}{
		"no outcome":             {[]func(*WorkflowCommand){func(c *WorkflowCommand) { c.Outcome = nil }}, "outcome"},
		"no result":              {[]func(*WorkflowCommand){func(c *WorkflowCommand) { c.Result = nil }}, "result"},
		"no message":             {[]func(*WorkflowCommand){ended("failed"), func(c *WorkflowCommand) { c.Message = nil }, one(`"attempt_number":1,"outcome":"failed","message":"m"`)}, "message"},
		"flag when completed":    {[]func(*WorkflowCommand){func(c *WorkflowCommand) { c.NonRetryable = ptr(false) }}, "non_retryable"},
		"timeout without kind":   {[]func(*WorkflowCommand){ended("timed_out"), one(`"attempt_number":1,"outcome":"timed_out","message":"m","timeout_kind":"heartbeat"`)}, "timeout_kind"},
		"queue":                  {[]func(*WorkflowCommand){func(c *WorkflowCommand) { c.Queue = ptr("q") }}, "queue"},
		"mode":                   {[]func(*WorkflowCommand){func(c *WorkflowCommand) { c.ExecutionMode = ptr("remote") }}, "execution_mode"},
		"unlimited":              {[]func(*WorkflowCommand){func(c *WorkflowCommand) { c.RetryPolicy = &RetryPolicy{Unlimited: true} }}, "retry_policy.max_attempts"},
		"101 attempts":           {[]func(*WorkflowCommand){retrying(101)}, "retry_policy.max_attempts"},
		"too many backoffs":      {[]func(*WorkflowCommand){retrying(2, 1, 1)}, "retry_policy.backoff_seconds"},
		"attempts absent":        {[]func(*WorkflowCommand){unreported}, "attempts"},
		"attempts empty":         {[]func(*WorkflowCommand){attempts("[]")}, "attempts"},
		"unknown member":         {[]func(*WorkflowCommand){one(`"attempt_number":1,"outcome":"completed","unknown":["colour"]`)}, "attempts.0.colour"},
		"number gap":             {[]func(*WorkflowCommand){one(`"attempt_number":2,"outcome":"completed"`)}, "attempts.0.attempt_number"},
		"outcome differs":        {[]func(*WorkflowCommand){one(`"attempt_number":1,"outcome":"failed","message":"m"`)}, "attempts.0.outcome"},
		"negative duration":      {[]func(*WorkflowCommand){one(`"attempt_number":1,"outcome":"completed","duration_ms":-1`)}, "attempts.0.duration_ms"},
		"heartbeats decrease":    {[]func(*WorkflowCommand){one(`"attempt_number":1,"outcome":"completed","heartbeats":[{"elapsed_ms":5},{"elapsed_ms":4}]`)}, "attempts.0.heartbeats.1.elapsed_ms"},
		"last is retried":        {[]func(*WorkflowCommand){one(`"attempt_number":1,"outcome":"completed","retry_reason":"failure"`)}, "attempts.0.retry_reason"},
		"more than allowed":      {[]func(*WorkflowCommand){attempts(`[{"attempt_number":1,"outcome":"failed","message":"m","retry_reason":"failure","backoff_seconds":0},{"attempt_number":2,"outcome":"completed"}]`)}, "attempts"},
		"retried after success":  {[]func(*WorkflowCommand){two(`"attempt_number":1,"outcome":"completed","message":"m","retry_reason":"failure","backoff_seconds":1`)}, "attempts.0.outcome"},
		"no retry reason":        {[]func(*WorkflowCommand){two(`"attempt_number":1,"outcome":"failed","message":"m","backoff_seconds":1`)}, "attempts.0.retry_reason"},
		"reason of another kind": {[]func(*WorkflowCommand){two(`"attempt_number":1,"outcome":"failed","message":"m","retry_reason":"timeout","backoff_seconds":1`)}, "attempts.0.retry_reason"},
		"other backoff":          {[]func(*WorkflowCommand){two(`"attempt_number":1,"outcome":"failed","message":"m","retry_reason":"failure","backoff_seconds":2`)}, "attempts.0.backoff_seconds"},
		"non-retryable retried":  {[]func(*WorkflowCommand){two(`"attempt_number":1,"outcome":"failed","message":"m","non_retryable":true,"retry_reason":"failure","backoff_seconds":1`)}, "attempts.0.non_retryable"},
		"too many heartbeats":    {[]func(*WorkflowCommand){one(`"attempt_number":1,"outcome":"completed","heartbeats":[` + strings.TrimSuffix(strings.Repeat(`{"elapsed_ms":1},`, 1001), ",") + `]`)}, "attempts"},
		"no type":                {[]func(*WorkflowCommand){func(c *WorkflowCommand) { c.ActivityType = ptr(" ") }}, "activity_type"},
		"unknown outcome":        {[]func(*WorkflowCommand){ended("lost")}, "outcome"},
		"foreign codec":          {[]func(*WorkflowCommand){func(c *WorkflowCommand) { c.Arguments = []byte(`{"codec":"json","blob":"AA=="}`) }}, "arguments"},
		"long exception type":    {[]func(*WorkflowCommand){func(c *WorkflowCommand) { c.ExceptionType = ptr(strings.Repeat("x", 256)) }}, "exception_type"},
		"kind without timeout":   {[]func(*WorkflowCommand){func(c *WorkflowCommand) { c.TimeoutKind = ptr("heartbeat") }}, "timeout_kind"},
		"unknown kind":           {[]func(*WorkflowCommand){ended("timed_out"), func(c *WorkflowCommand) { c.TimeoutKind = ptr("schedule_to_start") }, one(`"attempt_number":1,"outcome":"timed_out","message":"m","timeout_kind":"heartbeat"`)}, "timeout_kind"},
		"connection":             {[]func(*WorkflowCommand){func(c *WorkflowCommand) { c.Connection = ptr("redis") }}, "connection"},
		"session":                {[]func(*WorkflowCommand){func(c *WorkflowCommand) { c.WorkerSession = []byte(`{}`) }}, "worker_session"},
		"schedule to start":      {[]func(*WorkflowCommand){func(c *WorkflowCommand) { c.ScheduleToStartTimeout = ptr[int64](1) }}, "schedule_to_start_timeout"},
		"timeout of nothing":     {[]func(*WorkflowCommand){func(c *WorkflowCommand) { c.HeartbeatTimeout = ptr[int64](0) }}, "heartbeat_timeout"},
		"timeouts crossed": {[]func(*WorkflowCommand){func(c *WorkflowCommand) {
			c.StartToCloseTimeout, c.ScheduleToCloseTimeout = ptr[int64](2), ptr[int64](1)
		}}, "start_to_close_timeout"},
		"heartbeat too long": {[]func(*WorkflowCommand){func(c *WorkflowCommand) { c.StartToCloseTimeout, c.HeartbeatTimeout = ptr[int64](1), ptr[int64](2) }}, "heartbeat_timeout"},
		"error type twice": {[]func(*WorkflowCommand){func(c *WorkflowCommand) {
			c.RetryPolicy = &RetryPolicy{NonRetryableErrorTypes: []string{"A", "B", "A"}}
		}}, "retry_policy.non_retryable_error_types"},
		"101 reported":         {[]func(*WorkflowCommand){retrying(100), func(c *WorkflowCommand) { c.Attempts = make([]LocalAttempt, 101) }}, "attempts"},
		"attempt id twice":     {[]func(*WorkflowCommand){two(`"attempt_number":1,"attempt_id":"a","outcome":"failed","message":"m","retry_reason":"failure","backoff_seconds":1`), func(c *WorkflowCommand) { c.Attempts[1].AttemptID = ptr("a") }}, "attempts.1.attempt_id"},
		"attempt id too long":  {[]func(*WorkflowCommand){func(c *WorkflowCommand) { c.Attempts[0].AttemptID = ptr(strings.Repeat("é", 128)) }}, "attempts.0.attempt_id"},
		"attempt's message":    {[]func(*WorkflowCommand){ended("failed"), one(`"attempt_number":1,"outcome":"failed"`)}, "attempts.0.message"},
		"attempt's type":       {[]func(*WorkflowCommand){one(`"attempt_number":1,"outcome":"completed","exception_type":"` + strings.Repeat("x", 256) + `"`)}, "attempts.0.exception_type"},
		"attempt's kind":       {[]func(*WorkflowCommand){one(`"attempt_number":1,"outcome":"completed","timeout_kind":"heartbeat"`)}, "attempts.0.timeout_kind"},
		"flag differs":         {[]func(*WorkflowCommand){ended("failed"), func(c *WorkflowCommand) { c.NonRetryable = ptr(true) }, one(`"attempt_number":1,"outcome":"failed","message":"m"`)}, "attempts.0.non_retryable"},
		"last has a backoff":   {[]func(*WorkflowCommand){one(`"attempt_number":1,"outcome":"completed","backoff_seconds":0`)}, "attempts.0.backoff_seconds"},
		"no backoff":           {[]func(*WorkflowCommand){two(`"attempt_number":1,"outcome":"failed","message":"m","retry_reason":"failure"`)}, "attempts.0.backoff_seconds"},
		"no elapsed time":      {[]func(*WorkflowCommand){one(`"attempt_number":1,"outcome":"completed","heartbeats":[{}]`)}, "attempts.0.heartbeats.0.elapsed_ms"},
		"elapsed before start": {[]func(*WorkflowCommand){one(`"attempt_number":1,"outcome":"completed","heartbeats":[{"elapsed_ms":-1}]`)}, "attempts.0.heartbeats.0.elapsed_ms"},
		"details no object":    {[]func(*WorkflowCommand){one(`"attempt_number":1,"outcome":"completed","heartbeats":[{"elapsed_ms":1,"details":[1]}]`)}, "attempts.0.heartbeats.0.details"},
		"unknown in heartbeat": {[]func(*WorkflowCommand){one(`"attempt_number":1,"outcome":"completed","unknown":["heartbeats.0.colour"]`)}, "attempts.0.heartbeats.0.colour"},
	} {
		t.Run(name, func(t *testing.T) {
			r := CheckCommands([]WorkflowCommand{local(row.change...)}, 20, DefaultLimits())
			require.NotNil(t, r)
			require.Contains(t, r.Errors, "commands.0."+row.field)
			require.Len(t, r.Errors, 1, "%v", r.Errors)
		})
	}
	// Before 1.19: no list is one attempt, unknown members are ignored.
	for _, outcome := range []string{"completed", "failed", "cancelled", "timed_out"} {
		c := local(unreported)
		if outcome != "completed" {
			c = local(ended(outcome), unreported)
		}
		if outcome == "timed_out" {
			c.TimeoutKind = ptr("heartbeat")
		}
		require.Nil(t, CheckCommands([]WorkflowCommand{c}, 18, DefaultLimits()), outcome)
	}
	require.Nil(t, CheckCommands([]WorkflowCommand{local(one(`"attempt_number":1,"outcome":"completed","unknown":["colour"]`))}, 18, DefaultLimits()))
}

// What the rules allow: both reasons to retry, the entry of the policy that repeats, all 100 attempts.
func TestLocalActivityAccepted(t *testing.T) {
	for name, c := range map[string]WorkflowCommand{
		"cold replay": local(retrying(2, 1), attempts(`[{"attempt_number":1,"outcome":"failed","message":"m","retry_reason":"cold_replay","backoff_seconds":1},
			{"attempt_number":2,"outcome":"completed"}]`)),
		"cold replay of a timeout": local(retrying(2, 1), attempts(`[{"attempt_number":1,"outcome":"timed_out","timeout_kind":"heartbeat","message":"m",
			"retry_reason":"cold_replay","backoff_seconds":1},{"attempt_number":2,"outcome":"completed"}]`)),
		"no backoff": local(retrying(2), attempts(`[{"attempt_number":1,"outcome":"failed","message":"m","retry_reason":"failure","backoff_seconds":0},
			{"attempt_number":2,"outcome":"completed"}]`)),
		"repeated backoff": local(retrying(4, 1, 5), attempts(`[{"attempt_number":1,"outcome":"failed","message":"m","retry_reason":"failure","backoff_seconds":1},
			{"attempt_number":2,"outcome":"failed","message":"m","retry_reason":"failure","backoff_seconds":5},
			{"attempt_number":3,"outcome":"failed","message":"m","retry_reason":"failure","backoff_seconds":5},{"attempt_number":4,"outcome":"completed"}]`)),
		"local mode": local(func(c *WorkflowCommand) { c.ExecutionMode = ptr("local") }),
	} {
		r := CheckCommands([]WorkflowCommand{c}, 20, DefaultLimits())
		require.Nil(t, r, "%s: %v", name, r)
	}
}
