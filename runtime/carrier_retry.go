package runtime

import (
	"context"
	"errors"

	"dwserver/runtime/store"
)

// transact is Engine.transact for a request with carriers. A carried poll's id may be granted its lease by another
// process at the same moment: the whole is then decided again, and finds that lease.
func (c *carriage) transact(ctx context.Context, e *Engine, fn func(ctx context.Context, tx *stage) error) error {
	lost := e.transact(ctx, fn)
	if c == nil || !errors.Is(lost, store.ErrConflict) {
		return lost
	}
	for _, one := range []*carried{c.activity, c.workflow} {
		if one == nil || one.poll == nil {
			continue
		}
		rebound, err := one.poll.rebound(ctx)
		if err != nil {
			return errors.Join(lost, err)
		}
		if rebound {
			return e.transact(ctx, fn)
		}
	}
	return lost
}

// rebound reports whether the poll request id is bound to another task than it was when the poll looked.
func (p *poll) rebound(ctx context.Context) (bool, error) {
	receipt, err := p.store.ReadPollReceipt(ctx, p.req.Namespace, p.req.WorkerID, p.kind.kind, p.req.PollRequestID)
	if isNotFound(err) {
		return p.ended != nil, nil
	}
	return err == nil && (p.ended == nil || receipt != *p.ended), err
}
