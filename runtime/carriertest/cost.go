package carriertest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"dwserver/runtime"
)

// activities is how many activities the workflow of testCost runs, one after the other.
const activities = 5

// A mode is a way to run a step: one activity and what the workflow does after it.
type mode struct {
	name string
	per  int // write transactions a step
	// run runs a started workflow to its end.
	run func(s *scene)
}

var modes = []mode{{"polled", 4, runPolled}, {"carried", 2, runCarried}, {"continued", 1, runContinued}}

// testCost counts what a workflow of five activities costs in each mode: 4, 2 and 1 write transactions a
// step. docs/carried-polls.md shows the numbers that this logs.
func testCost(t *testing.T, empty Empty) {
	w := newProbedWorld(t, empty)
	for _, m := range modes {
		s := w.scene(t)
		s.register(nil)
		s.start()
		ran := w.probe.during(nil, func() { m.run(s) })
		run, err := w.store.ReadRun(t.Context(), s.runs[0])
		require.NoError(t, err)
		require.Equal(t, "completed", run.Status)
		require.EqualValues(t, 2+3*activities+1, run.LastHistorySequence)
		inside, all := ran.inside(), len(ran.queries())
		t.Logf("%-9s  %2d write transactions, %3d statements in them, %3d reads outside; a step: %d, %.1f, %.1f", m.name,
			ran.transactions(), inside, all-inside, m.per, float64(inside)/activities, float64(all-inside)/activities)
		m.check(t, ran.transactions())
	}
}

// check holds the transactions of a run against what a step may cost. Beside its steps, a run takes the poll
// and the completion of its first task; the last step's completion has no next activity to lease.
func (m *mode) check(t *testing.T, transactions int) {
	t.Helper()
	beside := map[string]int{"polled": 2, "carried": 2, "continued": 2}[m.name]
	require.Equal(t, m.per*activities+beside, transactions, m.name)
}

// runPolled takes every task with a poll of its own.
func runPolled(s *scene) {
	s.workflowReport(s.pollWorkflow(), schedule()).do()
	for i := range activities {
		s.activityReport(s.pollActivity()).do()
		task := s.pollWorkflow()
		if i == activities-1 {
			s.workflowReport(task, finish()).do()
			return
		}
		s.workflowReport(task, schedule()).do()
	}
}

// runCarried takes every task but the first with the report before it.
func runCarried(s *scene) {
	got := s.workflowReport(s.pollWorkflow(), schedule()).carry(true, true).do()
	for i := range activities {
		got = s.activityReport(leasedActivity(s, got)).carry(true, true).do()
		task := got.WorkflowPoll.Lease.Workflow
		if i == activities-1 {
			s.workflowReport(task, finish()).carry(true, true).do()
			return
		}
		got = s.workflowReport(task, schedule()).carry(true, true).do()
	}
}

// runContinued tells with every result what the workflow does next.
func runContinued(s *scene) {
	got := s.workflowReport(s.pollWorkflow(), schedule()).carry(true, true).do()
	for i := range activities {
		task := leasedActivity(s, got)
		if i == activities-1 {
			s.activityReport(task).continues(task, finish()).carry(true, true).do()
			return
		}
		got = s.activityReport(task).continues(task, schedule()).carry(true, true).do()
	}
}

func leasedActivity(s *scene, got answer) *runtime.ActivityTaskAnswer {
	s.t.Helper()
	require.Equal(s.t, "leased", became(got.ActivityPoll))
	return got.ActivityPoll.Lease.Activity
}
