package main

import (
	"context"
	"fmt"
	"net/http"
)

// The workflow of the crash test, by authored sequence:
//
//	1     an activity
//	2, 3  a side effect and an activity
//	4     a signal wait
//	5, 6  two activities at once
//	7     a timer of one second
//	      and the end

var retried = map[string]any{"max_attempts": 100, "backoff_seconds": []int{0}}

func activityCommand() map[string]any {
	return map[string]any{"type": "schedule_activity", "activity_type": "work", "retry_policy": retried}
}

// step is a batch of commands and the sequences it has to have resolved before the next.
type step struct {
	sequences []int64
	commands  func(token string) []any
}

var program = []step{
	{[]int64{1}, func(string) []any { return []any{activityCommand()} }},
	{[]int64{2, 3}, func(token string) []any {
		return []any{map[string]any{"type": "record_side_effect", "result": payload(token)}, activityCommand()}
	}},
	{[]int64{4}, func(string) []any {
		return []any{map[string]any{"type": "open_signal_wait", "signal_name": "go"}}
	}},
	{[]int64{5, 6}, func(string) []any { return []any{activityCommand(), activityCommand()} }},
	{[]int64{7}, func(string) []any { return []any{map[string]any{"type": "start_timer", "delay_seconds": 1}} }},
	{nil, func(string) []any {
		return []any{map[string]any{"type": "complete_workflow", "result": payload("done")}}
	}},
}

// decide replays a history: the step to take next, or -1 when the last one is still waited for.
func decide(events []historyEvent) int {
	scheduled, resolved := map[int64]bool{}, map[int64]bool{}
	signalled := false
	for _, e := range events {
		switch e.Type {
		case "ActivityScheduled", "TimerScheduled":
			scheduled[e.Payload.Sequence] = true
		case "SideEffectRecorded":
			scheduled[e.Payload.Sequence], resolved[e.Payload.Sequence] = true, true
		case "SignalWaitOpened":
			scheduled[e.Payload.Sequence] = true
		case "SignalReceived":
			signalled = true
		case "ActivityCompleted", "TimerFired":
			resolved[e.Payload.Sequence] = true
		}
	}
	resolved[4] = scheduled[4] && signalled
	for i, s := range program {
		for _, sequence := range s.sequences {
			if scheduled[sequence] && !resolved[sequence] {
				return -1
			}
		}
		if len(s.sequences) == 0 || !scheduled[s.sequences[0]] {
			return i
		}
	}
	return -1
}

type workflowTask struct {
	TaskID     string         `json:"task_id"`
	WorkflowID string         `json:"workflow_id"`
	Attempt    int64          `json:"workflow_task_attempt"`
	Events     []historyEvent `json:"history_events"`
	NextPage   *string        `json:"next_history_page_token"`
}

// workflowTask takes a workflow task, replays the run and completes the task with the next step.
func (l *loop) workflowTask(poll context.Context) {
	var task workflowTask
	if !l.poll(poll, "workflow", &task) {
		return
	}
	if task.NextPage != nil {
		l.ledger.found("a history of %d events came in pages", len(task.Events))
	}
	body := map[string]any{"lease_owner": l.name, "workflow_task_attempt": task.Attempt, "commands": []any{}}
	next, token := decide(task.Events), l.id("token")
	if next >= 0 {
		body["commands"] = program[next].commands(token)
	}
	path := "/worker/workflow-tasks/" + task.TaskID
	if l.oneIn(10) {
		l.send(l.base, path+"/heartbeat", map[string]any{"lease_owner": l.name, "workflow_task_attempt": task.Attempt})
	}
	l.report(path+"/complete", body, func() {
		if next >= 0 {
			l.ledger.acknowledge(takenStep, stepKey(task.WorkflowID, next), token)
		}
	})
}

// history reads all of a run's history, in small pages.
func (c *crash) history(ctx context.Context, id, run string) ([]historyEvent, error) {
	var events []historyEvent
	for token := ""; ; {
		path := "/workflows/" + id + "/runs/" + run + "/history?page_size=7&next_page_token=" + token
		answer, err := c.api.call(ctx, http.MethodGet, path, nil)
		if err != nil {
			return nil, err
		}
		var page historyPage
		if err := answer.decode(&page); err != nil || answer.status != http.StatusOK {
			return nil, fmt.Errorf("history of %s: %s: %w", id, answer, err)
		}
		events = append(events, page.Events...)
		if page.Next == nil {
			return events, nil
		}
		token = *page.Next
	}
}

type historyPage struct {
	Events []historyEvent `json:"events"`
	Next   *string        `json:"next_page_token"`
}

type historyEvent struct {
	Sequence int64  `json:"sequence"`
	Type     string `json:"event_type"`
	Payload  struct {
		Sequence   int64          `json:"sequence"`
		AttemptID  string         `json:"activity_attempt_id"`
		RetryAfter string         `json:"retry_after_attempt_id"`
		Reason     string         `json:"retry_reason"`
		SignalID   string         `json:"signal_id"`
		Attempt    int64          `json:"attempt_number"`
		Result     map[string]any `json:"result"`
	} `json:"payload"`
}
