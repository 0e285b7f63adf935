package postgres

import (
	"errors"

	"dwserver/runtime/store"
	"dwserver/runtime/store/locking"
)

// told is the claim of a task that ReadHead found. Its lock goes out with BEGIN and the shared registration.
type told struct {
	claim *store.Claim
	l     store.Locked
	gone  bool
}

// takeTold makes the one expected claim's task the transaction's to take. Errors: store.ErrTaken.
func (t *tx) takeTold(e *store.Expected) error {
	if len(e.Claims) != 1 || e.Claims[0].Found == nil || t.first != "" {
		return nil
	}
	c := &e.Claims[0]
	if !t.taking.Take(&t.s.takes, c.Found.TaskID, c.Found.Moment) {
		return store.ErrTaken
	}
	t.told = &told{claim: c}
	return nil
}

func (f *told) lock(t *tx, p *pipe) {
	t.lockPlace(p, f.claim, locking.PlaceOf(f.claim), &f.l, &f.gone)
}

// claimTold is the task that the claim was told of, nil when it is not to be had and a search has to find another.
func (t *tx) claimTold(c *store.Claim) (l *store.Locked, err error) {
	f := t.told
	t.told = nil
	switch {
	case f != nil && f.claim.Like(c):
		l, err = t.claimed(&f.l, f.gone)
	case c.Found == nil || t.first != "":
		return nil, nil
	case !t.taking.Take(&t.s.takes, c.Found.TaskID, c.Found.Moment):
		return nil, store.ErrTaken
	default:
		l, err = t.claimTask(c, locking.PlaceOf(c))
	}
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	return l, err
}
