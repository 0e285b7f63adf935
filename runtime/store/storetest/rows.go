package storetest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"dwserver/runtime/rules"
	"dwserver/runtime/store"
)

// table is one table seen through the interface.
type table[T any] struct {
	key    string   // field of the primary key
	fixed  []string // fields an update leaves alone
	insert func(*rules.Effects, T)
	update func(*rules.Effects, T)
	get    func(context.Context, store.Tx, string) (T, error)    // in a transaction, nil when it has none
	read   func(context.Context, store.Store, string) (T, error) // of committed state, nil when it has none
}

func testRows(t *testing.T, x *suite) {
	t.Run("Instance", func(t *testing.T) { testTable(t, x, instances) })
	t.Run("Run", func(t *testing.T) { testTable(t, x, runs) })
	t.Run("RunInput", func(t *testing.T) { testTable(t, x, inputs) })
	t.Run("Task", func(t *testing.T) { testTable(t, x, tasks) })
	t.Run("Activity", func(t *testing.T) { testTable(t, x, activities) })
	t.Run("Attempt", func(t *testing.T) { testTable(t, x, attempts) })
	t.Run("Timer", func(t *testing.T) { testTable(t, x, timers) })
	t.Run("Command", func(t *testing.T) { testTable(t, x, commands) })
	t.Run("Labels", func(t *testing.T) { testLabels(t, x) })
}

func testTable[T any](t *testing.T, x *suite, tab table[T]) {
	key := x.id(tab.key)
	row := set(fill[T](x.last.Add(1)), tab.key, key)
	other := set(fill[T](x.last.Add(1)), tab.key, x.id(tab.key))
	requireRow := func(want T) {
		t.Helper()
		if tab.read != nil {
			got, err := tab.read(t.Context(), x, key)
			require.NoError(t, err)
			require.Equal(t, want, got)
		}
		if tab.get != nil {
			x.inside(t, func(ctx context.Context, tx store.Tx) {
				got, err := tab.get(ctx, tx, key)
				require.NoError(t, err)
				require.Equal(t, want, got)
				_, err = tab.get(ctx, tx, "absent")
				require.ErrorIs(t, err, store.ErrNotFound)
			})
		}
	}
	write := func(put func(*rules.Effects, T), row T) error {
		e := &rules.Effects{}
		put(e, row)
		return x.try(t, e)
	}
	require.NoError(t, write(tab.insert, row))
	require.NoError(t, write(tab.insert, other), "a neighbour that must not change")
	requireRow(row)
	require.ErrorIs(t, write(tab.insert, row), store.ErrConflict, "the key is taken")
	if tab.update == nil {
		return
	}
	next := set(fill[T](x.last.Add(1)), tab.key, key)
	if run, ok := any(&next).(*rules.Run); ok {
		run.LastHistorySequence = any(row).(rules.Run).LastHistorySequence // the guard of this update
	}
	require.NoError(t, write(tab.update, next))
	requireRow(mix(row, next, tab.fixed...))
	require.ErrorIs(t, write(tab.update, set(next, tab.key, "absent")), store.ErrConflict, "no such row")
	again, err := tab.again(t, x, other)
	require.NoError(t, err)
	require.Equal(t, other, again, "the neighbour changed")
}

// again reads a row by whichever way the table has.
func (tab table[T]) again(t *testing.T, x *suite, row T) (got T, err error) {
	key := keyOf(row, tab.key)
	if tab.read != nil {
		return tab.read(t.Context(), x, key)
	}
	err = x.do(t, func(ctx context.Context, tx store.Tx) (err error) {
		got, err = tab.get(ctx, tx, key)
		return err
	})
	return got, err
}

var instances = table[rules.Instance]{
	key: "WorkflowID", fixed: []string{"Namespace", "CreatedAt"},
	insert: func(e *rules.Effects, r rules.Instance) { e.NewInstance = &r },
	update: func(e *rules.Effects, r rules.Instance) { e.Instance = &r },
	get: func(ctx context.Context, tx store.Tx, id string) (rules.Instance, error) {
		return tx.GetInstance(ctx, id)
	},
	read: func(ctx context.Context, s store.Store, id string) (rules.Instance, error) {
		return s.ReadInstance(ctx, id)
	},
}

var runs = table[rules.Run]{
	key: "RunID",
	fixed: []string{"WorkflowID", "Namespace", "RunNumber", "WorkflowType", "TaskQueue", "Priority", "FairnessKey",
		"FairnessWeight", "BusinessKey", "ExecutionTimeout", "RunTimeout", "ContinuedFromRunID", "StartedAt"},
	insert: func(e *rules.Effects, r rules.Run) { e.NewRuns = []rules.Run{r} },
	update: func(e *rules.Effects, r rules.Run) { e.Run, e.RunBase = &r, r.LastHistorySequence },
	get:    func(ctx context.Context, tx store.Tx, id string) (rules.Run, error) { return tx.GetRun(ctx, id) },
	read:   func(ctx context.Context, s store.Store, id string) (rules.Run, error) { return s.ReadRun(ctx, id) },
}

