package carriertest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"dwserver/runtime"
	"dwserver/runtime/rules"
)

// A carryingReport is a report that carries, with what its polls have to get.
type carryingReport struct {
	name     string
	make     func(s *scene) *report
	activity string // leased, a decline reason, or "" for not attempted
	workflow string
}

// carryingReports are the ways a report can carry polls and continue a workflow, each granted.
var carryingReports = []carryingReport{
	{"workflow to activity", func(s *scene) *report {
		s.register(nil)
		return s.workflowReport(s.leased(), schedule()).carry(true, true)
	}, "leased", ""},
	{"workflow to workflow", func(s *scene) *report {
		s.register(nil)
		task := s.leased()
		s.start()
		return s.workflowReport(task, finish()).carry(true, true)
	}, "empty", "leased"},
	{"workflow to both", func(s *scene) *report {
		s.register(concurrent)
		task := s.leased()
		s.start()
		return s.workflowReport(task, schedule()).carry(true, true)
	}, "leased", "leased"},
	{"activity to workflow", func(s *scene) *report {
		s.register(nil)
		return s.activityReport(s.running()).carry(false, true)
	}, "", "leased"},
	{"activity to activity", func(s *scene) *report {
		s.register(nil)
		s.workflowReport(s.leased(), schedule(), schedule()).do()
		return s.activityReport(s.pollActivity()).carry(true, true)
	}, "leased", ""},
	{"failure to workflow", func(s *scene) *report {
		s.register(nil)
		return s.failureReport(s.running()).carry(true, true)
	}, "empty", "leased"},
	{"failure to the next attempt", func(s *scene) *report {
		s.register(nil)
		again := schedule()
		again.RetryPolicy = &rules.RetryPolicy{Unlimited: true}
		s.workflowReport(s.leased(), again).do()
		task := s.pollActivity()
		s.retried = true
		return s.failureReport(task).carry(true, true)
	}, "leased", ""},
	{"a lease that the id already has", func(s *scene) *report {
		s.register(concurrent)
		r := s.workflowReport(s.leased(), finish()).carry(false, true)
		s.start()
		got, err := s.PollWorkflowTask(s.t.Context(), r.carriers.WorkflowPoll.PollRequest)
		require.NoError(s.t, err)
		require.NotNil(s.t, got.Workflow)
		return r
	}, "", "leased"},
	{"continuation to activity", func(s *scene) *report {
		s.register(nil)
		task := s.running()
		return s.activityReport(task).continues(task, schedule()).carry(true, true)
	}, "leased", ""},
	{"continuation of a known definition", func(s *scene) *report {
		s.register(defined)
		task := s.running()
		return s.activityReport(task).continues(task, schedule()).carry(true, true)
	}, "leased", ""},
	{"continuation to the end", func(s *scene) *report {
		s.register(nil)
		task := s.running()
		return s.activityReport(task).continues(task, finish()).carry(true, false)
	}, "empty", ""},
	{"continuation to a new run", func(s *scene) *report {
		s.register(nil)
		task := s.running()
		return s.activityReport(task).continues(task, rules.WorkflowCommand{Type: "continue_as_new"}).carry(false, true)
	}, "", "leased"},
}

// check holds an answer against what its polls have to get.
func (c *carryingReport) check(s *scene, r *report, got answer) {
	s.t.Helper()
	require.True(s.t, got.recorded)
	require.Equal(s.t, c.activity, became(got.ActivityPoll), "activity_poll")
	require.Equal(s.t, c.workflow, became(got.WorkflowPoll), "workflow_poll")
	if r.next != nil {
		require.NotNil(s.t, got.next)
		require.Nil(s.t, got.next.Decline)
	}
}

// became is a carried poll's answer in a word.
func became(a *runtime.CarriedAnswer) string {
	switch {
	case a == nil:
		return ""
	case a.Lease != nil:
		return "leased"
	}
	return a.Decline.Reason()
}

// testOneTransaction: the report's own transaction grants the lease, and the worker's own poll under that
// id then writes nothing, however long ago the worker was last heard from.
func testOneTransaction(t *testing.T, empty Empty) {
	w := newProbedWorld(t, empty)
	for _, c := range carryingReports {
		t.Run(c.name, func(t *testing.T) {
			s := w.scene(t)
			r := c.make(s)
			var got answer
			ran := w.probe.during(nil, func() { got = r.do() })
			c.check(s, r, got)
			require.Equal(t, 1, ran.transactions(), ran)
			w.clock.advance(5e9)
			for _, lease := range []*runtime.CarriedAnswer{got.ActivityPoll, got.WorkflowPoll} {
				if became(lease) == "leased" {
					ran = w.probe.during(nil, func() { r.replay(lease.Lease) })
					require.Zero(t, ran.transactions(), ran)
					require.Zero(t, ran.inside(), ran)
				}
			}
		})
	}
}

// replay polls under the id of a carried poll and returns what it got.
func (r *report) replay(lease *runtime.PollResult) runtime.PollResult {
	s := r.scene
	s.t.Helper()
	poll, ask := r.carriers.ActivityPoll, s.PollActivityTask
	if lease.Workflow != nil {
		poll, ask = r.carriers.WorkflowPoll, s.PollWorkflowTask
	}
	got, err := ask(s.t.Context(), poll.PollRequest)
	require.NoError(s.t, err)
	return got
}

// testSameAnswer: the embedded answer is what the worker's own poll gets, at any later time, but for the
// clock. Nothing that is shown again is renewed.
func testSameAnswer(t *testing.T, empty Empty) {
	w := newWorld(t, empty, nil)
	for _, c := range carryingReports {
		t.Run(c.name, func(t *testing.T) {
			s := w.scene(t)
			r := c.make(s)
			got := r.do()
			c.check(s, r, got)
			before := s.state()
			w.clock.advance(1e9)
			for _, lease := range []*runtime.CarriedAnswer{got.ActivityPoll, got.WorkflowPoll} {
				if became(lease) != "leased" {
					continue
				}
				own := r.replay(lease.Lease)
				require.Equal(t, lease.Lease.ServerTime+1e6, own.ServerTime)
				same(t, pollText(lease.Lease), pollText(&own))
			}
			same(t, before, s.state())
		})
	}
}
