package rules

import (
	"encoding/json"
	"fmt"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// world is one workflow in memory: it writes effects as a store would, holds them to what every
// store demands, and checks the run's invariants after each of them.
type world struct {
	*testing.T
	now    int64
	last   int
	limit  Limits
	runs   []*Run // by run number; the last is the current one
	inputs map[string]RunInput
	inst   Instance
	events map[string][]Event // by run
	tasks  table[Task]
	acts   table[Activity]
	tries  table[Attempt]
	timers table[Timer]
	waits  table[Wait]
	sigs   table[Signal]
	cmds   table[Command]
}

// table is one table by id, in the order of insertion.
type table[T any] struct {
	rows map[string]*T
	ids  []string
}

func (tab *table[T]) write(t *testing.T, name string, made, changed []T, id func(*T) string) {
	t.Helper()
	if tab.rows == nil {
		tab.rows = map[string]*T{}
	}
	seen := map[string]bool{}
	for i := range made {
		key := id(&made[i])
		require.NotContains(t, tab.rows, key, "%s inserted twice", name)
		require.False(t, seen[key], "%s mentioned twice", name)
		seen[key] = true
	}
	for i := range changed {
		key := id(&changed[i])
		require.Contains(t, tab.rows, key, "%s updated but never inserted", name)
		require.False(t, seen[key], "%s mentioned twice", name)
		seen[key] = true
		row := changed[i]
		tab.rows[key] = &row
	}
	for i := range made {
		row := made[i]
		tab.rows[id(&row)] = &row
		tab.ids = append(tab.ids, id(&row))
	}
}

func (tab *table[T]) where(keep func(*T) bool) []T {
	var out []T
	for _, id := range tab.ids {
		if row := tab.rows[id]; keep(row) {
			out = append(out, *row)
		}
	}
	return out
}

const epoch int64 = 1_790_000_000_000_000 // some instant in 2026

// newWorld starts a workflow.
func newWorld(t *testing.T, change ...func(*StartSpec)) *world {
	w := &world{T: t, now: epoch, limit: DefaultLimits(), inputs: map[string]RunInput{}, events: map[string][]Event{}}
	spec := &StartSpec{Run: Run{
		RunID: w.id(), WorkflowID: "wf", Namespace: "default", RunNumber: 1, WorkflowType: "order", TaskQueue: "q",
		Status: RunPending, Priority: 5, FairnessWeight: 1, StartedAt: w.now,
	}}
	for _, c := range change {
		c(spec)
	}
	spec.Run.SetDeadlines(w.now, 0)
	spec.Input.RunID = spec.Run.RunID
	tr := Start(w.now, w.id, spec, w.limit, func(*Transition) func(queue, kind string) int64 { return nil })
	w.write(tr)
	return w
}

func (w *world) id() string { w.last++; return fmt.Sprintf("id%06d", w.last) }

func (w *world) run() *Run { return w.runs[len(w.runs)-1] }

func (w *world) after(seconds int64) { w.now += seconds * second }

// begin is a transition on a copy of the current run.
func (w *world) begin() *Transition {
	run := *w.run()
	t := NewTransition(w.now, w.id, &run, w.limit)
	if task := w.tasks.rows[run.WorkflowTaskID]; task != nil {
		t.OpenTask = *task
	}
	return t
}

// write puts a transition's effects down.
func (w *world) write(t *Transition) {
	w.Helper()
	require.NoError(w, t.Fault())
	require.Nil(w, t.Check())
	t.Eff.Fold()
	e := &t.Eff
	if e.Run != nil {
		stored := w.run()
		require.Equal(w, stored.RunID, e.Run.RunID)
		require.Equal(w, stored.LastHistorySequence, e.RunBase, "the guard of the run")
		row := *e.Run
		w.runs[len(w.runs)-1] = &row
	}
	for i := range e.NewRuns {
		row := e.NewRuns[i]
		w.runs = append(w.runs, &row)
	}
	for _, in := range e.NewInputs {
		w.inputs[in.RunID] = in
	}
	if e.NewInstance != nil {
		w.inst = *e.NewInstance
	}
	if e.Instance != nil {
		w.inst = *e.Instance
	}
	for _, ev := range e.Events {
		require.True(w, json.Valid(ev.Payload), "payload of %s: %s", ev.EventType, ev.Payload)
		w.events[ev.RunID] = append(w.events[ev.RunID], ev)
	}
	w.tasks.write(w.T, "task", e.NewTasks, e.Tasks, func(r *Task) string { return r.TaskID })
	w.acts.write(w.T, "activity", e.NewActs, e.Acts, func(r *Activity) string { return r.ExecutionID })
	w.writeAttempts(e)
	w.timers.write(w.T, "timer", e.NewTimers, e.Timers, func(r *Timer) string { return r.TimerID })
	w.waits.write(w.T, "wait", e.NewWaits, e.Waits, func(r *Wait) string { return r.WaitID })
	w.sigs.write(w.T, "signal", e.NewSignals, e.Signals, func(r *Signal) string { return r.SignalID })
	w.writeCommands(e)
	w.check()
}

// writeAttempts changes only what an update of an attempt may change.
func (w *world) writeAttempts(e *Effects) {
	changed := append([]Attempt{}, e.Tries...)
	for i := range changed {
		row := w.tries.rows[changed[i].AttemptID]
		require.NotNil(w, row, "attempt updated but never inserted")
		next := *row
		next.Status, next.LastHeartbeatAt, next.ClosedAt = changed[i].Status, changed[i].LastHeartbeatAt, changed[i].ClosedAt
		next.Outcome, next.Receipt, next.NextTaskID = changed[i].Outcome, changed[i].Receipt, changed[i].NextTaskID
		changed[i] = next
	}
	w.tries.write(w.T, "attempt", e.NewTries, changed, func(r *Attempt) string { return r.AttemptID })
}

// writeCommands changes only when a command was applied.
func (w *world) writeCommands(e *Effects) {
	changed := append([]Command{}, e.Commands...)
	for i := range changed {
		row := w.cmds.rows[changed[i].CommandID]
		require.NotNil(w, row, "command updated but never inserted")
		next := *row
		next.AppliedAt = changed[i].AppliedAt
		changed[i] = next
	}
	w.cmds.write(w.T, "command", e.NewCommands, changed, func(r *Command) string { return r.CommandID })
}

// check holds every run to its invariants.
func (w *world) check() {
	w.Helper()
	for _, run := range w.runs {
		events := w.events[run.RunID]
		require.Len(w, events, int(run.LastHistorySequence))
		for i, ev := range events {
			require.Equal(w, int64(i+1), ev.Sequence, "sequences are contiguous from 1")
		}
		require.Equal(w, w.count(run), [4]int64{run.OpenActivities, run.OpenTimers, run.OpenWaits, run.PendingSignals},
			"counters of the run: activities, timers, waits, signals")
		open := w.tasks.where(func(t *Task) bool {
			return t.RunID == run.RunID && t.Kind == KindWorkflow && (t.Status == TaskReady || t.Status == TaskLeased)
		})
		if run.WorkflowTaskID == "" {
			require.Empty(w, open, "an open workflow task that the run does not name")
		} else {
			require.Len(w, open, 1, "one open workflow task")
			require.Equal(w, run.WorkflowTaskID, open[0].TaskID)
		}
		if run.IsClosed() {
			require.Equal(w, [4]int64{}, w.count(run), "a closed run has nothing open")
			require.Empty(w, w.openTasks(run.RunID))
			require.Equal(w, Never, run.DeadlineAt)
			require.Equal(w, run.LastHistorySequence, run.ClosedEventSequence, "the closing event is the last")
			require.Empty(w, run.PendingWake)
		}
	}
	for _, act := range w.acts.where(func(*Activity) bool { return true }) {
		tries := w.tries.where(func(a *Attempt) bool { return a.ExecutionID == act.ExecutionID })
		require.Len(w, tries, int(act.AttemptCount))
		for i, a := range tries {
			require.Equal(w, int64(i+1), a.AttemptNumber, "attempts without a gap")
			running := i == len(tries)-1 && act.Status == ActivityRunning
			require.Equal(w, running, a.Status == AttemptRunning, "only the last attempt of a running activity runs")
		}
	}
}

func (w *world) count(run *Run) [4]int64 {
	return [4]int64{
		int64(len(w.openActivities(run.RunID))), int64(len(w.openTimers(run.RunID))),
		int64(len(w.openWaits(run.RunID))), int64(len(w.received(run.RunID))),
	}
}

func (w *world) openActivities(run string) []Activity {
	return w.acts.where(func(a *Activity) bool {
		return a.RunID == run && (a.Status == ActivityPending || a.Status == ActivityRunning)
	})
}

func (w *world) openTimers(run string) []Timer {
	return w.timers.where(func(t *Timer) bool { return t.RunID == run && t.Status == TimerPending })
}

func (w *world) openWaits(run string) []Wait {
	return w.waits.where(func(v *Wait) bool { return v.RunID == run && v.Status == WaitOpen })
}

func (w *world) openTasks(run string) []Task {
	return w.tasks.where(func(t *Task) bool {
		return t.RunID == run && (t.Status == TaskReady || t.Status == TaskLeased)
	})
}

func (w *world) received(run string) []Signal {
	list := w.sigs.where(func(s *Signal) bool { return s.RunID == run && s.Status == SignalReceived })
	sort.Slice(list, func(i, j int) bool { return list[i].CommandSequence < list[j].CommandSequence })
	return list
}

// loadWaits is what a completion sees of waits, timers and signals.
func (w *world) loadWaits() *Waits {
	id := w.run().RunID
	return &Waits{Open: w.openWaits(id), Timers: w.openTimers(id), Signals: w.received(id)}
}

// history is the run's history from an event on, as "Type#authored sequence".
func (w *world) history(from int) []string {
	var out []string
	for _, ev := range w.events[w.run().RunID][from-1:] {
		out = append(out, w.short(ev))
	}
	return out
}

func (w *world) short(ev Event) string {
	if seq, ok := fields(w.T, ev.Payload)["sequence"]; ok {
		return fmt.Sprintf("%s#%v", ev.EventType, seq)
	}
	return ev.EventType
}

// event is the payload of the last event of a type in the current run.
func (w *world) event(eventType string) map[string]any {
	w.Helper()
	events := w.events[w.run().RunID]
	for i := len(events) - 1; i >= 0; i-- {
		if events[i].EventType == eventType {
			return fields(w.T, events[i].Payload)
		}
	}
	require.Fail(w, "no such event", eventType)
	return nil
}

func fields(t *testing.T, doc []byte) map[string]any {
	t.Helper()
	out := map[string]any{}
	dec := json.NewDecoder(strings.NewReader(string(doc)))
	dec.UseNumber()
	require.NoError(t, dec.Decode(&out))
	for name, v := range out {
		if n, ok := v.(json.Number); ok {
			i, err := n.Int64()
			require.NoError(t, err)
			out[name] = i
		}
	}
	return out
}
