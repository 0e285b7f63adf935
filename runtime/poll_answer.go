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

// source is what an answer is read from: committed state, or the transaction that grants the lease.
type source interface {
	ReadRun(ctx context.Context, runID string) (rules.Run, error)
	ReadRunInput(ctx context.Context, runID string) (rules.RunInput, error)
	ReadActivity(ctx context.Context, executionID string) (rules.Activity, error)
	ReadAttempt(ctx context.Context, attemptID string) (rules.Attempt, error)
	ReadEvent(ctx context.Context, runID string, sequence int64) (rules.Event, error)
	ListEvents(ctx context.Context, runID string, after, upTo, limit int64) ([]rules.Event, error)
}

// txSource reads inside a transaction.
type txSource struct{ store.Tx }

func (s txSource) ReadRun(ctx context.Context, runID string) (rules.Run, error) {
	return s.GetRun(ctx, runID)
}

func (s txSource) ReadRunInput(ctx context.Context, runID string) (rules.RunInput, error) {
	return s.GetRunInput(ctx, runID)
}

func (s txSource) ReadActivity(ctx context.Context, executionID string) (rules.Activity, error) {
	return s.GetActivity(ctx, executionID)
}

func (s txSource) ReadAttempt(ctx context.Context, attemptID string) (rules.Attempt, error) {
	return s.GetAttempt(ctx, attemptID)
}

func (s txSource) ReadEvent(ctx context.Context, runID string, sequence int64) (rules.Event, error) {
	return s.GetEvent(ctx, runID, sequence)
}

// answer builds the poll's answer from committed state, and from what was read with the claim.
func (p *poll) answer(ctx context.Context, c *claimed) (PollResult, error) {
	if c.documents != nil {
		return p.answerFrom(ctx, readAhead{p.store, c.documents}, c)
	}
	return p.answerFrom(ctx, p.store, c)
}

// readAhead is a source of which some documents were read before.
type readAhead struct {
	source
	documents *store.Documents
}

func (s readAhead) ReadRunInput(ctx context.Context, runID string) (rules.RunInput, error) {
	if in := s.documents.RunInput(runID); in != nil {
		return *in, nil
	}
	return s.source.ReadRunInput(ctx, runID)
}

func (s readAhead) ReadEvent(ctx context.Context, runID string, sequence int64) (rules.Event, error) {
	if ev := s.documents.EventAt(runID, sequence); ev != nil {
		return *ev, nil
	}
	return s.source.ReadEvent(ctx, runID, sequence)
}

func (s readAhead) ListEvents(ctx context.Context, runID string, after, upTo, limit int64) ([]rules.Event, error) {
	if page, known := s.documents.Page(runID, after, upTo, limit); known {
		return page, nil
	}
	return s.source.ListEvents(ctx, runID, after, upTo, limit)
}

// answerFrom builds the poll's answer, the same way for a new lease, a replay and a carried poll.
func (p *poll) answerFrom(ctx context.Context, from source, c *claimed) (PollResult, error) {
	result := PollResult{Status: PollLeased, ServerTime: p.now()}
	if p.kind.kind == rules.KindActivity {
		arguments, err := activityArguments(ctx, from, &c.activity)
		// The history a claim delivers ends with its own ActivityStarted, whatever came since.
		c.run.LastHistorySequence = c.task.ClaimedSequence
		result.Activity = &ActivityTaskAnswer{
			Task: c.task, Run: c.run, Activity: c.activity, Attempt: c.attempt, Arguments: arguments,
		}
		return result, err
	}
	input, err := from.ReadRunInput(ctx, c.run.RunID)
	if err != nil {
		return PollResult{}, err
	}
	page, err := historyPage(ctx, from, &c.run, &c.task, 0, p.req.HistoryPageSize)
	if err != nil {
		return PollResult{}, err
	}
	switch {
	case len(c.task.Payload) > 0 && !json.Valid(c.task.Payload):
		return PollResult{}, fmt.Errorf("%w: payload of task %s", store.ErrBroken, c.task.TaskID)
	case len(input.Arguments) > 0 && !rules.IsObject(input.Arguments):
		return PollResult{}, fmt.Errorf("%w: arguments of run %s", store.ErrBroken, c.run.RunID)
	}
	result.Workflow = &WorkflowTaskAnswer{Task: c.task, Run: c.run, Arguments: input.Arguments, Page: page}
	seq, err := rules.ResumeSignalEvent(c.task.Payload)
	if err != nil {
		return PollResult{}, fmt.Errorf("%w: payload of task %s: %w", store.ErrBroken, c.task.TaskID, err)
	}
	if seq > 0 {
		result.Workflow.SignalArguments, err = signalArguments(ctx, from, c.run.RunID, seq)
	}
	return result, err
}

// signalArguments are kept once, in the SignalReceived event.
func signalArguments(ctx context.Context, from source, runID string, sequence int64) ([]byte, error) {
	event, err := from.ReadEvent(ctx, runID, sequence)
	if err != nil {
		return nil, err
	}
	var received struct {
		Arguments json.RawMessage `json:"arguments"`
	}
	if err := json.Unmarshal(event.Payload, &received); err != nil {
		return nil, fmt.Errorf("%w: event %d of run %s: %w", store.ErrBroken, sequence, runID, err)
	}
	return received.Arguments, nil
}

// activityArguments are kept once, in the ActivityScheduled event.
func activityArguments(ctx context.Context, from source, act *rules.Activity) ([]byte, error) {
	event, err := from.ReadEvent(ctx, act.RunID, act.ScheduledEvent)
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

// historyLimit is how many events a page of a requested size has at most.
func historyLimit(size int64) int64 {
	if size <= 0 {
		size = DefaultHistoryPage
	}
	return min(size, MaxHistoryPage)
}

// historyPage is the stretch of history after a sequence that a claim covers.
func historyPage(ctx context.Context, from source, run *rules.Run, task *rules.Task, after, size int64) (HistoryPage, error) {
	page := HistoryPage{
		TotalEvents: task.ClaimedSequence, SizeBytes: run.HistorySizeBytes,
		FanOut: run.OpenActivities + run.OpenTimers,
	}
	page.Budget = rules.Budget(page.TotalEvents, page.SizeBytes, page.FanOut)
	events, err := from.ListEvents(ctx, run.RunID, after, task.ClaimedSequence, historyLimit(size))
	if err != nil {
		return page, err
	}
	for i := range events {
		if !rules.IsObject(events[i].Payload) {
			return page, fmt.Errorf("%w: event %d of run %s", store.ErrBroken, events[i].Sequence, run.RunID)
		}
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
