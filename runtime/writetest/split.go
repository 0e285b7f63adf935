package writetest

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"dwserver/runtime/rules"
	"dwserver/runtime/store"
)

// mostRows is how many rows a statement may hold (write-path.md 4).
const mostRows = 100

// rowsOf are n rows of a table as effects, and the name of the statement that writes them.
type rowsOf struct {
	statement string
	make      func(e *rules.Effects, i int)
}

var tables = []rowsOf{
	{"EventInsert", func(e *rules.Effects, i int) {
		e.Events = append(e.Events, rules.Event{RunID: "split", Sequence: int64(i + 1), EventID: fmt.Sprint("event", i), Payload: []byte("{}")})
	}},
	{"TaskInsert", func(e *rules.Effects, i int) {
		e.NewTasks = append(e.NewTasks, rules.Task{TaskID: fmt.Sprint("task", i), LeaseExpiresAt: rules.Never})
	}},
	{"TaskUpdate", func(e *rules.Effects, i int) {
		e.Tasks = append(e.Tasks, rules.Task{TaskID: fmt.Sprint("task", i), LeaseExpiresAt: rules.Never, Status: fmt.Sprint(i)})
	}},
	{"ActivityInsert", func(e *rules.Effects, i int) {
		e.NewActs = append(e.NewActs, rules.Activity{ExecutionID: fmt.Sprint("act", i), NextDeadlineAt: rules.Never})
	}},
	{"ActivityUpdate", func(e *rules.Effects, i int) {
		e.Acts = append(e.Acts, rules.Activity{ExecutionID: fmt.Sprint("act", i), NextDeadlineAt: rules.Never, Status: fmt.Sprint(i)})
	}},
	{"AttemptInsert", func(e *rules.Effects, i int) {
		e.NewTries = append(e.NewTries, rules.Attempt{AttemptID: fmt.Sprint("try", i)})
	}},
	{"AttemptUpdate", func(e *rules.Effects, i int) {
		e.Tries = append(e.Tries, rules.Attempt{AttemptID: fmt.Sprint("try", i), Status: fmt.Sprint(i)})
	}},
	{"TimerInsert", func(e *rules.Effects, i int) {
		e.NewTimers = append(e.NewTimers, rules.Timer{TimerID: fmt.Sprint("timer", i), DueAt: rules.Never})
	}},
	{"TimerUpdate", func(e *rules.Effects, i int) {
		e.Timers = append(e.Timers, rules.Timer{TimerID: fmt.Sprint("timer", i), DueAt: rules.Never, Status: fmt.Sprint(i)})
	}},
	{"WaitInsert", func(e *rules.Effects, i int) {
		e.NewWaits = append(e.NewWaits, rules.Wait{WaitID: fmt.Sprint("wait", i)})
	}},
	{"WaitUpdate", func(e *rules.Effects, i int) {
		e.Waits = append(e.Waits, rules.Wait{WaitID: fmt.Sprint("wait", i), Status: fmt.Sprint(i)})
	}},
	{"SignalInsert", func(e *rules.Effects, i int) {
		e.NewSignals = append(e.NewSignals, rules.Signal{SignalID: fmt.Sprint("signal", i)})
	}},
	{"SignalUpdate", func(e *rules.Effects, i int) {
		e.Signals = append(e.Signals, rules.Signal{SignalID: fmt.Sprint("signal", i), Status: fmt.Sprint(i)})
	}},
	{"CommandInsert", func(e *rules.Effects, i int) {
		e.NewCommands = append(e.NewCommands, rules.Command{CommandID: fmt.Sprint("command", i)})
	}},
	{"CommandUpdate", func(e *rules.Effects, i int) {
		e.Commands = append(e.Commands, rules.Command{CommandID: fmt.Sprint("command", i), AppliedAt: int64(i)})
	}},
	{"CommandRequestInsert", func(e *rules.Effects, i int) {
		e.NewRequests = append(e.NewRequests, rules.CommandRequest{WorkflowID: "split", RequestID: fmt.Sprint("request", i)})
	}},
	{"RunInputInsert", func(e *rules.Effects, i int) {
		e.NewInputs = append(e.NewInputs, rules.RunInput{RunID: fmt.Sprint("input", i)})
	}},
	{"RegistrationUpsert", func(e *rules.Effects, i int) {
		e.Registrations = append(e.Registrations, rules.Registration{Token: fmt.Sprint("token", i)})
	}},
	{"DefinitionUpsert", func(e *rules.Effects, i int) {
		e.Definitions = append(e.Definitions, rules.Definition{Namespace: "split", WorkflowType: fmt.Sprint("type", i)})
	}},
	{"ReceiptInsert", func(e *rules.Effects, i int) {
		e.PollReceipts = append(e.PollReceipts, rules.PollReceipt{Namespace: "split", PollRequestID: fmt.Sprint("poll", i)})
	}},
}

