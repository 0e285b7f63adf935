package runtime

import (
	"context"
	"slices"

	"dwserver/runtime/rules"
	"dwserver/runtime/store"
)

// This file lets the parts of one request share their rows: what a report decided is held back, so that
// a carried claim of a task which the report itself made is folded into it. Every row is then written
// once, in its final state, and nothing just decided is read back.

// hold keeps effects back until the stage ends, or until something has to see them in the database.
func (s *stage) hold(ctx context.Context, eff *rules.Effects) error {
	if err := s.flush(ctx); err != nil {
		return err
	}
	if eff != nil && !eff.Empty() {
		s.pending = eff
	}
	return nil
}

// flush writes what is held back.
func (s *stage) flush(ctx context.Context) error {
	eff := s.pending
	if eff == nil {
		return nil
	}
	s.pending, s.joined = nil, nil
	return s.put(ctx, eff)
}

// ready is the first task in claim order that the held effects made and that a poll may take, nil for none.
func (s *stage) ready(c *store.Claim) *rules.Task {
	if s.pending == nil {
		return nil
	}
	var best *rules.Task
	for i := range s.pending.NewTasks {
		task := &s.pending.NewTasks[i]
		if c.Admits(task) && (best == nil || task.Before(best.Priority, best.OrderAt, best.TaskID)) {
			best = task
		}
	}
	return best
}

// lockedOf is what claiming a held task needs, as the held effects leave it; nil when they do not hold
// all of it.
func (s *stage) lockedOf(task *rules.Task) *store.Locked {
	run := s.heldRun(task.RunID)
	if run == nil {
		return nil
	}
	l := &store.Locked{Run: *run, Task: *task}
	if task.Kind == rules.KindWorkflow {
		return l
	}
	for i := range s.pending.NewActs {
		if s.pending.NewActs[i].ExecutionID == task.ActivityExecutionID {
			l.Activity = s.pending.NewActs[i]
			return l
		}
	}
	return nil // another attempt of an activity that was there before
}

// join adds the claim of another run's task to the held effects, once it stands.
func (s *stage) join(c *claimed, eff *rules.Effects) {
	if s.pending == nil {
		s.pending = &rules.Effects{}
	}
	s.pending.Join(eff)
	s.joined = append(s.joined, c.run.RunID)
}

// holds reports whether the held effects change a run, so that its row as stored is not its state.
func (s *stage) holds(runID string) bool {
	return s.heldRun(runID) != nil || s.pending != nil && slices.Contains(s.joined, runID)
}

func (s *stage) heldRun(runID string) *rules.Run {
	if s.pending == nil {
		return nil
	}
	for i := range s.pending.Joined {
		if s.pending.Joined[i].Run.RunID == runID {
			return &s.pending.Joined[i].Run
		}
	}
	if r := s.pending.Run; r != nil && r.RunID == runID {
		return r
	}
	for i := range s.pending.NewRuns {
		if s.pending.NewRuns[i].RunID == runID {
			return &s.pending.NewRuns[i]
		}
	}
	return nil
}

// fold merges a claim of a held task into the held effects.
func (s *stage) fold(c *claimed, eff *rules.Effects) {
	held := s.pending
	*s.heldRun(c.run.RunID) = c.run
	for i := range held.NewTasks {
		if held.NewTasks[i].TaskID == c.task.TaskID {
			held.NewTasks[i] = c.task
		}
	}
	for i := range held.NewActs {
		if held.NewActs[i].ExecutionID == c.activity.ExecutionID {
			held.NewActs[i] = c.activity
		}
	}
	held.NewTries = append(held.NewTries, eff.NewTries...)
	held.Events = append(held.Events, eff.Events...)
	held.DropReceipts = append(held.DropReceipts, eff.DropReceipts...)
	held.PollReceipts = append(held.PollReceipts, eff.PollReceipts...)
	if eff.Seen != nil {
		held.Seen = eff.Seen
	}
}

