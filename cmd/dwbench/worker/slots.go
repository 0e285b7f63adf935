package worker

import (
	"context"
)

// pollSlots takes a free slot, polls for it and hands the task to a goroutine that keeps the slot.
func (w *Worker) pollSlots(ctx context.Context, k kind, slots chan struct{}) error {
	conn := w.client.Get()
	conn.Interruptible(true)
	defer context.AfterFunc(ctx, conn.Interrupt)()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-slots:
		}
		l, err := w.poll(conn, k, w.ids.next(), holdSeconds)
		switch {
		case interrupted(err):
			return nil // a lease that was granted meanwhile expires
		case err != nil:
			return err
		case l == nil:
			slots <- struct{}{}
		default:
			w.goDo(func() error { return w.perform(l) })
		}
	}
}

func (w *Worker) slots(k kind) chan struct{} {
	if k == workflowKind {
		return w.workflowSlots
	}
	return w.activitySlots
}

// perform runs tasks in one slot until it has none, then frees the slot.
func (w *Worker) perform(l *lease) error {
	conn := w.client.Get()
	defer w.client.Put(conn)
	k := l.kind
	for l != nil {
		c := w.slotCarriers(k)
		do := w.activityTask
		if k == workflowKind {
			do = w.workflowTask
		}
		a, err := do(conn, l, c)
		if err != nil {
			return err
		}
		l = nil
		taken := c[k.other()] != "" // the other kind's slot
		for _, next := range a.leases {
			if next.kind == k {
				l = next
				continue
			}
			taken = false
			w.goDo(func() error { return w.perform(next) })
		}
		if taken {
			w.slots(k.other()) <- struct{}{}
		}
	}
	w.slots(k) <- struct{}{}
	return nil
}

// slotCarriers are the polls of a completion: one for its own slot, and one of the other kind when a slot
// of that kind is free, which it takes.
func (w *Worker) slotCarriers(k kind) carried {
	var c carried
	if w.opt.Mode == Poll {
		return c
	}
	c[k] = w.ids.next()
	select {
	case <-w.slots(k.other()):
		c[k.other()] = w.ids.next()
	default:
	}
	return c
}
