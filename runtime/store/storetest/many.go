package storetest

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"dwserver/runtime/rules"
	"dwserver/runtime/store"
)

// many is how many rows of a table one transition writes here: three statements' worth where rows travel
// together. A few of them may travel in another way.
const (
	few  = 3
	many = 250
)

// testMany: a transition that writes many rows of a table leaves each as it says, and one whose row is missing
// leaves all as they were.
func testMany(t *testing.T, x *suite) {
	t.Run("Task", func(t *testing.T) {
		testManyRows(t, x, tasks, func(e *rules.Effects) (made, changed *[]rules.Task) { return &e.NewTasks, &e.Tasks })
	})
	t.Run("Activity", func(t *testing.T) {
		testManyRows(t, x, activities, func(e *rules.Effects) (made, changed *[]rules.Activity) { return &e.NewActs, &e.Acts })
	})
	t.Run("Attempt", func(t *testing.T) {
		testManyRows(t, x, attempts, func(e *rules.Effects) (made, changed *[]rules.Attempt) { return &e.NewTries, &e.Tries })
	})
	t.Run("Timer", func(t *testing.T) {
		testManyRows(t, x, timers, func(e *rules.Effects) (made, changed *[]rules.Timer) { return &e.NewTimers, &e.Timers })
	})
	t.Run("Command", func(t *testing.T) {
		testManyRows(t, x, commands, func(e *rules.Effects) (made, changed *[]rules.Command) { return &e.NewCommands, &e.Commands })
	})
	t.Run("Definition", func(t *testing.T) { testManyUpserts(t, x) })
	t.Run("Twice", func(t *testing.T) { testChangedTwice(t, x) })
}

// manyRows are rows whose columns have values of their own, but for every third, whose columns are all alike.
func manyRows[T any](x *suite, key string, ids []string) []T {
	alike := x.last.Add(1)
	out := make([]T, len(ids))
	for i, id := range ids {
		seed := alike
		if i%3 > 0 {
			seed = x.last.Add(1)
		}
		out[i] = set(fill[T](seed), key, id)
	}
	return out
}

func testManyRows[T any](t *testing.T, x *suite, tab table[T], lists func(*rules.Effects) (made, changed *[]T)) {
	for _, n := range []int{few, many} {
		testRowsTogether(t, x, n, tab, lists)
	}
}

func testRowsTogether[T any](t *testing.T, x *suite, n int, tab table[T], lists func(*rules.Effects) (made, changed *[]T)) {
	t.Helper()
	ids := make([]string, n)
	for i := range ids {
		ids[i] = x.id(tab.key) + fmt.Sprintf("'%%?$1\\%d", i) // what statements are made of
	}
	write := func(first, second []T) error {
		e := &rules.Effects{}
		made, changed := lists(e)
		*made, *changed = first, second
		return x.try(t, e)
	}
	requireRows := func(want []T) {
		t.Helper()
		for i := range want {
			got, err := tab.again(t, x, want[i])
			require.NoError(t, err)
			require.Equal(t, want[i], got)
		}
	}
	rows, neighbour := manyRows[T](x, tab.key, ids), set(fill[T](x.last.Add(1)), tab.key, x.id(tab.key))
	require.NoError(t, write(append([]T{neighbour}, rows...), nil))
	requireRows(rows)
	next := manyRows[T](x, tab.key, ids)
	require.NoError(t, write(nil, next))
	for i := range next {
		next[i] = mix(rows[i], next[i], tab.fixed...)
	}
	requireRows(append(next, neighbour))
	gone := manyRows[T](x, tab.key, ids)
	gone[n/2] = set(gone[n/2], tab.key, "absent")
	require.ErrorIs(t, write(nil, gone), store.ErrConflict, "one of them is not there")
	requireRows(next)
	require.ErrorIs(t, write(append(manyRows[T](x, tab.key, []string{x.id(tab.key)}), rows[n-1]), nil), store.ErrConflict, "one of them is there")
}

func testManyUpserts(t *testing.T, x *suite) {
	definitions := func() (out []rules.Definition) {
		for i := range many {
			d := fill[rules.Definition](x.last.Add(1))
			d.Namespace, d.WorkflowType = "many", fmt.Sprintf("type%04d", i)
			out = append(out, d)
		}
		return out
	}
	for range 2 { // new ones, then changed ones
		want := definitions()
		x.apply(t, &rules.Effects{Definitions: want})
		for i := range want {
			got, err := x.ReadDefinition(t.Context(), want[i].Namespace, want[i].WorkflowType)
			require.NoError(t, err)
			require.Equal(t, want[i], got)
		}
	}
}

// testChangedTwice: of two changes of a row in one transition the later stands.
func testChangedTwice(t *testing.T, x *suite) {
	run := x.newRun(t)
	first, second := x.ready(run, "twice"), x.ready(run, "twice")
	x.apply(t, &rules.Effects{NewTasks: []rules.Task{first, second}})
	first.Status, second.Status = rules.TaskLeased, rules.TaskLeased
	last := first
	last.Status = rules.TaskCompleted
	x.apply(t, &rules.Effects{Tasks: []rules.Task{first, second, last}})
	for _, want := range []rules.Task{last, second} {
		got, err := x.ReadTask(t.Context(), want.TaskID)
		require.NoError(t, err)
		same(t, want, got)
	}
	d := fill[rules.Definition](x.last.Add(1))
	d.Namespace = "twice"
	later := fill[rules.Definition](x.last.Add(1))
	later.Namespace, later.WorkflowType = d.Namespace, d.WorkflowType
	x.apply(t, &rules.Effects{Definitions: []rules.Definition{d, later}})
	got, err := x.ReadDefinition(t.Context(), d.Namespace, d.WorkflowType)
	require.NoError(t, err)
	require.Equal(t, later, got)
}
