package runtime

import (
	"context"
	"time"

	"dwserver/runtime/rules"
)

// Public history page sizes (control-plane.md 3).
const (
	DefaultPublicPage = 1000
	MaxPublicPage     = 1000
)

// Other processes tell this one of tasks, not of events: who follows a run looks again by itself. The more
// follow, the less often each looks, so that a process asks for no more than a hundred runs a second.
const (
	followEvery = time.Second
	followShare = 10 * time.Millisecond
)

// History reads a page of a run's history after a sequence (control-plane.md 3). With Wait it waits,
// holding no connection, for the next event or the poll time, then answers an empty page; with Closed
// it waits for the close and answers the closing event alone. Refusal: run_not_found.
func (e *Engine) History(ctx context.Context, req HistoryRequest) (HistoryAnswer, error) {
	timeout := req.Timeout
	if timeout <= 0 {
		timeout = e.opt.PollTimeout
	}
	var deadline <-chan time.Time
	for {
		changed, stop := e.hub.Watch(req.RunID) // before the read, so that no commit falls in between
		answer, ready, err := e.readHistory(ctx, &req)
		if err != nil || ready || e.hub.Draining() {
			stop()
			return answer, err
		}
		if deadline == nil {
			c, release := e.clock.After(timeout)
			defer release()
			deadline = c
		}
		again, release := e.clock.After(max(followEvery, time.Duration(e.hub.Watching())*followShare))
		select {
		case <-changed:
		case <-again:
		case <-deadline:
			stop()
			release()
			return answer, nil
		case <-ctx.Done():
			stop()
			release()
			return answer, ctx.Err()
		}
		stop()
		release()
	}
}

// readHistory reads the page as it now is; ready says that there is nothing to wait for.
func (e *Engine) readHistory(ctx context.Context, req *HistoryRequest) (HistoryAnswer, bool, error) {
	_, run, err := e.readTarget(ctx, &req.Target)
	if err != nil {
		return HistoryAnswer{}, false, err
	}
	closed := run.IsClosed()
	if req.Wait && req.Closed {
		return e.closingEvent(ctx, &run, req.After)
	}
	size := req.PageSize
	if size <= 0 {
		size = DefaultPublicPage
	}
	events, err := e.store.ListEvents(ctx, run.RunID, req.After, run.LastHistorySequence, min(size, MaxPublicPage))
	if err != nil {
		return HistoryAnswer{}, false, err
	}
	answer := HistoryAnswer{Run: run, Events: trimPage(events), NextAfter: -1}
	last := req.After
	if n := len(answer.Events); n > 0 {
		last = answer.Events[n-1].Sequence
	}
	if last < run.LastHistorySequence || req.Wait && !closed {
		answer.NextAfter = last
	}
	return answer, !req.Wait || closed || len(events) > 0, nil
}

func (e *Engine) closingEvent(ctx context.Context, run *rules.Run, after int64) (HistoryAnswer, bool, error) {
	if !run.IsClosed() {
		return HistoryAnswer{Run: *run, NextAfter: max(after, run.LastHistorySequence)}, false, nil
	}
	event, err := e.store.ReadEvent(ctx, run.RunID, run.ClosedEventSequence)
	return HistoryAnswer{Run: *run, Events: []rules.Event{event}, NextAfter: -1}, true, err
}
