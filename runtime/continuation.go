package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"dwserver/runtime/rules"
	"dwserver/runtime/store"
)

// Continuation is what the workflow does next when an activity succeeds, as its worker already knows
// (carried-polls.md 6). Invalid says that the member does not decode; it is declined, the activity's
// outcome stands.
type Continuation struct {
	RunID               string
	BaseHistorySequence int64
	Commands            []rules.WorkflowCommand
	BodyDigest          []byte // digest of the completion these commands would have been
	ProtocolMinor       int64
	Invalid             bool
}

// ContinuationAnswer is what became of a continuation: accepted, with the completed workflow task, or
// a decline.
type ContinuationAnswer struct {
	Decline             *Decline
	TaskID              string
	Attempt             int64
	RunStatus           string
	CreatedTaskIDs      []string
	LastHistorySequence int64
	runID               string
}

// continuation is an admitted or already declined continuation.
type continuation struct {
	*Continuation
	namespace string
	owner     string
	admitted  *admission
	worker    rules.Worker // snapshot of the registration: the fence
	decline   *Decline
}

// continuable are the commands a continuation may hold.
var continuable = []string{
	"schedule_activity", "start_timer", "record_version_marker", "record_side_effect",
	"complete_workflow", "fail_workflow", "continue_as_new",
}

// admitContinuation judges what needs no lock; nil without a continuation.
func (a *admission) admitContinuation(ctx context.Context, req *CompleteActivityRequest) (*continuation, error) {
	if req.Continuation == nil {
		return nil, nil
	}
	c := &continuation{Continuation: req.Continuation, namespace: req.Namespace, owner: req.LeaseOwner, admitted: a}
	if c.Invalid {
		c.decline = declineInvalidCommands()
		return c, nil
	}
	for i := range c.Commands {
		command := &c.Commands[i]
		if !slices.Contains(continuable, command.Type) || command.ParallelGroupID != nil {
			c.decline = declineCommandNotEligible()
			return c, nil
		}
	}
	if r := rules.CheckCommands(c.Commands, c.ProtocolMinor, *a.opt.Limits); r != nil {
		c.decline = declineCommands(r)
		return c, nil
	}
	worker, err := a.registration(ctx)
	if isNotFound(err) {
		c.decline = declineWorkerNotEligible()
		return c, nil
	}
	if err != nil {
		return nil, err
	}
	c.worker = *worker
	refused, err := rules.CheckGates(c.Commands, rules.Extras{}, c.ProtocolMinor, worker)
	switch {
	case a.kept && (refused != nil || err != nil):
		return nil, a.outdated()
	case err != nil:
		return nil, fmt.Errorf("%w: %w", store.ErrBroken, err)
	case refused != nil:
		c.decline = declineInvalidCommands()
	}
	return c, nil
}

// declineCommands is the decline for commands that the engine refuses.
func declineCommands(r *Refusal) *Decline {
	if r.Reason == "structural_limit_exceeded" {
		return declineBudget()
	}
	return declineInvalidCommands()
}

// continueRun records the activity's outcome and the whole of its resume task, created, claimed and
// completed by this worker, in one step. It reports false, with nothing decided but the decline, when
// the continuation is not granted: the outcome is then recorded as without it.
func (e *Engine) continueRun(ctx context.Context, tx store.Tx, o *outcome, l *store.Locked, result *ActivityOutcomeResult) (*rules.Effects, bool, error) {
	saved := *l
	eff, err := e.tryContinue(ctx, tx, o, l, result)
	var declined *Decline
	if errors.As(err, &declined) {
		*l = saved
		*result = ActivityOutcomeResult{Outcome: o.word, Continuation: &ContinuationAnswer{Decline: declined}}
		return nil, false, nil
	}
	return eff, true, err
}

