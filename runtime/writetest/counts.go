package writetest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"dwserver/runtime"
	"dwserver/runtime/rules"
)

// A report is a completion whose statements are counted: make brings a world to where it can be sent. The numbers
// are the most statements it takes without anything that rides on it, and with a poll of each kind; BEGIN and COMMIT
// come on top, and the first poll that a process sees carried reads its worker. On SQLite, where a statement is a call, every row is one.
type report struct {
	name            string
	make            func(w *world) (send func(runtime.Carriers) error)
	plain, carrying map[string]int
}

func most(sqlite, postgres, mysql int) map[string]int {
	return map[string]int{sqliteEngine: sqlite, postgresEngine: postgres, mysqlEngine: mysql}
}

var reports = []report{
	{"five local activities", workflowReport(times(5, local(4))...), most(30, 8, 8), most(40, 12, 12)},
	{"five local activities and the end", workflowReport(append(times(5, local(4)), finish())...), most(31, 8, 8), most(41, 11, 11)},
	{"one activity", workflowReport(schedule()), most(8, 8, 8), most(17, 13, 13)},
	{"an activity's result", activityReport, most(10, 9, 9), most(19, 13, 13)},
}

func workflowReport(commands ...rules.WorkflowCommand) func(*world) func(runtime.Carriers) error {
	return func(w *world) func(runtime.Carriers) error {
		task := w.leased()
		return func(c runtime.Carriers) error {
			_, err := w.complete(task, c, commands...)
			return err
		}
	}
}

func activityReport(w *world) func(runtime.Carriers) error {
	w.done(w.leased(), schedule())
	task := w.activityTask()
	return func(c runtime.Carriers) error {
		_, err := w.completeActivity(task, c)
		return err
	}
}

// testCounts: a completion is one transaction of at most so many statements, without and with carried polls; where
// statements cost a round trip, the rows of a table that it makes, and those that it changes, are one each.
func testCounts(t *testing.T, empty Empty) {
	w := newWorld(t, empty, nil)
	w.register()
	for _, r := range reports {
		for _, carrying := range []bool{false, true} {
			send, name, bound, carriers := r.make(w), r.name, r.plain, runtime.Carriers{}
			if carrying {
				name, bound, carriers = r.name+", carrying both polls", r.carrying, w.both()
			}
			ran := w.probe.during(func() { require.NoError(t, send(carriers)) })
			t.Logf("%-8s %-55s %2d statements, %2d with BEGIN and COMMIT: %s", w.engine(), name,
				len(ran.statements()), ran.all(), strings.Join(ran, " "))
			require.Equal(t, 1, ran.count(commit), "one transaction")
			require.LessOrEqual(t, len(ran.statements()), bound[w.engine()], "%s: %v", name, ran)
			if w.engine() != sqliteEngine {
				for _, statement := range ran.writes() {
					require.Equal(t, 1, ran.count(statement), statement)
				}
			}
			w.drain()
		}
	}
}

// drain completes the activities that are ready, so that the next report meets an empty queue.
func (w *world) drain() {
	w.t.Helper()
	for {
		got, err := w.PollActivityTask(w.t.Context(), w.poll())
		require.NoError(w.t, err)
		if got.Activity == nil {
			return
		}
		_, err = w.completeActivity(got.Activity, runtime.Carriers{})
		require.NoError(w.t, err)
	}
}
