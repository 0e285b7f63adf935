package runtime

import (
	"context"
	"sync"
	"time"

	"dwserver/runtime/rules"
)

// flights lets concurrent polls of one poll_request_id wait for the first of them (worker-plane.md 7.6).
type flights struct {
	mu   sync.Mutex
	open map[string]*flight
}

// flight is a poll_request_id on its way. Copies of one report ride together: the database lets only one of them
// be recorded, and the others grant nothing.
type flight struct {
	done   chan struct{}
	report string // task whose report carries the poll; empty for a poll of its own
	copies int
}

// enter answers nil when the caller is the first, or a copy of the report that is, else a channel that closes when
// the first is done.
func (f *flights) enter(key, report string) <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch first := f.open[key]; {
	case first == nil:
	case report == "" || first.report != report:
		return first.done
	default:
		first.copies++
		return nil
	}
	if f.open == nil {
		f.open = map[string]*flight{}
	}
	f.open[key] = &flight{done: make(chan struct{}), report: report, copies: 1}
	return nil
}

func (f *flights) leave(key string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	ended := f.open[key]
	if ended.copies--; ended.copies == 0 {
		close(ended.done)
		delete(f.open, key)
	}
}

// flightOf is what concurrent polls of one poll_request_id share, carried ones too.
func flightOf(kind *pollKind, req *PollRequest) string {
	return req.Namespace + "\x00" + req.WorkerID + "\x00" + kind.kind + "\x00" + req.PollRequestID
}

func (p *poll) flight() string { return flightOf(p.kind, p.req) }

// once runs a poll that named itself: one id gets at most one live lease. A lease it already has is
// shown again as it now is, without a write transaction; otherwise the poll runs anew. One that has been alone
// since before its admission knows its receipt from there.
func (p *poll) once(ctx context.Context, deadline <-chan time.Time, hold, alone bool) (PollResult, error) {
	lease := p.bound
	if !alone {
		lease = p.replay
		switch entered, err := p.takeTurn(ctx, deadline); {
		case err != nil:
			return PollResult{}, err
		case !entered:
			return p.empty(PollEmpty), nil
		}
		defer p.flights.leave(p.flight())
	}
	held, err := lease(ctx)
	if err != nil {
		return PollResult{}, err
	}
	if held != nil {
		return p.answer(ctx, held)
	}
	return p.wait(ctx, deadline, hold)
}

// takeTurn waits for the polls of the same id that came before; false when the deadline came first.
func (p *poll) takeTurn(ctx context.Context, deadline <-chan time.Time) (bool, error) {
	for {
		first := p.flights.enter(p.flight(), "")
		if first == nil {
			return true, nil
		}
		select {
		case <-first:
		case <-deadline:
			return false, nil
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}

// replay finds the live lease that this poll request was granted, nil when there is none (any more).
func (p *poll) replay(ctx context.Context) (*claimed, error) {
	p.ended = nil
	receipt, err := p.store.ReadPollReceipt(ctx, p.req.Namespace, p.req.WorkerID, p.kind.kind, p.req.PollRequestID)
	if isNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	p.ended = &receipt
	return p.bound(ctx)
}

// bound is the live lease of the receipt that was read, nil when there is none (any more).
func (p *poll) bound(ctx context.Context) (*claimed, error) {
	receipt := p.ended
	if receipt == nil {
		return nil, nil
	}
	task, err := p.store.ReadTask(ctx, receipt.TaskID)
	if err != nil {
		return nil, ignoreMissing(err)
	}
	// Queue and build are part of the id's scope: under others it is another request.
	if !p.isLive(&task, receipt, &p.worker) || task.MinProtocol > p.req.ProtocolMinor || receipt.Binding != p.binding() {
		return nil, nil
	}
	return loadClaimed(ctx, p.store, task)
}

// overtaken finds the lease that another process granted this poll request while the poll looked for one: its
// receipt took the place of the claim's. A claim that lost to nothing of the kind stays lost; with neither lease
// nor error the poll runs anew.
func (p *poll) overtaken(ctx context.Context, lost error) (*claimed, error) {
	if p.req.PollRequestID == "" {
		return nil, lost
	}
	before := p.ended
	held, err := p.replay(ctx)
	if err != nil || held != nil {
		return held, err
	}
	if before == p.ended || before != nil && p.ended != nil && *before == *p.ended {
		return nil, lost
	}
	return nil, nil
}

// isLive reports whether a receipt's lease still stands for the worker's registration.
func (p *poll) isLive(task *rules.Task, receipt *rules.PollReceipt, worker *rules.Worker) bool {
	return task.Status == rules.TaskLeased && task.LeaseOwner == worker.WorkerID &&
		task.AttemptCount == receipt.Attempt && task.LeaseExpiresAt > p.now() &&
		task.LeaseGeneration == worker.Generation
}

// loadClaimed reads what a leased task's answer is made of.
func loadClaimed(ctx context.Context, from source, task rules.Task) (*claimed, error) {
	c := &claimed{task: task}
	var err error
	if c.run, err = from.ReadRun(ctx, task.RunID); err != nil {
		return nil, err
	}
	if task.Kind != rules.KindActivity {
		return c, nil
	}
	if c.activity, err = from.ReadActivity(ctx, task.ActivityExecutionID); err != nil {
		return nil, err
	}
	c.attempt, err = from.ReadAttempt(ctx, task.ActivityAttemptID)
	return c, err
}
