package runtime

import (
	"context"

	"dwserver/runtime/rules"
)

// Describe reads a workflow's current run, or the run the target names. Refusals:
// instance_not_found, run_not_found.
func (e *Engine) Describe(ctx context.Context, target Target) (Description, error) {
	var d Description
	var err error
	if d.Instance, d.Run, err = e.readTarget(ctx, &target); err != nil {
		return d, err
	}
	if d.Input, err = e.store.ReadRunInput(ctx, d.Run.RunID); err != nil {
		return d, err
	}
	if d.Commands, err = e.store.ListCommands(ctx, d.Run.RunID); err != nil {
		return d, err
	}
	if d.Run.IsClosed() {
		return d, e.describeClose(ctx, &d)
	}
	return d, e.describeOpen(ctx, &d)
}

// readTarget reads a target's instance and run. A workflow of another namespace does not exist.
func (e *Engine) readTarget(ctx context.Context, target *Target) (rules.Instance, rules.Run, error) {
	instance, err := e.store.ReadInstance(ctx, target.WorkflowID)
	if isNotFound(err) || err == nil && instance.Namespace != target.Namespace {
		if target.RunID != "" {
			return instance, rules.Run{}, runNotFound(target)
		}
		return instance, rules.Run{}, instanceNotFound(target)
	}
	if err != nil {
		return instance, rules.Run{}, err
	}
	runID := target.RunID
	if runID == "" {
		runID = instance.CurrentRunID
	}
	run, err := e.store.ReadRun(ctx, runID)
	if isNotFound(err) || err == nil && run.WorkflowID != target.WorkflowID {
		return instance, run, runNotFound(target)
	}
	return instance, run, err
}

func runNotFound(target *Target) *Refusal {
	return refuse("run_not_found", "There is no such run of the workflow.").
		With("workflow_id", target.WorkflowID).With("run_id", target.RunID)
}

// describeClose reads the event that closed the run and, for a failed run, the activity failures in
// the newest stretch of its history.
func (e *Engine) describeClose(ctx context.Context, d *Description) error {
	event, err := e.store.ReadEvent(ctx, d.Run.RunID, d.Run.ClosedEventSequence)
	if err != nil {
		return err
	}
	d.CloseEvent = &event
	if d.Run.Status != rules.RunFailed {
		return nil
	}
	const stretch = 200
	events, err := e.store.ListEvents(ctx, d.Run.RunID, max(d.Run.LastHistorySequence-stretch, 0),
		d.Run.LastHistorySequence, stretch)
	if err != nil {
		return err
	}
	for _, ev := range events {
		if ev.EventType == "ActivityFailed" || ev.EventType == "ActivityTimedOut" {
			d.Failures = append(d.Failures, ev)
		}
	}
	return nil
}

func (e *Engine) describeOpen(ctx context.Context, d *Description) error {
	var err error
	if d.Waits, err = e.store.ListOpenWaitsOf(ctx, d.Run.RunID); err != nil {
		return err
	}
	if d.Activities, err = e.store.ListOpenActivitiesOf(ctx, d.Run.RunID); err != nil {
		return err
	}
	if d.Timers, err = e.store.ListOpenTimersOf(ctx, d.Run.RunID); err != nil || d.Run.WorkflowTaskID == "" {
		return err
	}
	d.Task, err = e.store.ReadTask(ctx, d.Run.WorkflowTaskID)
	return err
}

// ListRuns reads all runs of a workflow, oldest first. Refusal: instance_not_found.
func (e *Engine) ListRuns(ctx context.Context, target Target) (RunsAnswer, error) {
	instance, _, err := e.readTarget(ctx, &Target{Namespace: target.Namespace, WorkflowID: target.WorkflowID})
	if err != nil {
		return RunsAnswer{}, err
	}
	runs, err := e.store.ListRuns(ctx, target.WorkflowID)
	if err != nil {
		return RunsAnswer{}, err
	}
	labels, err := e.labels(ctx, runs)
	return RunsAnswer{Instance: instance, Runs: runs, Labels: labels}, err
}

// labels reads the documents that lists show, by run id; runs without any are left out.
func (e *Engine) labels(ctx context.Context, runs []rules.Run) (map[string]RunLabels, error) {
	if len(runs) == 0 {
		return nil, nil
	}
	ids := make([]string, len(runs))
	for i := range runs {
		ids[i] = runs[i].RunID
	}
	rows, err := e.store.ListLabels(ctx, ids)
	labels := make(map[string]RunLabels)
	for _, row := range rows {
		if len(row.Memo)+len(row.SearchAttributes) > 0 {
			labels[row.RunID] = RunLabels{Memo: row.Memo, SearchAttributes: row.SearchAttributes}
		}
	}
	return labels, err
}
