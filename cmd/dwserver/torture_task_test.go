package main

import (
	"context"
	"slices"
)

// tortureRun is what a worker knows of a run without asking: how far its steps were taken, and the last event
// it knows of. What another worker took since has moved the history.
type tortureRun struct {
	taken   int
	through int64
}

func (l *tortureLoop) do(ctx context.Context, task *tortureTask) {
	l.pause()
	if task.kind == "activity" {
		l.doActivity(ctx, task)
		return
	}
	l.doWorkflow(ctx, task)
}

// doWorkflow replays a run and completes its task with the next step, or with nothing.
func (l *tortureLoop) doWorkflow(ctx context.Context, task *tortureTask) {
	if task.NextPage != nil {
		l.client.found("a history of %d events came in pages", len(task.Events))
	}
	second := len(task.Events) > 0 && task.Events[0].Type == "WorkflowStarted"
	r := replayTorture(task.Events, second)
	body := map[string]any{"lease_owner": l.id, "workflow_task_attempt": task.Attempt, "commands": []any{}}
	token := ""
	if r.next >= 0 {
		token = l.next("token")
		body["commands"] = tortureCommands(r.next, second, token)
		r.taken++
	}
	path := "/worker/workflow-tasks/" + task.TaskID
	if l.oneIn(15) {
		l.beat(path, map[string]any{"lease_owner": l.id, "workflow_task_attempt": task.Attempt})
	}
	recorded, answer := l.report(ctx, path+"/complete", body)
	if token != "" {
		l.note(tortureEntry{Kind: tortureToken, Key: token, Run: task.RunID, Outcome: recorded})
	}
	l.know(task.RunID, r.taken, answer.LastSequence)
	if recorded == tortureRecorded {
		l.takeCarried(ctx, &answer)
	}
}

// know keeps how far a run is, where a report's answer told it.
func (l *tortureLoop) know(run string, taken int, through int64) {
	delete(l.known, run)
	if through > 0 {
		l.known[run] = &tortureRun{taken: taken, through: through}
	}
}

// doActivity completes an activity, fails it by chance, and continues its run where it knows how.
func (l *tortureLoop) doActivity(ctx context.Context, task *tortureTask) {
	body := map[string]any{"lease_owner": l.id, "activity_attempt_id": task.AttemptID}
	path := "/worker/activity-tasks/" + task.TaskID
	if l.oneIn(10) {
		l.beat(path, body)
	}
	if l.oneIn(20) {
		body["failure"] = map[string]any{"message": "by chance"}
		recorded, answer := l.report(ctx, path+"/fail", body)
		l.note(tortureEntry{Kind: tortureFailed, Key: task.AttemptID, Run: task.RunID, Outcome: recorded})
		l.takeCarried(ctx, &answer)
		return
	}
	body["result"] = payload(task.AttemptID)
	token := l.continuation(task, body)
	recorded, answer := l.report(ctx, path+"/complete", body)
	l.note(tortureEntry{Kind: tortureCompleted, Key: task.AttemptID, Run: task.RunID, Outcome: recorded})
	l.continued(task, token, recorded, &answer)
	l.takeCarried(ctx, &answer)
}

// beat sends a heartbeat; every answer that is not a lost task is a 200 of some form.
func (l *tortureLoop) beat(path string, fence map[string]any) {
	answer := l.client.post(context.Background(), path+"/heartbeat", fence)
	if answer.status != 200 && !lostTask(answer) {
		l.client.found("%s heartbeat: %s", l.id, answer)
	}
}

// continuation adds what the run does next, where this worker took the run's last step and the activity is all
// that the next one waits for. It returns the token of the step, "" for none.
func (l *tortureLoop) continuation(task *tortureTask, body map[string]any) string {
	r := l.known[task.RunID]
	if !l.orders.Carry || r == nil || r.taken == 0 || r.taken > 2 {
		return ""
	}
	token := l.next("token")
	body["workflow_continuation"] = map[string]any{"run_id": task.RunID, "base_history_sequence": r.through,
		"commands": tortureCommands(r.taken, false, token)}
	return token
}

// continued notes what became of a continuation. The answer to a repeat does not tell.
func (l *tortureLoop) continued(task *tortureTask, token, recorded string, answer *tortureReport) {
	if token == "" {
		return
	}
	outcome, taken, through := tortureRefused, l.known[task.RunID].taken, int64(0)
	switch c := answer.Continuation; {
	case recorded != tortureRecorded:
	case c == nil && answer.Recorded:
		l.client.found("no answer to the continuation that activity %s carried", task.TaskID)
	case c == nil:
		outcome = tortureUnknown
	case c.Accepted:
		outcome, through = tortureRecorded, c.LastSequence
	}
	l.note(tortureEntry{Kind: tortureToken, Key: token, Run: task.RunID, Outcome: outcome, Continued: true})
	l.know(task.RunID, taken+1, through)
}

// tortureReport is the answer to a completion or failure.
type tortureReport struct {
	Recorded     bool           `json:"recorded"`
	LastSequence int64          `json:"last_history_sequence"`
	Activity     *carriedReport `json:"activity_poll"`
	Workflow     *carriedReport `json:"workflow_poll"`
	Continuation *struct {
		Accepted     bool   `json:"accepted"`
		Reason       string `json:"reason"`
		LastSequence int64  `json:"last_history_sequence"`
	} `json:"workflow_continuation"`
	asked map[string]string // poll_request_id of what was carried, by kind
}

type carriedReport struct {
	Leased bool          `json:"leased"`
	Reason string        `json:"reason"`
	Answer tortureAnswer `json:"answer"`
}

// report sends an outcome until it is answered: recorded, or refused as the task is another's by now.
func (l *tortureLoop) report(ctx context.Context, path string, body map[string]any) (string, tortureReport) {
	var r tortureReport
	if l.orders.Carry && ctx.Err() == nil {
		r.asked = map[string]string{"activity": l.next("poll"), "workflow": l.next("poll")}
		body["activity_poll"], body["workflow_poll"] = l.pollBody(r.asked["activity"]), l.pollBody(r.asked["workflow"])
	}
	answer := l.client.post(context.Background(), path, body) // what is in hand is finished
	if answer.status == 200 {
		if err := answer.decode(&r); err != nil {
			l.client.found("%s %s: %v", l.id, path, err)
		}
		return tortureRecorded, r
	}
	if !lostTask(answer) {
		l.client.found("%s %s: %s", l.id, path, answer)
	}
	return tortureRefused, tortureReport{}
}

func lostTask(answer envelope) bool {
	// run_closed: the run went on, and ended, with another's report.
	return answer.status == 409 && (slices.Contains(lost, answer.Reason) || answer.Reason == "run_closed")
}

// takeCarried takes what the carried polls were granted. The answer to a repeat does not tell; then the polls
// are made, under the same ids.
func (l *tortureLoop) takeCarried(ctx context.Context, r *tortureReport) {
	if r.asked == nil {
		return
	}
	for kind, carried := range map[string]*carriedReport{"activity": r.Activity, "workflow": r.Workflow} {
		switch {
		case carried != nil && carried.Leased:
			l.take(kind, carried.Answer.Task)
		case carried == nil && !r.Recorded:
			l.take(kind, l.poll(ctx, kind, r.asked[kind], 0))
		case carried == nil && kind == "activity":
			l.client.found("%s: no answer to a carried activity poll", l.id)
		}
		if carried != nil {
			l.note(tortureEntry{Kind: tortureCarried, Key: kind + " " + carried.Reason})
		}
	}
}
