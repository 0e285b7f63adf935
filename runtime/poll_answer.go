package runtime

import (
	"context"
	"encoding/json"
	"fmt"

	"dwserver/runtime/rules"
	"dwserver/runtime/store"
)

// History page sizes of the worker plane (worker-plane.md 3).
const (
	DefaultHistoryPage = 500
	MaxHistoryPage     = 1000
	// historyPageBytes ends a page early; one event is always delivered.
	historyPageBytes = 8 << 20
)

// answer builds the poll's answer from committed state, the same way for a new lease and a replay.
func (p *poll) answer(ctx context.Context, c *claimed) (PollResult, error) {
	result := PollResult{Status: PollLeased, ServerTime: p.now()}
	if p.kind.kind == rules.KindActivity {
		arguments, err := p.activityArguments(ctx, &c.activity)
		// The history a claim delivers ends with its own ActivityStarted, whatever came since.
		c.run.LastHistorySequence = c.task.ClaimedSequence
		result.Activity = &ActivityTaskAnswer{
			Task: c.task, Run: c.run, Activity: c.activity, Attempt: c.attempt, Arguments: arguments,
		}
		return result, err
	}
	input, err := p.store.ReadRunInput(ctx, c.run.RunID)
	if err != nil {
		return PollResult{}, err
	}
	page, err := p.historyPage(ctx, &c.run, &c.task, 0, p.req.HistoryPageSize)
	if err != nil {
		return PollResult{}, err
	}
	result.Workflow = &WorkflowTaskAnswer{Task: c.task, Run: c.run, Arguments: input.Arguments, Page: page}
	return result, nil
}

// activityArguments are kept once, in the ActivityScheduled event.
func (e *Engine) activityArguments(ctx context.Context, act *rules.Activity) ([]byte, error) {
	event, err := e.store.ReadEvent(ctx, act.RunID, act.ScheduledEvent)
	if err != nil {
		return nil, err
	}
	var scheduled struct {
		Activity struct {
			Arguments json.RawMessage `json:"arguments"`
		} `json:"activity"`
	}
	if err := json.Unmarshal(event.Payload, &scheduled); err != nil {
		return nil, fmt.Errorf("%w: event %d of run %s: %w", store.ErrBroken, act.ScheduledEvent, act.RunID, err)
	}
	return scheduled.Activity.Arguments, nil
}

// historyPage is the stretch of history after a sequence that a claim covers.
func (e *Engine) historyPage(ctx context.Context, run *rules.Run, task *rules.Task, after, size int64) (HistoryPage, error) {
	if size <= 0 {
		size = DefaultHistoryPage
	}
	page := HistoryPage{
		TotalEvents: task.ClaimedSequence, SizeBytes: run.HistorySizeBytes,
		FanOut: run.OpenActivities + run.OpenTimers,
	}
	page.Budget = rules.Budget(page.TotalEvents, page.SizeBytes, page.FanOut)
	events, err := e.store.ListEvents(ctx, run.RunID, after, task.ClaimedSequence, min(size, MaxHistoryPage))
	if err != nil {
		return page, err
	}
	page.Events = trimPage(events)
	if n := len(page.Events); n > 0 && page.Events[n-1].Sequence < task.ClaimedSequence {
		page.NextAfter = page.Events[n-1].Sequence
	}
	return page, nil
}

// trimPage cuts a page at its byte budget.
func trimPage(events []rules.Event) []rules.Event {
	total := 0
	for i := range events {
		total += len(events[i].Payload)
		if total > historyPageBytes && i > 0 {
			return events[:i]
		}
	}
	return events
}
