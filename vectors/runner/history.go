package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// history reads a run's whole history, page by page, and matches it event by
// event. Sequences have to be contiguous from 1.
func (p *player) history(ctx context.Context, check *HistoryCheck) error {
	events, err := p.readHistory(ctx, check)
	if err != nil {
		return err
	}
	for i, event := range events {
		if err := equal(json.Number(strconv.Itoa(i+1)), event["sequence"], "event sequence"); err != nil {
			return err
		}
	}
	if len(events) != len(check.Events) {
		return fmt.Errorf("history: want %d events, got %d: %s", len(check.Events), len(events), types(events))
	}
	for i, want := range check.Events {
		kind, pattern, err := eventPattern(want)
		if err != nil {
			return err
		}
		if events[i]["event_type"] != kind {
			return fmt.Errorf("history: event %d: want %s: %s", i+1, kind, types(events))
		}
		if err := p.scope.match(pattern, events[i]["payload"], "event "+strconv.Itoa(i+1)+" "+kind); err != nil {
			return err
		}
	}
	return nil
}

func (p *player) readHistory(ctx context.Context, check *HistoryCheck) ([]map[string]any, error) {
	request := Request{Call: "getWorkflowHistory", Query: map[string]any{"page_size": "100"},
		Path: map[string]any{"workflow_id": orVariable(check.Workflow, "workflow"), "run_id": orVariable(check.Run, "run")}}
	var events []map[string]any
	for {
		x := p.exchange(ctx, request)
		if x.err != nil {
			return nil, x.err
		}
		body, _ := x.body.(map[string]any)
		page, ok := body["events"].([]any)
		if !ok {
			return nil, fmt.Errorf("history: status %d: %.600s", x.status, x.received)
		}
		for _, event := range page {
			events = append(events, event.(map[string]any))
		}
		token, more := body["next_page_token"].(string)
		if !more {
			return events, nil
		}
		request.Query["next_page_token"] = token
	}
}

func orVariable(text, name string) string {
	if text == "" {
		return "{{" + name + "}}"
	}
	return text
}

// eventPattern reads "Type" or {"Type": payload pattern}.
func eventPattern(want any) (kind string, pattern any, err error) {
	if name, ok := want.(string); ok {
		return name, map[string]any{}, nil
	}
	object, ok := want.(map[string]any)
	if !ok || len(object) != 1 {
		return "", nil, fmt.Errorf("history: an event is a type or {type: payload}, not %s", show(want))
	}
	for kind, pattern = range object {
	}
	return kind, pattern, nil
}

func types(events []map[string]any) string {
	names := make([]string, len(events))
	for i, event := range events {
		names[i] = fmt.Sprint(event["event_type"])
	}
	return strings.Join(names, " ")
}
