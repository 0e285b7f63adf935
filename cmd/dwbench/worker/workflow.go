package worker

import (
	"time"

	"dwserver/cmd/dwbench/program"
	"dwserver/cmd/dwbench/wire"
)

// workflowTask replays a run and completes its task with what comes next. It returns what the answer
// says of the polls that the completion carried.
func (w *Worker) workflowTask(conn *wire.Conn, l *lease, c carried) (answered, error) {
	state, err := w.state(conn, l)
	if err != nil {
		return answered{}, err
	}
	w.observeTimer(&l.history.Replay)
	if w.opt.Program.Kind == program.Local {
		for range w.opt.Program.Steps {
			w.activity()
		}
	}
	commands, opens, closes := w.opt.Program.Commands(nil, state, time.Now())
	var o wire.Object
	o.Text("lease_owner", w.opt.ID)
	o.Integer("workflow_task_attempt", l.attempt)
	o.Raw("commands", commands)
	w.carry(&o, c)
	r, retried, err := w.post(conn, "complete_workflow_task", "/worker/workflow-tasks/"+l.taskID+"/complete", o.Bytes())
	if err != nil {
		return answered{}, err
	}
	answer, err := readCompletion(r.Body)
	if err != nil {
		return answered{}, err
	}
	w.along(state.Resolved)
	state.Opened += opens
	switch {
	case closes:
		w.runs.drop(l.runID)
		w.tally.closed()
	case retried && !answer.recorded:
		w.runs.drop(l.runID) // events of others may be covered by the sequence in a repeated answer
	default:
		w.runs.put(l.runID, run{state, answer.lastSequence})
	}
	return w.granted(conn, c, answer, retried)
}

// observeTimer counts how late a timer of this task was.
func (w *Worker) observeTimer(r *program.Replay) {
	if r.Fired.IsZero() {
		return
	}
	w.tally.observe("timer_fired_late", r.Fired.Sub(r.FireAt))
	w.tally.observe("timer_delivered_late", time.Since(r.FireAt))
}

// activity takes the time that an activity takes.
func (w *Worker) activity() {
	if w.opt.Program.Work > 0 {
		t := time.NewTimer(w.opt.Program.Work)
		<-t.C
	}
}
