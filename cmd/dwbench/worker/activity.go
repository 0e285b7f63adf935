package worker

import (
	"time"

	"dwserver/cmd/dwbench/program"
	"dwserver/cmd/dwbench/wire"
)

// activityTask runs an activity and completes it, with the run's next workflow task when the worker knows
// what that does. It returns what the answer says of the polls that the
// completion carried.
func (w *Worker) activityTask(conn *wire.Conn, l *lease, c carried) (answered, error) {
	w.activity()
	var o wire.Object
	o.Text("activity_attempt_id", l.attemptID)
	o.Text("lease_owner", w.opt.ID)
	o.Raw("result", []byte(program.Result))
	next := w.continuation(&o, l)
	w.carry(&o, c)
	r, retried, err := w.post(conn, "complete_activity_task", "/worker/activity-tasks/"+l.taskID+"/complete", o.Bytes())
	if err != nil {
		return answered{}, err
	}
	answer, err := readCompletion(r.Body)
	if err != nil {
		return answered{}, err
	}
	if next != nil {
		w.continued(l, next, answer)
	}
	return w.granted(conn, c, answer, retried)
}

// continuation is the workflow task that this worker would be given once the activity has ended.
type continuation struct {
	state  program.State
	closes bool
}

// continuation adds workflow_continuation when the worker remembers the run and knows that this activity
// is the one step it waits for (carried-polls.md 6).
func (w *Worker) continuation(o *wire.Object, l *lease) *continuation {
	known, ok := w.runs.get(l.runID)
	if !ok || w.opt.Mode != Continue || w.opt.Program.Kind != program.Sequence || known.Opened != known.Resolved+1 {
		return nil
	}
	known.Resolved++
	commands, opens, closes := w.opt.Program.Commands(nil, known.State, time.Now())
	known.Opened += opens
	var m wire.Object
	m.Text("run_id", l.runID)
	m.Integer("base_history_sequence", known.base)
	m.Raw("commands", commands)
	o.Raw("workflow_continuation", m.Bytes())
	return &continuation{known.State, closes}
}

// continued records what became of a continuation. After a decline the ordinary resume task comes, so what
// is remembered stays; without an answer (a repeated completion) it may be out of date.
func (w *Worker) continued(l *lease, next *continuation, a *completion) {
	switch {
	case a.continuation == nil:
		w.runs.drop(l.runID)
		w.tally.count("continuation_unanswered")
	case !a.continuation.accepted:
		w.tally.count("continuation_declined:" + a.continuation.reason)
	case next.closes:
		w.runs.drop(l.runID)
		w.tally.count("continued")
		w.along(next.state.Resolved)
		w.tally.closed()
	default:
		w.runs.put(l.runID, run{next.state, a.continuation.lastSequence})
		w.tally.count("continued")
		w.along(next.state.Resolved)
	}
}