// testSplitByCount: 100 rows of a table make one statement, 101 two, whichever table and operation.
func testSplitByCount(t *testing.T, empty Empty) {
	w := newWorld(t, empty, nil)
	for _, n := range []int{mostRows, mostRows + 1} {
		for _, table := range tables {
			e := &rules.Effects{}
			for i := range n {
				table.make(e, n*1000+i)
			}
			ran := w.probe.during(func() { w.apply(e) })
			require.Equal(t, statementsFor(w, n, (n+mostRows-1)/mostRows), ran.count(table.statement), "%d rows: %v", n, ran)
		}
	}
}

// statementsFor is how many statements so many rows take: on SQLite, where a statement costs no round trip, each
// row is a run of its own of one prepared statement.
func statementsFor(w *world, rows, statements int) int {
	if w.engine() == sqliteEngine {
		return rows
	}
	return statements
}

// apply writes effects past the runtime.
func (w *world) apply(e *rules.Effects) {
	w.t.Helper()
	require.NoError(w.t, w.store.Transition(w.t.Context(), func(ctx context.Context, tx store.Tx) error {
		return tx.Apply(ctx, e)
	}))
}

// testSplitByBytes: large results are split at 1 MiB, and a legal row above it is its own statement.
func testSplitByBytes(t *testing.T, empty Empty) {
	w := newWorld(t, empty, nil)
	w.register()
	for _, c := range []struct {
		name     string
		commands []rules.WorkflowCommand
		events   int // statements
	}{
		{"three of 400 kB", times(3, sideEffect(400_000)), 2},
		{"ten of 400 kB", times(10, sideEffect(400_000)), 5},
		{"one of 2 MB alone", append(append(times(3, sideEffect(8)), sideEffect(2_000_000)), times(3, sideEffect(8))...), 3},
		{"local activities with 300 kB each", times(9, local(300_000)), 3},
		{"as large as payloads get", times(3, sideEffect((2<<20)/3*4)), 3},
	} {
		task := w.leased()
		ran := w.probe.during(func() { w.done(task, c.commands...) })
		events := w.history(task.Run.RunID)[2:]
		require.Equal(t, statementsFor(w, len(events), c.events), ran.count("EventInsert"), c.name)
		w.drain()
	}
}

// testSettling: what a close settles travels together as well: 250 activities are cancelled by three statements a
// table.
func testSettling(t *testing.T, empty Empty) {
	const open = 250
	w := newWorld(t, empty, nil)
	w.register()
	task := w.leased()
	w.done(task, times(open, schedule())...)
	ran := w.probe.during(func() { w.cancel(task.Run.WorkflowID) })
	for _, statement := range []string{"EventInsert", "TaskUpdate", "ActivityUpdate"} {
		rows := open
		if statement == "EventInsert" {
			rows = open + 2
		}
		require.Equal(t, statementsFor(w, rows, 3), ran.count(statement), statement)
	}
	require.Len(t, w.history(task.Run.RunID), 2+open+1+open+1)
	left, err := w.store.ListOpenActivitiesOf(t.Context(), task.Run.RunID)
	require.NoError(t, err)
	require.Empty(t, left)
	view, err := w.store.ListActivities(t.Context(), task.Run.RunID, 0, 1000)
	require.NoError(t, err)
	require.Len(t, view, open)
	for i := range view {
		require.Equal(t, rules.ActivityCancelled, view[i].Status)
		stored, err := w.store.ReadTask(t.Context(), view[i].TaskID)
		require.NoError(t, err)
		require.Equal(t, rules.TaskCancelled, stored.Status)
	}
}
