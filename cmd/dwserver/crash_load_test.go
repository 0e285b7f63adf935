package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"

	"dwserver/handlers/avro"
)

// loop is one client: a starter, or a worker of one kind of task.
type loop struct {
	*crash
	name   string
	random *rand.Rand
	n      int // requests made, for ids
}

func (c *crash) loop(name string, stream int) *loop {
	return &loop{crash: c, name: name, random: rand.New(rand.NewPCG(c.seed, uint64(stream)))}
}

func (l *loop) id(kind string) string {
	l.n++
	return fmt.Sprintf("%s-%s-%d", kind, l.name, l.n)
}

// oneIn is true once in so many calls, by chance.
func (l *loop) oneIn(n int) bool { return l.random.IntN(n) == 0 }

// send repeats a request, unchanged, until a server answers it. Every request of this test is safe to
// repeat. ok is false when the load was told to stop first. A 5xx is a finding: nothing here asks for one.
func (l *loop) send(ctx context.Context, path string, body any) (answer envelope, ok bool) {
	for l.gate.wait(ctx) {
		answer, err := l.api.call(ctx, http.MethodPost, path, body)
		if err != nil {
			l.ledger.count(&l.ledger.lost)
			continue // a dead server; the gate tells when to try again
		}
		if answer.status >= http.StatusInternalServerError {
			l.ledger.found("%s %s: %s", l.name, path, answer)
		}
		return answer, true
	}
	return envelope{}, false
}

// startWorkflows starts a workflow for every permit and sends it the signal it waits for.
func (l *loop) startWorkflows() {
	for range l.permits {
		id := l.id("run")
		answer, ok := l.send(l.base, "/workflows", map[string]any{
			"workflow_id": id, "workflow_type": "crash", "task_queue": "crash", "duplicate_policy": "use-existing"})
		if !ok {
			return
		}
		// 409: an attempt that got no answer did start it, and the run has closed since.
		var started struct {
			RunID string `json:"run_id"`
		}
		if answer.status > http.StatusCreated && answer.status != http.StatusConflict {
			l.ledger.found("start of %s: %s", id, answer)
			continue
		}
		if err := answer.decode(&started); err != nil {
			l.ledger.found("start of %s: %v", id, err)
			continue
		}
		l.ledger.started(id, started.RunID)
		signal := map[string]any{"input": []any{id}, "request_id": "go-" + id}
		if answer, ok = l.send(l.base, "/workflows/"+id+"/signal/go", signal); ok && answer.status != http.StatusAccepted {
			l.ledger.found("signal to %s: %s", id, answer)
		}
	}
}

// work registers a worker and takes task after task until it is told to stop.
func (l *loop) work(ctx context.Context, task func(poll context.Context)) {
	answer, ok := l.send(ctx, "/worker/register", registration(l.name, "crash"))
	if ok && answer.status != http.StatusCreated {
		l.ledger.found("register %s: %s", l.name, answer)
		return
	}
	for ctx.Err() == nil {
		task(ctx)
	}
}

// poll asks for a task, under one poll_request_id until a server answers, so that a lease whose answer
// was lost is found again. Now and then it forgets the task that it got, as a crashed worker would.
func (l *loop) poll(ctx context.Context, kind string, task any) bool {
	answer, ok := l.send(ctx, "/worker/"+kind+"-tasks/poll", map[string]any{
		"worker_id": l.name, "task_queue": "crash", "poll_request_id": l.id("poll"), "timeout_seconds": 2})
	if !ok {
		return false
	}
	var got struct {
		Task       any    `json:"task"`
		PollStatus string `json:"poll_status"`
	}
	got.Task = task
	if err := answer.decode(&got); err != nil || answer.status != http.StatusOK {
		l.ledger.found("%s poll of %s: %s", kind, l.name, answer)
		return false
	}
	return got.PollStatus == "leased" && !l.oneIn(40)
}

type activityTask struct {
	TaskID    string `json:"task_id"`
	AttemptID string `json:"activity_attempt_id"`
}

// activityTask takes an activity: mostly it completes it, sometimes it fails it or heartbeats first.
func (l *loop) activityTask(poll context.Context) {
	var task activityTask
	if !l.poll(poll, "activity", &task) {
		return
	}
	fence := map[string]any{"activity_attempt_id": task.AttemptID, "lease_owner": l.name}
	path := "/worker/activity-tasks/" + task.TaskID
	if l.oneIn(5) {
		l.send(l.base, path+"/heartbeat", fence)
	}
	if l.oneIn(20) {
		fence["failure"] = map[string]any{"message": "by chance"}
		l.report(path+"/fail", fence, func() { l.ledger.acknowledge(failedAttempt, task.AttemptID, "") })
		return
	}
	fence["result"] = payload(task.AttemptID)
	l.report(path+"/complete", fence, func() { l.ledger.acknowledge(completedAttempt, task.AttemptID, "") })
}

// lost are the refusals that tell a worker, rightly, that its task is no longer its own.
var lost = []string{"lease_expired", "stale_attempt", "attempt_closed", "task_not_leased", "workflow_task_attempt_mismatch",
	"lease_owner_mismatch", "stale_task"}

// report sends an outcome until it is answered, and calls acknowledged for a 200.
func (l *loop) report(path string, body any, acknowledged func()) {
	answer, ok := l.send(l.base, path, body)
	switch {
	case !ok:
	case answer.status == http.StatusOK:
		acknowledged()
	case answer.status == http.StatusConflict && slices.Contains(lost, answer.Reason):
		l.ledger.count(&l.ledger.refused)
	default:
		l.ledger.found("%s %s: %s", l.name, path, answer)
	}
}

// payload is an envelope of a text.
func payload(text string) map[string]any {
	frame, err := avro.EncodeJSON(fmt.Appendf(nil, "%q", text))
	if err != nil {
		panic(err) // plain ASCII always encodes
	}
	return map[string]any{"codec": avro.Codec, "blob": frame.Blob()}
}
