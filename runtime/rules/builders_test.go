package rules

import (
	"encoding/json"
	"fmt"
)

func ptr[T any](v T) *T { return &v }

// Commands as workers send them; change adjusts one.

func scheduleActivity(name string, change ...func(*WorkflowCommand)) WorkflowCommand {
	return with(WorkflowCommand{Type: "schedule_activity", ActivityType: ptr(name)}, change)
}

func startTimer(seconds int64, change ...func(*WorkflowCommand)) WorkflowCommand {
	return with(WorkflowCommand{Type: "start_timer", DelaySeconds: ptr(seconds)}, change)
}

func sideEffect(change ...func(*WorkflowCommand)) WorkflowCommand {
	return with(WorkflowCommand{Type: "record_side_effect", Result: []byte(`"wwHioz3/VYAiNwQO"`)}, change)
}

func versionMarker(change ...func(*WorkflowCommand)) WorkflowCommand {
	return with(WorkflowCommand{Type: "record_version_marker", ChangeID: ptr("c1"), Version: ptr[int64](2),
		MinSupported: ptr[int64](1), MaxSupported: ptr[int64](2)}, change)
}

func conditionWait(key string, change ...func(*WorkflowCommand)) WorkflowCommand {
	return with(WorkflowCommand{Type: "open_condition_wait", ConditionKey: ptr(key)}, change)
}

func signalWait(name string, change ...func(*WorkflowCommand)) WorkflowCommand {
	return with(WorkflowCommand{Type: "open_signal_wait", SignalName: ptr(name)}, change)
}

func completeWorkflow(change ...func(*WorkflowCommand)) WorkflowCommand {
	return with(WorkflowCommand{Type: "complete_workflow", Result: []byte(`{"codec":"avro","blob":"Ag=="}`)}, change)
}

func failWorkflow(message string, change ...func(*WorkflowCommand)) WorkflowCommand {
	return with(WorkflowCommand{Type: "fail_workflow", Message: ptr(message)}, change)
}

func continueAsNew(change ...func(*WorkflowCommand)) WorkflowCommand {
	return with(WorkflowCommand{Type: "continue_as_new"}, change)
}

func with(c WorkflowCommand, change []func(*WorkflowCommand)) WorkflowCommand {
	for _, f := range change {
		f(&c)
	}
	return c
}

func within(seconds int64) func(*WorkflowCommand) {
	return func(c *WorkflowCommand) { c.TimeoutSeconds = &seconds }
}

func retrying(attempts int64, backoff ...int64) func(*WorkflowCommand) {
	return func(c *WorkflowCommand) {
		c.RetryPolicy = &RetryPolicy{MaxAttempts: &attempts, BackoffSeconds: backoff}
	}
}

// level is one entry of a group path; prefix and kind follow the SDKs.
type level struct {
	kind        string
	base, size  int64
	index       int64
	otherPrefix string
}

func (l level) id() string {
	prefix := map[string]string{"activity": "parallel-activities", "timer": "parallel-timers",
		"condition": "parallel-conditions", "mixed": "parallel-calls"}[l.kind]
	if l.otherPrefix != "" {
		prefix = l.otherPrefix
	}
	return fmt.Sprintf("%s:%d:%d", prefix, l.base, l.size)
}

// grouped puts a command into a group; several levels nest, outermost first. The path is always sent.
func grouped(levels ...level) func(*WorkflowCommand) {
	return func(c *WorkflowCommand) {
		path := "["
		for i, l := range levels {
			if i > 0 {
				path += ","
			}
			path += fmt.Sprintf(`{"parallel_group_id":%q,"parallel_group_kind":%q,"parallel_group_base_sequence":%d,`+
				`"parallel_group_size":%d,"parallel_group_index":%d}`, l.id(), l.kind, l.base, l.size, l.index)
		}
		own := levels[len(levels)-1]
		c.ParallelGroupID, c.ParallelGroupKind = ptr(own.id()), ptr(own.kind)
		c.ParallelGroupBaseSequence, c.ParallelGroupSize = ptr(own.base), ptr(own.size)
		c.ParallelGroupIndex = ptr(own.index)
		c.ParallelGroupPath = []byte(path + "]")
	}
}

// group is a flat group of activities from a base on.
func group(base int64, names ...string) []WorkflowCommand {
	var out []WorkflowCommand
	for i, name := range names {
		out = append(out, scheduleActivity(name, grouped(level{kind: "activity", base: base, size: int64(len(names)), index: int64(i)})))
	}
	return out
}

// numbers turns the json.Numbers of a decoded object into integers.
func numbers(v any) map[string]any {
	out := map[string]any{}
	for name, member := range v.(map[string]any) {
		if n, ok := member.(json.Number); ok {
			i, _ := n.Int64()
			member = i
		}
		out[name] = member
	}
	return out
}
