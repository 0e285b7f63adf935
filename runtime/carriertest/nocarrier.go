package carriertest

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"dwserver/runtime"
	"dwserver/runtime/rules"
)

// plainReports are reports without anything that rides on them.
var plainReports = []struct {
	name string
	make func(s *scene) *report
}{
	{"workflow", func(s *scene) *report {
		s.register(nil)
		return s.workflowReport(s.leased(), schedule())
	}},
	{"workflow closes", func(s *scene) *report {
		s.register(nil)
		return s.workflowReport(s.leased(), finish())
	}},
	{"activity", func(s *scene) *report {
		s.register(nil)
		return s.activityReport(s.running())
	}},
	{"failure", func(s *scene) *report {
		s.register(nil)
		return s.failureReport(s.running())
	}},
}

// rides reports a statement that only carried polls and continuations need.
func rides(name string) bool {
	switch name {
	case "ReceiptGet", "ReceiptList", "ReceiptDrop", "ReceiptInsert", "TaskCountLeases", "TaskListLeases", "TaskFindClaimable", "TaskFindHeads",
		"TaskLockHead", "RunInputGet":
		return true
	}
	return strings.HasPrefix(name, "SAVEPOINT part") || strings.HasPrefix(name, "RELEASE part")
}

// testNoCarrier: a request that carries nothing takes the statements it always took, and one whose poll is
// declined takes those too, in the same order, and leaves the same rows.
func testNoCarrier(t *testing.T, empty Empty) {
	w := newProbedWorld(t, empty)
	for _, c := range plainReports {
		t.Run(c.name, func(t *testing.T) {
			bare := w.scene(t)
			r := c.make(bare)
			plain := w.probe.during(nil, func() { require.Equal(t, answer{recorded: true}, told(r.do())) })
			require.False(t, slices.ContainsFunc(plain, rides), plain)
			require.Len(t, plain.queries(), plain.inside(), "nothing is read before the transaction")

			s := w.scene(t)
			r = c.make(s)
			r.carriers.ActivityPoll = s.carried("activity")
			r.carriers.ActivityPoll.WorkerID = "nobody"
			declined := w.probe.during(nil, func() { require.Equal(t, "worker_mismatch", became(r.do().ActivityPoll)) })
			require.Equal(t, plain, declined, "a poll declined at admission costs nothing")
			same(t, alike(bare.state()), alike(s.state()))

			s = w.scene(t)
			r = c.make(s)
			r.carriers.ActivityPoll = s.carried("activity")
			r.carriers.ActivityPoll.TaskQueue = "elsewhere"
			declined = w.probe.during(nil, func() { require.Equal(t, "routing_mismatch", became(r.do().ActivityPoll)) })
			require.Equal(t, "WorkerGet", declined[0], "the worker's registration is read once")
			require.Equal(t, plain, declined[1:])
			same(t, alike(bare.state()), alike(s.state()))
		})
	}
}

// told is an answer without the number that every completion's answer has.
func told(got answer) answer {
	got.last = 0
	return got
}

// testOtherWorker: a report never grants anything to another worker than its lease owner, and nothing at all
// when its polls name different workers.
func testOtherWorker(t *testing.T, empty Empty) {
	w := newWorld(t, empty, nil)
	for _, c := range plainReports {
		for _, kinds := range [][]string{{rules.KindActivity}, {rules.KindWorkflow}, anyKind} {
			t.Run(c.name, func(t *testing.T) { w.scene(t).carryForAnother(c.make, kinds) })
		}
	}
}

// carryForAnother sends a report whose polls of some kinds name another worker; it carries both kinds.
func (s *scene) carryForAnother(make func(*scene) *report, kinds []string) {
	s.t.Helper()
	r := make(s).carry(true, true)
	other := s.name("other")
	s.register(func(req *runtime.RegisterRequest) { req.WorkerID = other })
	for _, kind := range anyKind {
		s.plant(s.plot(kind)) // work that either worker could have
	}
	for _, kind := range kinds {
		poll := r.carriers.ActivityPoll
		if kind == rules.KindWorkflow {
			poll = r.carriers.WorkflowPoll
		}
		poll.WorkerID = other
		s.polls = append(s.polls, pollRequest{other, kind, poll.PollRequestID})
	}
	before, err := s.store.ReadWorker(s.t.Context(), namespace, other)
	require.NoError(s.t, err)
	got := r.do()
	require.Equal(s.t, "worker_mismatch", became(got.ActivityPoll))
	require.Equal(s.t, "worker_mismatch", became(got.WorkflowPoll))
	require.Zero(s.t, s.leases(s, other))
	require.Zero(s.t, s.leases(s, s.worker()))
	require.NotContains(s.t, s.state(), "receipt ")
	after, err := s.store.ReadWorker(s.t.Context(), namespace, other)
	require.NoError(s.t, err)
	require.Equal(s.t, before, after)
}
