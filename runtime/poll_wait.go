package runtime

import (
	"context"
	"errors"
	"time"

	"dwserver/runtime/store"
	"dwserver/runtime/wake"
)

// errAgain says that a claim did other due work of the run and should be tried again.
var errAgain = errors.New("claim again")

// A reason to look for work.
type reason int

const (
	arrived  reason = iota // nothing is known
	woken                  // there is, or was, a task
	fellBack               // a wait without a wake: another process may have made work, or registered the worker anew
)

// wait looks for work, and while there is none waits for a wake, the deadline or the drain. It holds no
// connection and no transaction meanwhile.
func (p *poll) wait(ctx context.Context, deadline <-chan time.Time, hold bool) (PollResult, error) {
	if err := p.heard(ctx); err != nil {
		return PollResult{}, err
	}
	w := p.hub.Wait(p.held())
	var took string
	var owed *wake.Work // the wake this poll was given, until it has looked
	defer func() { p.hub.Leave(w, took, owed) }()
	why := arrived
	for {
		claimed, err := p.look(ctx, why)
		if errors.Is(err, store.ErrConflict) {
			if claimed, err = p.overtaken(ctx, err); claimed == nil && err == nil {
				err = errAgain
			}
		}
		switch {
		case errors.Is(err, errAgain):
			why = woken
			continue
		case errors.Is(err, errStale):
			return p.empty(PollStaleRegistration), nil
		case err != nil:
			return PollResult{}, err
		case claimed != nil:
			took = claimed.task.TaskID
			return p.answer(ctx, claimed)
		case !hold:
			owed = nil
			return p.empty(PollEmpty), nil
		}
		owed = nil
		next, err := p.next(ctx, w, deadline)
		switch {
		case err != nil:
			return PollResult{}, err
		case next == wake.Drained:
			return p.empty(PollEmpty), nil
		case next == wake.Superseded:
			return p.empty(PollStaleRegistration), nil
		case next == wake.Worked:
			owed, why = p.hub.Again(w), woken
		default:
			why = fellBack
		}
	}
}

// look claims a task where one is. Only a wake says so; else committed state is asked first, as a poll that
// finds nothing must not open a write transaction. Where the search is dear, the claim is told what was found.
func (p *poll) look(ctx context.Context, why reason) (*claimed, error) {
	p.crowded = false
	first := p.store.LooksFirst()
	if why == woken && !first {
		return p.claim(ctx, nil)
	}
	if why == fellBack || p.hub.Superseded() != p.era {
		if err := p.stillRegistered(ctx); err != nil {
			return nil, err
		}
	}
	head, err := p.store.ReadHead(ctx, p.claimFilter(&p.worker))
	if err != nil {
		return nil, ignoreMissing(err)
	}
	if !first {
		return p.claim(ctx, nil)
	}
	return p.claim(ctx, &head)
}

// stillRegistered is errStale when the worker has another registration by now than the poll was admitted with.
func (p *poll) stillRegistered(ctx context.Context) error {
	worker, err := p.store.ReadWorker(ctx, p.req.Namespace, p.req.WorkerID)
	if isNotFound(err) || err == nil && p.fenced(&worker) {
		return errStale
	}
	return err
}

// lookAgain is the end of a wait without a wake: what another process made is looked for.
const lookAgain wake.Reason = -1

// crowdedHold is when a poll looks again that met tasks in others' hands only.
const crowdedHold = 250 * time.Millisecond

// next waits for a reason to look again or to end: the deadline ends a poll as the drain does.
func (p *poll) next(ctx context.Context, w *wake.Waiter, deadline <-chan time.Time) (wake.Reason, error) {
	again := time.Duration(p.store.WakeInterval()) * time.Microsecond
	if p.crowded {
		again = crowdedHold
	}
	fallback, stop := p.clock.After(again)
	defer stop()
	woken := w.C
	if p.late { // the drain has told all it can
		woken = nil
	}
	select {
	case r := <-woken:
		return r, nil
	case <-fallback:
		return lookAgain, nil
	case <-deadline:
		return wake.Drained, nil
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// withoutTypes holds the poll of a worker that registered no type of the kind for a moment.
func (p *poll) withoutTypes(ctx context.Context, hold time.Duration) (PollResult, error) {
	if err := p.heard(ctx); err != nil {
		return PollResult{}, err
	}
	w := p.hub.Wait(p.held())
	defer p.hub.Leave(w, "", nil)
	deadline, stop := p.clock.After(hold)
	defer stop()
	select {
	case <-deadline:
	case <-ctx.Done():
	case r := <-w.C:
		if r == wake.Superseded {
			return p.empty(PollStaleRegistration), nil
		}
	}
	return p.empty(p.kind.noType), nil
}
