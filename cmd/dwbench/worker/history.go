package worker

import (
	"fmt"
	"sync"

	"dwserver/cmd/dwbench/program"
	"dwserver/cmd/dwbench/wire"
)

// history is what a workflow task says of its run.
type history struct {
	program.Replay
	next        string // token of the next page, empty at the end
	resumedBy   string // type of the event that made the task
	resumedStep int64  // and the authored sequence of its step
}

// historyPageSize is what a replay asks for beyond the first page.
const historyPageSize = 1000

// complete reads the pages that are still missing.
func (w *Worker) wholeHistory(conn *wire.Conn, l *lease) error {
	path := "/worker/workflow-tasks/" + l.taskID + "/history"
	for l.history.next != "" {
		var o wire.Object
		o.Text("lease_owner", w.opt.ID)
		o.Integer("workflow_task_attempt", l.attempt)
		o.Text("next_history_page_token", l.history.next)
		o.Integer("history_page_size", historyPageSize)
		r, _, err := w.post(conn, "history_page", path, o.Bytes())
		if err != nil {
			return err
		}
		sent := l.history.next
		l.history.next = ""
		var pageErr error
		err = wire.Members(r.Body, func(name, value []byte) bool {
			switch string(name) {
			case "history_events":
				pageErr = l.history.Page(value)
			case "next_history_page_token":
				l.history.next = wire.Text(value)
			}
			return true
		})
		if err == nil {
			err = pageErr
		}
		if err == nil && l.history.next == sent {
			err = fmt.Errorf("the page token %q came back", sent)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

// run is what a worker remembers of a run whose last workflow task it completed.
type run struct {
	program.State
	base int64 // last history sequence that this knowledge covers
}

// runs is the worker's cache.
type runs struct {
	mu   sync.Mutex
	byID map[string]run
}

func (r *runs) get(id string) (run, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known, ok := r.byID[id]
	return known, ok
}

func (r *runs) put(id string, known run) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.byID == nil {
		r.byID = map[string]run{}
	}
	r.byID[id] = known
}

func (r *runs) drop(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.byID, id)
}

// state is the run's state at this task: from memory when the task says that exactly the one step that was
// open has ended, else by replay of the whole history.
func (w *Worker) state(conn *wire.Conn, l *lease) (program.State, error) {
	known, ok := w.runs.get(l.runID)
	if ok && w.opt.Cached && known.Opened == known.Resolved+1 &&
		l.history.resumedBy == "ActivityCompleted" && l.history.resumedStep == int64(known.Opened) {
		known.Resolved++
		return known.State, nil
	}
	err := w.wholeHistory(conn, l)
	return l.history.State, err
}
