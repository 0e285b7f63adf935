package writetest

import (
	"strings"

	"dwserver/runtime/rules"
)

func ptr[T any](v T) *T { return &v }

// payload is an envelope with a blob of n characters.
func payload(n int) []byte { return []byte(`{"codec":"avro","blob":"` + strings.Repeat("A", n) + `"}`) }

// local is a local activity that completed at its first attempt, with a result of n characters.
func local(n int) rules.WorkflowCommand {
	return rules.WorkflowCommand{
		Type: "record_local_activity", ActivityType: ptr(activityType), Outcome: ptr("completed"), Result: payload(n),
		Attempts: []rules.LocalAttempt{{Number: 1, Outcome: "completed", DurationMS: ptr(int64(20))}},
	}
}

func schedule() rules.WorkflowCommand {
	return rules.WorkflowCommand{Type: "schedule_activity", ActivityType: ptr(activityType), Arguments: payload(4)}
}

func sideEffect(n int) rules.WorkflowCommand {
	return rules.WorkflowCommand{Type: "record_side_effect", Result: payload(n)}
}

func signalWait() rules.WorkflowCommand {
	return rules.WorkflowCommand{Type: "open_signal_wait", SignalName: ptr("s")}
}

func finish() rules.WorkflowCommand {
	return rules.WorkflowCommand{Type: "complete_workflow", Result: payload(4)}
}

// times is a command so many times.
func times(n int, c rules.WorkflowCommand) []rules.WorkflowCommand {
	out := make([]rules.WorkflowCommand, n)
	for i := range out {
		out[i] = c
	}
	return out
}