// leases is how the held effects change the number of a worker's live leases of a kind.
func (s *stage) leases(worker *rules.Worker, kind string) (change int64) {
	if s.pending == nil {
		return 0
	}
	own := func(task *rules.Task) bool {
		return task.Kind == kind && task.LeaseOwner == worker.WorkerID && task.Namespace == worker.Namespace
	}
	for i := range s.pending.NewTasks {
		if task := &s.pending.NewTasks[i]; own(task) && task.Status == rules.TaskLeased {
			change++
		}
	}
	for i := range s.pending.Tasks {
		switch task := &s.pending.Tasks[i]; {
		case !own(task):
		case task.Status == rules.TaskLeased:
			change++ // by a claim that was joined
		default:
			change-- // it held its lease when the report was judged
		}
	}
	return change
}

// settled writes what is held back when it ends tasks besides the report's own: whether those still
// counted as leases, only the database tells.
func (s *stage) settled(ctx context.Context) error {
	if s.pending == nil || len(s.pending.Tasks) <= 1 {
		return nil
	}
	return s.flush(ctx)
}

// heldTask is a task as the held effects leave it.
func (s *stage) heldTask(taskID string) *rules.Task {
	if s.pending == nil {
		return nil
	}
	for _, list := range [][]rules.Task{s.pending.Tasks, s.pending.NewTasks} {
		for i := range list {
			if list[i].TaskID == taskID {
				return &list[i]
			}
		}
	}
	return nil
}

// GetTask implements store.Tx.
func (s *stage) GetTask(ctx context.Context, taskID string) (rules.Task, error) {
	if task := s.heldTask(taskID); task != nil {
		return *task, nil
	}
	return s.Tx.GetTask(ctx, taskID)
}

// GetPollReceipt implements store.Tx.
func (s *stage) GetPollReceipt(ctx context.Context, namespace, workerID, kind, pollRequestID string) (rules.PollReceipt, error) {
	if s.pending != nil {
		for _, r := range s.pending.PollReceipts {
			if r.Namespace == namespace && r.WorkerID == workerID && r.Kind == kind && r.PollRequestID == pollRequestID {
				return r, nil
			}
		}
	}
	return s.Tx.GetPollReceipt(ctx, namespace, workerID, kind, pollRequestID)
}

// GetRun implements store.Tx.
func (s *stage) GetRun(ctx context.Context, runID string) (rules.Run, error) {
	if run := s.heldRun(runID); run != nil {
		return *run, nil
	}
	return s.Tx.GetRun(ctx, runID)
}

// GetRunInput implements store.Tx.
func (s *stage) GetRunInput(ctx context.Context, runID string) (rules.RunInput, error) {
	if s.pending != nil {
		for i := range s.pending.NewInputs {
			if s.pending.NewInputs[i].RunID == runID {
				return s.pending.NewInputs[i], nil
			}
		}
	}
	return s.Tx.GetRunInput(ctx, runID)
}

// GetEvent implements store.Tx.
func (s *stage) GetEvent(ctx context.Context, runID string, sequence int64) (rules.Event, error) {
	for _, event := range s.heldEvents(runID) {
		if event.Sequence == sequence {
			return event, nil
		}
	}
	return s.Tx.GetEvent(ctx, runID, sequence)
}

// ListEvents implements store.Tx.
func (s *stage) ListEvents(ctx context.Context, runID string, after, upTo, limit int64) ([]rules.Event, error) {
	held := s.heldEvents(runID)
	if len(held) == 0 || upTo < held[0].Sequence {
		return s.Tx.ListEvents(ctx, runID, after, upTo, limit)
	}
	var events []rules.Event
	if stored := held[0].Sequence - 1; after < stored {
		var err error
		if events, err = s.Tx.ListEvents(ctx, runID, after, stored, limit); err != nil {
			return nil, err
		}
	}
	for _, event := range held {
		if event.Sequence > after && event.Sequence <= upTo && int64(len(events)) < limit {
			events = append(events, event)
		}
	}
	return events, nil
}

// heldEvents are the held events of a run, ascending.
func (s *stage) heldEvents(runID string) []rules.Event {
	if s.pending == nil {
		return nil
	}
	var events []rules.Event
	for i := range s.pending.Events {
		if s.pending.Events[i].RunID == runID {
			events = append(events, s.pending.Events[i])
		}
	}
	return events
}