func (e *Engine) tryContinue(ctx context.Context, tx store.Tx, o *outcome, l *store.Locked, result *ActivityOutcomeResult) (*rules.Effects, error) {
	c := o.next
	if err := c.admissible(ctx, tx, l); err != nil {
		return nil, err
	}
	worker, err := c.share(ctx, tx)
	if err != nil {
		return nil, err
	}
	if ok, err := e.mayContinue(ctx, tx, c, &worker, &l.Run); !ok || err != nil {
		return nil, orDecline(err, declineWorkerNotEligible())
	}
	t := e.begin(ctx, tx, l)
	taskID := o.record(t, l, e.barrier(ctx, tx, l.Run.RunID, t))
	if taskID == "" || l.Activity.Status != rules.ActivityCompleted {
		return nil, orDecline(t.Fault(), declineNotResuming())
	}
	lease := rules.Lease{
		Owner: worker.WorkerID, Generation: worker.Generation, Expires: t.Now + e.opt.WorkflowTaskTimeout.Microseconds(),
	}
	task := t.TakeResumeTask(taskID, lease)
	resumed := store.Locked{Run: l.Run, Task: *task}
	in, err := e.completionInput(ctx, tx, c.Commands, c.BodyDigest, &resumed)
	if err != nil {
		return nil, err
	}
	in.Task = task
	if in.Open != nil { // the rows as stored still show the activity that has just ended
		in.Open.Without(l.Activity.ExecutionID, l.Task.TaskID)
	}
	out, r := t.CompleteWorkflowTask(in)
	if r != nil {
		return nil, declineCommands(r)
	}
	t.KeepResumeTask(task)
	result.NextTaskID, result.Recorded = taskID, true
	result.Continuation = &ContinuationAnswer{
		TaskID: taskID, Attempt: task.AttemptCount, RunStatus: l.Run.Status, CreatedTaskIDs: out.CreatedTaskIDs,
		LastHistorySequence: l.Run.LastHistorySequence, runID: l.Run.RunID,
	}
	return effects(t)
}

// share holds the registration and judges its fence.
func (c *continuation) share(ctx context.Context, tx store.Tx) (rules.Worker, error) {
	worker, err := tx.ShareWorker(ctx, c.namespace, c.owner)
	switch {
	case c.admitted.overtaken(&worker, err):
		return worker, c.admitted.outdated()
	case isNotFound(err) || err == nil && worker.Generation != c.worker.Generation:
		return worker, declineRegistrationFenced()
	}
	return worker, err
}

func orDecline(err error, d *Decline) error {
	if err != nil {
		return err
	}
	return d
}

// admissible judges the run as locked, before the outcome.
func (c *continuation) admissible(ctx context.Context, tx store.Tx, l *store.Locked) error {
	switch {
	case c.Invalid: // names no run and no base to judge
		return c.decline
	case l.Run.RunID != c.RunID:
		return declineHistoryMoved()
	}
	moved, err := historyMoved(ctx, tx, c.BaseHistorySequence, l)
	switch {
	case err != nil:
		return err
	case moved:
		return declineHistoryMoved()
	case l.Run.WorkflowTaskID != "":
		return declineTaskOpen()
	case l.Run.PendingSignals > 0:
		return declinePendingCommand()
	case c.decline != nil:
		return c.decline
	}
	return nil
}

// historyMoved reports whether the run has an event after the base other than this attempt's own
// ActivityStarted and heartbeats.
func historyMoved(ctx context.Context, tx store.Tx, base int64, l *store.Locked) (bool, error) {
	last := l.Run.LastHistorySequence
	if base == last {
		return false, nil
	}
	if base < 0 || base > last {
		return true, nil
	}
	for after := base; after < last; {
		events, err := tx.ListEvents(ctx, l.Run.RunID, after, last, DefaultHistoryPage)
		if err != nil {
			return false, err
		}
		for i := range events {
			if !ownEvent(&events[i], l.Attempt.AttemptID) {
				return true, nil
			}
		}
		if len(events) == 0 {
			return false, store.ErrBroken // a gap in the run's history
		}
		after = events[len(events)-1].Sequence
	}
	return false, nil
}

// ownEvent reports whether an event is an attempt's own start or heartbeat.
func ownEvent(ev *rules.Event, attemptID string) bool {
	return (ev.EventType == "ActivityStarted" || ev.EventType == "ActivityHeartbeatRecorded") &&
		rules.Text(ev.Payload, "activity_attempt_id") == attemptID
}

// mayContinue judges whether the worker could have been given the resume task.
func (e *Engine) mayContinue(ctx context.Context, tx store.Tx, c *continuation, worker *rules.Worker, run *rules.Run) (bool, error) {
	types, err := e.lists.of(worker.WorkflowTypes)
	if err != nil {
		return false, err
	}
	if !worker.Fresh(e.now(), e.opt.WorkerStaleAfter.Microseconds()) || worker.TaskQueue != run.TaskQueue ||
		!slices.Contains(types, run.WorkflowType) ||
		run.Compatibility != "" && run.Compatibility != worker.BuildID || run.MinProtocol > c.ProtocolMinor {
		return false, nil
	}
	if len(worker.Fingerprints) == 0 {
		return true, nil
	}
	input, err := tx.GetRunInput(ctx, run.RunID)
	if err != nil || input.DefinitionPrint == "" {
		return err == nil, err
	}
	var prints map[string]string
	if err := json.Unmarshal(worker.Fingerprints, &prints); err != nil {
		return false, err
	}
	own, known := prints[run.WorkflowType]
	return !known || own == input.DefinitionPrint, nil
}
