package worker

import (
	"context"

	"dwserver/cmd/dwbench/wire"
)

// singleWorker is a worker of single capacity: one task of any kind at a time.
type singleWorker struct {
	*Worker
	conn  *wire.Conn    // for tasks and probes
	held  [2]*wire.Conn // for held polls
	open  [2]string     // poll request ids that may stand for a lease nobody has read the answer of
	lost  [2]bool       // the id is of a held poll that was given up
	ready []*lease      // in hand, not begun
}

func (w *Worker) single(ctx context.Context) error {
	s := &singleWorker{Worker: w, conn: w.client.Get(), held: [2]*wire.Conn{w.client.Get(), w.client.Get()}}
	next := workflowKind
	for ctx.Err() == nil {
		if len(s.ready) == 0 {
			if err := s.find(ctx, next); err != nil {
				return err
			}
			continue
		}
		l := s.ready[0]
		s.ready = s.ready[1:]
		if err := s.perform(l); err != nil {
			return err
		}
		// A workflow task makes activities ready, an activity a workflow task.
		next = l.kind.other()
	}
	return nil
}

// perform runs one task. Its completion carries polls when nothing else is in hand.
func (s *singleWorker) perform(l *lease) error {
	var c carried
	if s.opt.Mode != Poll && len(s.ready) == 0 {
		c = carried{s.take(workflowKind), s.take(activityKind)}
	}
	do := s.activityTask
	if l.kind == workflowKind {
		do = s.workflowTask
	}
	a, err := do(s.conn, l, c)
	for k := range c {
		s.settle(kind(k), c[k], a)
	}
	s.ready = append(s.ready, a.leases...)
	return err
}

// settle keeps the id of a carried poll that may still be granted a lease: one that was not attempted or
// was declined for another reason than that there is no task, and one of a held poll that was given up, as
// the server may serve that a moment longer.
func (s *singleWorker) settle(k kind, id string, a answered) {
	if id == "" || a.leased(k) {
		s.lost[k] = false
		return
	}
	if s.lost[k] || a.unsettled[k] != "" {
		s.open[k] = id
	}
}

// take is the request id for the next poll of a kind: the open one, if there is one.
func (s *singleWorker) take(k kind) string {
	id := s.open[k]
	if id == "" {
		return s.ids.next()
	}
	s.open[k] = ""
	return id
}

// find looks for a task, first of the kind that is likelier to be there, then holds polls of both.
func (s *singleWorker) find(ctx context.Context, likelier kind) error {
	if s.opt.Mode == Poll {
		for _, k := range [...]kind{likelier, likelier.other()} {
			l, err := s.poll(s.conn, k, s.take(k), 0)
			if err != nil {
				return err
			}
			s.lost[k] = false
			if l != nil {
				s.ready = append(s.ready, l)
				return nil
			}
		}
	}
	return s.hold(ctx)
}

type polled struct {
	kind  kind
	lease *lease
	err   error
}

// hold waits for a task of either kind. The first answer ends the other poll; if that had just leased a
// task, it comes next: its answer was read, or its id is used again.
func (s *singleWorker) hold(ctx context.Context) error {
	results := make(chan polled, 2)
	for k, conn := range s.held {
		conn.Interruptible(true)
		s.open[k] = s.take(kind(k))
		go func() {
			l, err := s.poll(conn, kind(k), s.open[k], holdSeconds)
			results <- polled{kind(k), l, err}
		}()
	}
	var fault error
	for range s.held {
		var p polled
		select {
		case p = <-results:
		case <-ctx.Done():
			s.interrupt()
			p = <-results
		}
		s.interrupt()
		switch {
		case interrupted(p.err):
			s.tally.count("interrupted_polls")
			s.lost[p.kind] = true
			continue
		case p.err != nil:
			fault = p.err
		case p.lease != nil:
			s.ready = append(s.ready, p.lease)
		}
		s.open[p.kind], s.lost[p.kind] = "", false
	}
	return fault
}

func (s *singleWorker) interrupt() {
	for _, conn := range s.held {
		conn.Interrupt()
	}
}