var inputs = table[rules.RunInput]{
	key:    "RunID",
	insert: func(e *rules.Effects, r rules.RunInput) { e.NewInputs = []rules.RunInput{r} },
	get: func(ctx context.Context, tx store.Tx, id string) (rules.RunInput, error) {
		return tx.GetRunInput(ctx, id)
	},
	read: func(ctx context.Context, s store.Store, id string) (rules.RunInput, error) {
		return s.ReadRunInput(ctx, id)
	},
}

var tasks = table[rules.Task]{
	key: "TaskID",
	fixed: []string{"RunID", "WorkflowID", "Namespace", "Kind", "TaskQueue", "TypeName", "Priority", "FairnessKey",
		"Compatibility", "ActivityExecutionID", "CreatedAt"},
	insert: func(e *rules.Effects, r rules.Task) { e.NewTasks = []rules.Task{r} },
	update: func(e *rules.Effects, r rules.Task) { e.Tasks = []rules.Task{r} },
	get:    func(ctx context.Context, tx store.Tx, id string) (rules.Task, error) { return tx.GetTask(ctx, id) },
	read:   func(ctx context.Context, s store.Store, id string) (rules.Task, error) { return s.ReadTask(ctx, id) },
}

var activities = table[rules.Activity]{
	key: "ExecutionID",
	fixed: []string{"RunID", "Namespace", "Sequence", "ActivityType", "TaskQueue", "RetryPolicy", "Parallel",
		"ScheduledEvent", "CreatedAt", "IsLocal"},
	insert: func(e *rules.Effects, r rules.Activity) { e.NewActs = []rules.Activity{r} },
	update: func(e *rules.Effects, r rules.Activity) { e.Acts = []rules.Activity{r} },
	get: func(ctx context.Context, tx store.Tx, id string) (rules.Activity, error) {
		return tx.GetActivity(ctx, id)
	},
	read: func(ctx context.Context, s store.Store, id string) (rules.Activity, error) {
		return s.ReadActivity(ctx, id)
	},
}

var attempts = table[rules.Attempt]{
	key:    "AttemptID",
	fixed:  []string{"ExecutionID", "RunID", "TaskID", "AttemptNumber", "LeaseOwner", "StartedAt", "WorkerAttemptID"},
	insert: func(e *rules.Effects, r rules.Attempt) { e.NewTries = []rules.Attempt{r} },
	update: func(e *rules.Effects, r rules.Attempt) { e.Tries = []rules.Attempt{r} },
	get: func(ctx context.Context, tx store.Tx, id string) (rules.Attempt, error) {
		return tx.GetAttempt(ctx, id)
	},
	read: func(ctx context.Context, s store.Store, id string) (rules.Attempt, error) {
		return s.ReadAttempt(ctx, id)
	},
}

var timers = table[rules.Timer]{
	key:    "TimerID",
	fixed:  []string{"RunID", "TaskID", "Sequence", "Kind", "WaitID", "DelaySeconds", "FireAt", "Parallel", "CreatedAt"},
	insert: func(e *rules.Effects, r rules.Timer) { e.NewTimers = []rules.Timer{r} },
	update: func(e *rules.Effects, r rules.Timer) { e.Timers = []rules.Timer{r} },
	get:    func(ctx context.Context, tx store.Tx, id string) (rules.Timer, error) { return tx.GetTimer(ctx, id) },
}

var commands = table[rules.Command]{
	key: "CommandID",
	fixed: []string{"WorkflowID", "RunID", "Namespace", "Sequence", "Type", "TargetName", "RequestID", "Status", "Outcome",
		"RejectionReason", "Reason", "AcceptedAt"},
	insert: func(e *rules.Effects, r rules.Command) { e.NewCommands = []rules.Command{r} },
	update: func(e *rules.Effects, r rules.Command) { e.Commands = []rules.Command{r} },
	get: func(ctx context.Context, tx store.Tx, id string) (rules.Command, error) {
		return tx.GetCommand(ctx, id)
	},
}

// testLabels: what lists show of a run's input, without its arguments.
func testLabels(t *testing.T, x *suite) {
	var want []rules.RunInput
	var runs []string
	for range 3 {
		in := fill[rules.RunInput](x.last.Add(1))
		x.apply(t, &rules.Effects{NewInputs: []rules.RunInput{in}})
		want = append(want, rules.RunInput{RunID: in.RunID, Memo: in.Memo, SearchAttributes: in.SearchAttributes})
		runs = append(runs, in.RunID)
	}
	got, err := x.ListLabels(t.Context(), append([]string{"absent"}, runs[1:]...))
	require.NoError(t, err)
	require.ElementsMatch(t, want[1:], got)
	got, err = x.ListLabels(t.Context(), nil)
	require.NoError(t, err)
	require.Empty(t, got)
}
