package worker

import (
	"context"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"dwserver/cmd/dwbench/wire"
)

// kind is a kind of task.
type kind int

const (
	workflowKind kind = iota
	activityKind
)

var (
	pollPaths = [...]string{"/worker/workflow-tasks/poll", "/worker/activity-tasks/poll"}
	carriers  = [...]string{"workflow_poll", "activity_poll"}
)

func (k kind) other() kind { return 1 - k }

// ids makes poll request ids.
type ids struct {
	prefix string
	last   atomic.Int64
}

func (i *ids) next() string { return i.prefix + strconv.FormatInt(i.last.Add(1), 36) }

// pollObject is the body of a poll, also when it is carried.
func (w *Worker) pollObject(id string, k kind, seconds int64) []byte {
	var o wire.Object
	o.Text("worker_id", w.opt.ID)
	o.Text("task_queue", w.opt.Queue)
	o.Text("poll_request_id", id)
	o.Integer("timeout_seconds", seconds)
	if k == workflowKind && w.opt.Cached {
		o.Integer("history_page_size", 1)
	}
	return o.Bytes()
}

// poll asks for a task of one kind and returns nil when there is none. Errors: wire.ErrInterrupted, after
// which the same id has to be used again, as its answer may have granted a lease.
func (w *Worker) poll(conn *wire.Conn, k kind, id string, seconds int64) (*lease, error) {
	began := time.Now()
	r, retried, err := conn.Post(pollPaths[k], w.pollObject(id, k, seconds))
	if err != nil {
		return nil, err
	}
	if seconds == 0 {
		w.tally.request("probe", time.Since(began), retried)
	} else {
		w.tally.count("held_polls")
	}
	if err := wire.Check(pollPaths[k], r); err != nil {
		return nil, err
	}
	return readLease(k, r.Body)
}

// lease is a task in hand.
type lease struct {
	kind    kind
	taskID  string
	runID   string
	attempt int64 // workflow tasks
	history history

	attemptID string // activity tasks
}

// readLease reads the body of a poll's answer.
func readLease(k kind, body []byte) (*lease, error) {
	var status string
	var task []byte
	err := wire.Members(body, func(name, value []byte) bool {
		switch string(name) {
		case "poll_status":
			status = wire.Text(value)
		case "task":
			task = value
		}
		return true
	})
	if err != nil {
		return nil, fmt.Errorf("poll answer: %w", err)
	}
	switch status {
	case "leased":
		return readTask(k, task)
	case "empty", "timeout":
		return nil, nil
	}
	return nil, fmt.Errorf("poll answer: poll_status %q: %.300s", status, body)
}

func readTask(k kind, task []byte) (*lease, error) {
	l := &lease{kind: k}
	var pageErr error
	err := wire.Members(task, func(name, value []byte) bool {
		switch string(name) {
		case "task_id":
			l.taskID = wire.Text(value)
		case "run_id":
			l.runID = wire.Text(value)
		case "workflow_task_attempt":
			l.attempt = wire.Integer(value)
		case "activity_attempt_id":
			l.attemptID = wire.Text(value)
		case "history_events":
			pageErr = l.history.Page(value)
		case "next_history_page_token":
			l.history.next = wire.Text(value)
		case "workflow_event_type":
			l.history.resumedBy = wire.Text(value)
		case "workflow_sequence":
			l.history.resumedStep = wire.Integer(value)
		}
		return true
	})
	if err == nil {
		err = pageErr
	}
	if err != nil {
		return nil, fmt.Errorf("task: %w", err)
	}
	return l, nil
}

// Hold polls for tasks of one kind again and again on a connection of its own, each time for so many
// seconds, until the context ends; tasks are not expected. Errors: wire.ErrInterrupted at the end of the context.
func (w *Worker) Hold(ctx context.Context, workflows bool, seconds int64) error {
	k := activityKind
	if workflows {
		k = workflowKind
	}
	conn := w.client.Get()
	conn.Interruptible(true)
	defer context.AfterFunc(ctx, conn.Interrupt)()
	for {
		l, err := w.poll(conn, k, w.ids.next(), seconds)
		if err != nil {
			return err
		}
		if l != nil {
			return fmt.Errorf("task %s came unexpectedly", l.taskID)
		}
	}
}
