package carriertest

import (
	"errors"
	"fmt"
	"time"

	"dwserver/runtime"
	"dwserver/runtime/rules"
)

// loader is one worker of a fleet: it does what it holds, and polls when its report granted nothing.
type loader struct {
	*fleet
	id    string
	polls int
}

func (f *fleet) work(id string) {
	w := &loader{fleet: f, id: id}
	for f.open.Load() > 0 {
		held := w.poll()
		for held.Workflow != nil || held.Activity != nil {
			held = w.report(held)
		}
	}
}

func (w *loader) request(timeout time.Duration) runtime.PollRequest {
	w.polls++
	return runtime.PollRequest{
		Namespace: namespace, WorkerID: w.id, TaskQueue: loadQueue, PollRequestID: fmt.Sprintf("%s-%d", w.id, w.polls),
		ProtocolMinor: minor, Timeout: timeout,
	}
}

// poll looks for a workflow task, and waits a little for an activity when there is none.
func (w *loader) poll() runtime.PollResult {
	got, err := w.engine.PollWorkflowTask(w.ctx, w.request(0))
	if err == nil && got.Workflow == nil {
		got, err = w.engine.PollActivityTask(w.ctx, w.request(20*time.Millisecond))
	}
	if err != nil {
		w.problem("poll: %v", err)
	}
	w.got(got)
	return got
}

// got notes what a poll was granted.
func (w *loader) got(result runtime.PollResult) {
	switch {
	case result.Workflow != nil:
		w.granted(w.id, &result.Workflow.Task)
	case result.Activity != nil:
		w.granted(w.id, &result.Activity.Task)
	}
}

// report reports on what the worker holds and returns what the carried polls brought.
func (w *loader) report(held runtime.PollResult) runtime.PollResult {
	carriers := runtime.Carriers{
		ActivityPoll: &runtime.CarriedPoll{PollRequest: w.request(0)},
		WorkflowPoll: &runtime.CarriedPoll{PollRequest: w.request(0)},
	}
	if held.Workflow != nil {
		return w.completeWorkflow(held.Workflow, carriers)
	}
	return w.completeActivity(held.Activity, carriers)
}

// after is what the workflow does after so many activities.
func (w *loader) after(done int) rules.WorkflowCommand {
	if done == loadSteps {
		return finish()
	}
	return rules.WorkflowCommand{
		Type: "schedule_activity", ActivityType: ptr(activityKind(done)), Arguments: payload("CCCC"),
		RetryPolicy: &rules.RetryPolicy{Unlimited: true},
	}
}

func (w *loader) completeWorkflow(task *runtime.WorkflowTaskAnswer, carriers runtime.Carriers) runtime.PollResult {
	done := 0
	for _, ev := range task.Page.Events {
		if ev.EventType == "ActivityCompleted" {
			done++
		}
	}
	got, err := w.engine.CompleteWorkflowTask(w.ctx, runtime.CompleteWorkflowTaskRequest{
		WorkflowFence: runtime.WorkflowFence{Namespace: namespace, TaskID: task.Task.TaskID, LeaseOwner: w.id, Attempt: task.Task.AttemptCount},
		Commands:      []rules.WorkflowCommand{w.after(done)}, BodyDigest: digest(fmt.Sprint(done)), ProtocolMinor: minor, Carriers: carriers,
	})
	return w.outcome(got.CarriedAnswers, got.RunStatus, err)
}

// completeActivity continues the workflow two times out of three.
func (w *loader) completeActivity(task *runtime.ActivityTaskAnswer, carriers runtime.Carriers) runtime.PollResult {
	req := runtime.CompleteActivityRequest{
		ActivityFence: runtime.ActivityFence{Namespace: namespace, TaskID: task.Task.TaskID, AttemptID: task.Attempt.AttemptID, LeaseOwner: w.id},
		Result:        payload("BBBB"), ResultSize: 3, BodyDigest: digest("result"), Carriers: carriers,
	}
	if w.polls%3 > 0 {
		req.Continuation = &runtime.Continuation{
			RunID: task.Run.RunID, BaseHistorySequence: task.Run.LastHistorySequence, ProtocolMinor: minor,
			Commands: []rules.WorkflowCommand{w.after(int(task.Activity.Sequence))}, BodyDigest: digest(fmt.Sprint(task.Activity.Sequence)),
		}
	}
	got, err := w.engine.CompleteActivity(w.ctx, req)
	status := ""
	if c := got.Continuation; err == nil && c != nil && c.Decline == nil {
		status = c.RunStatus
		w.mu.Lock()
		w.count.continued++
		w.mu.Unlock()
	}
	return w.outcome(got.CarriedAnswers, status, err)
}

// outcome notes what became of a report. A refusal means that the registration, and with it the lease, was
// lost; everything else may not be.
func (w *loader) outcome(got runtime.CarriedAnswers, runStatus string, err error) runtime.PollResult {
	var refusal *runtime.Refusal
	switch {
	case errors.As(err, &refusal):
		w.mu.Lock()
		defer w.mu.Unlock()
		w.count.refused++
		return runtime.PollResult{}
	case err != nil:
		w.problem("report: %v", err)
		return runtime.PollResult{}
	case runStatus == rules.RunCompleted:
		w.open.Add(-1)
	}
	var next runtime.PollResult
	for _, answer := range []*runtime.CarriedAnswer{got.ActivityPoll, got.WorkflowPoll} {
		if became(answer) != "leased" {
			continue
		}
		if next.Status != "" {
			w.problem("%s runs one task at a time and got two", w.id)
		}
		next = *answer.Lease
		w.got(next)
		w.mu.Lock()
		w.count.carried++
		w.mu.Unlock()
	}
	return next
}
