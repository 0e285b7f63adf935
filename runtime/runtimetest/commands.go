package runtimetest

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"dwserver/runtime/rules"
)

func ptr[T any](v T) *T { return &v }

type command = rules.WorkflowCommand

func with(c command, change []func(*command)) command {
	for _, f := range change {
		f(&c)
	}
	return c
}

func activity(name string, change ...func(*command)) command {
	return with(command{Type: "schedule_activity", ActivityType: &name}, change)
}

func timer(seconds int64) command { return command{Type: "start_timer", DelaySeconds: &seconds} }

func sideEffect() command { return command{Type: "record_side_effect", Result: []byte(`"AA=="`)} }

func condition(key string, change ...func(*command)) command {
	return with(command{Type: "open_condition_wait", ConditionKey: &key}, change)
}

func awaitSignal(name string, change ...func(*command)) command {
	return with(command{Type: "open_signal_wait", SignalName: &name}, change)
}

func finish() command {
	return command{Type: "complete_workflow", Result: []byte(`{"codec":"avro","blob":"Aw=="}`)}
}

func again() command { return command{Type: "continue_as_new"} }

func within(seconds int64) func(*command) {
	return func(c *command) { c.TimeoutSeconds = &seconds }
}

func retrying(attempts int64, backoff ...int64) func(*command) {
	return func(c *command) {
		c.RetryPolicy = &rules.RetryPolicy{MaxAttempts: &attempts, BackoffSeconds: backoff}
	}
}

// group is a flat group of n activities of one type from a base on.
func group(base, n int64, name string) []command {
	out := make([]command, n)
	for i := range n {
		id := fmt.Sprintf("parallel-activities:%d:%d", base, n)
		out[i] = activity(name, func(c *command) {
			c.ParallelGroupID, c.ParallelGroupKind = &id, ptr("activity")
			c.ParallelGroupBaseSequence, c.ParallelGroupSize, c.ParallelGroupIndex = &base, &n, ptr(i)
		})
	}
	return out
}

func decode(t *testing.T, doc []byte) map[string]any {
	t.Helper()
	out := map[string]any{}
	require.NoError(t, json.Unmarshal(doc, &out))
	return out
}
