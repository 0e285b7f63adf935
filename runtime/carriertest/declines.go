package carriertest

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"dwserver/runtime"
	"dwserver/runtime/rules"
)

// declineReasons is the closed set of carried-polls.md 4.
var declineReasons = []string{
	"empty", "invalid_poll", "worker_mismatch", "worker_not_registered", "routing_mismatch", "worker_draining",
	"registration_fenced", "slot_occupied", "queue_throttled", "capability_mismatch", "poll_request_conflict",
}

// unreachable is the one reason that cannot come up yet: there is no cap on leases or dispatches.
const unreachable = "queue_throttled"

// A declining poll makes a report's carried poll not grantable.
type declining struct {
	reason  string
	about   string
	kind    string                                 // of the carried poll
	parents []string                               // plainReports it applies to, nil for all
	worker  func(req *runtime.RegisterRequest)     // how the worker is registered
	given   func(s *scene, r *report)              // before, with the report and without its poll
	poll    func(s *scene, p *runtime.CarriedPoll) // changes the poll
	between func(s *scene)                         // happens between admission and the transaction
}

var (
	ofActivities = []string{"activity", "failure"}
	anyKind      = []string{rules.KindActivity, rules.KindWorkflow}
)

// declinings are all reasons, in the order of the contract.
func declinings() (list []declining) {
	list = append(list, declining{reason: "empty", kind: rules.KindActivity, about: "no activity", parents: []string{"workflow closes", "activity", "failure"}},
		declining{reason: "empty", kind: rules.KindWorkflow, about: "no workflow task", parents: []string{"workflow", "workflow closes"}})
	for _, kind := range anyKind {
		list = append(list, brokenPolls(kind)...)
		list = append(list, unroutedPolls(kind)...)
		list = append(list, unregisteredPolls(kind)...)
	}
	return append(append(list, occupiedSlots()...), boundPolls()...)
}

func brokenPolls(kind string) []declining {
	return []declining{
		{reason: "invalid_poll", kind: kind, about: "breaks its schema", poll: func(_ *scene, p *runtime.CarriedPoll) { p.Invalid = true }},
		{reason: "invalid_poll", kind: kind, about: "has no id", poll: func(_ *scene, p *runtime.CarriedPoll) { p.PollRequestID = "" }},
		{reason: "worker_mismatch", kind: kind, about: "another worker", poll: func(_ *scene, p *runtime.CarriedPoll) { p.WorkerID = "someone" }},
	}
}

func unroutedPolls(kind string) []declining {
	return []declining{
		{reason: "routing_mismatch", kind: kind, about: "another queue", poll: func(_ *scene, p *runtime.CarriedPoll) { p.TaskQueue = "elsewhere" }},
		{reason: "routing_mismatch", kind: kind, about: "another build",
			worker: func(req *runtime.RegisterRequest) { req.BuildID = "one" },
			poll:   func(_ *scene, p *runtime.CarriedPoll) { p.BuildID = "two" }},
		{reason: "routing_mismatch", kind: kind, about: "no type of the kind",
			given: func(s *scene, _ *report) { s.withoutTypes(kind) }},
	}
}

// unregisteredPolls need a registration that is not as it was: a workflow task's owner is then refused
// itself, so they only come up with activities.
func unregisteredPolls(kind string) []declining {
	return []declining{
		{reason: "worker_not_registered", kind: kind, about: "the registration is gone", parents: ofActivities,
			given: func(s *scene, _ *report) { s.removeWorker() }},
		{reason: "worker_draining", kind: kind, about: "draining", parents: ofActivities, given: func(s *scene, _ *report) { s.drain() }},
		{reason: "registration_fenced", kind: kind, about: "drained meanwhile", parents: ofActivities, between: (*scene).drain},
		{reason: "registration_fenced", kind: kind, about: "gone meanwhile", parents: ofActivities, between: (*scene).removeWorker},
		{reason: "registration_fenced", kind: kind, about: "replaced meanwhile", parents: ofActivities, between: (*scene).supersede},
	}
}

// occupiedSlots are the slot rule's declines; a lease whose expiry is not known counts.
func occupiedSlots() []declining {
	few := func(req *runtime.RegisterRequest) { concurrent(req); req.MaxWorkflowTasks, req.MaxActivityTasks = 1, 1 }
	workflow := func(s *scene, _ *report) { s.start(); s.pollWorkflow() }
	activity := func(s *scene, _ *report) { s.hold(rules.KindActivity) }
	return []declining{
		{reason: "slot_occupied", kind: rules.KindActivity, about: "holds a workflow task", parents: []string{"workflow", "activity"}, given: workflow},
		{reason: "slot_occupied", kind: rules.KindActivity, about: "holds a task without expiry", parents: []string{"workflow"},
			given: func(s *scene, _ *report) { s.hold(rules.KindWorkflow) }},
		{reason: "slot_occupied", kind: rules.KindWorkflow, about: "holds an activity", parents: []string{"workflow", "activity"}, given: activity},
		{reason: "slot_occupied", kind: rules.KindActivity, about: "all activity slots", parents: []string{"workflow"}, worker: few, given: activity},
		{reason: "slot_occupied", kind: rules.KindActivity, about: "all activity slots, and an end that settles a lease that was over",
			parents: []string{"workflow closes"}, worker: few, given: func(s *scene, _ *report) {
				s.lapsed()
				s.hold(rules.KindActivity)
				s.plant(s.plot(rules.KindActivity))
			}},
		{reason: "slot_occupied", kind: rules.KindWorkflow, about: "all workflow slots", parents: []string{"activity"}, worker: few, given: workflow},
	}
}

func boundPolls() []declining {
	bind := func(s *scene, p *runtime.CarriedPoll, kind string) {
		s.bound(kind, p.PollRequestID)
	}
	return []declining{
		{reason: "capability_mismatch", kind: rules.KindWorkflow, about: "a history that needs a newer protocol", parents: []string{"workflow closes"},
			given: func(s *scene, _ *report) { s.modern() },
			poll:  func(_ *scene, p *runtime.CarriedPoll) { p.ProtocolMinor = 10 }},
		{reason: "poll_request_conflict", kind: rules.KindActivity, about: "of the other kind", worker: concurrent,
			poll: func(s *scene, p *runtime.CarriedPoll) { bind(s, p, rules.KindWorkflow) }},
		{reason: "poll_request_conflict", kind: rules.KindWorkflow, about: "of the other kind", worker: concurrent,
			poll: func(s *scene, p *runtime.CarriedPoll) { bind(s, p, rules.KindActivity) }},
		{reason: "poll_request_conflict", kind: rules.KindWorkflow, about: "of another build",
			worker: func(req *runtime.RegisterRequest) { concurrent(req); req.BuildID = "one" },
			poll:   func(s *scene, p *runtime.CarriedPoll) { bind(s, p, rules.KindWorkflow); p.BuildID = "one" }},
		{reason: "poll_request_conflict", kind: rules.KindActivity, about: "of another build",
			worker: func(req *runtime.RegisterRequest) { concurrent(req); req.BuildID = "one" },
			poll:   func(s *scene, p *runtime.CarriedPoll) { bind(s, p, rules.KindActivity); p.BuildID = "one" }},
	}
}

// testDeclines: the report stands, and apart from the answer nothing tells that it carried a poll.
func testDeclines(t *testing.T, empty Empty) {
	w := newWorld(t, empty, nil)
	seen := map[string]bool{unreachable: true}
	for _, c := range declinings() {
		seen[c.reason] = true
		for _, parent := range plainReports {
			if c.parents == nil || slices.Contains(c.parents, parent.name) {
				t.Run(strings.Join([]string{c.reason, c.kind, c.about, parent.name}, " "), func(t *testing.T) {
					same(t, alike(c.play(t, w, parent.make, false)), alike(c.play(t, w, parent.make, true)))
				})
			}
		}
	}
	for _, reason := range declineReasons {
		require.True(t, seen[reason], "no case has the reason %s", reason)
	}
}

// play sends the report in a new scene, with the poll or without it, and returns what is stored then.
func (c *declining) play(t *testing.T, w *world, make func(*scene) *report, carries bool) string {
	t.Helper()
	s := w.scene(t)
	s.how = c.worker
	r := make(s)
	if c.given != nil {
		c.given(s, r)
	}
	poll := s.carried(c.kind)
	if c.poll != nil {
		c.poll(s, poll)
	}
	if carries {
		r.carriers = runtime.Carriers{ActivityPoll: poll}
		if c.kind == rules.KindWorkflow {
			r.carriers = runtime.Carriers{WorkflowPoll: poll}
		}
	}
	if c.between != nil {
		w.store.next(func() { c.between(s) })
	}
	got := r.do()
	require.True(t, got.recorded)
	if !carries {
		require.Equal(t, answer{recorded: true}, told(got))
		return s.state()
	}
	answered := got.ActivityPoll
	if c.kind == rules.KindWorkflow {
		answered = got.WorkflowPoll
	}
	require.Equal(t, c.reason, became(answered))
	return s.state()
}

// The helpers below bring the scene into states that carried polls are declined for.

// change rewrites the registration of the scene's worker past the runtime, leaving its leases alone.
func (s *scene) change(fn func(*rules.Worker)) {
	s.t.Helper()
	worker, err := s.store.ReadWorker(s.t.Context(), namespace, s.worker())
	require.NoError(s.t, err)
	fn(&worker)
	s.apply(s, &rules.Effects{Worker: &worker})
}

func (s *scene) drain()     { s.change(func(w *rules.Worker) { w.Status = rules.WorkerDraining }) }
func (s *scene) supersede() { s.change(func(w *rules.Worker) { w.Generation++ }) }

func (s *scene) withoutTypes(kind string) {
	s.change(func(w *rules.Worker) {
		if kind == rules.KindActivity {
			w.ActivityTypes = []byte(`[]`)
		} else {
			w.WorkflowTypes = []byte(`[]`)
		}
	})
}

func (s *scene) removeWorker() {
	worker, err := s.store.ReadWorker(s.t.Context(), namespace, s.worker())
	require.NoError(s.t, err)
	s.apply(s, &rules.Effects{RemoveWorker: &worker})
}

// hold makes a task of a kind that the worker holds, with an expiry that nobody knows.
func (s *scene) hold(kind string) rules.Task {
	task := rules.Task{
		TaskID: s.ids(), RunID: s.runs[0], WorkflowID: "of-" + s.tag, Namespace: namespace, Kind: kind, TaskQueue: s.queue(),
		TypeName: workflowType, Status: rules.TaskLeased, Priority: 5, AttemptCount: 1, LeaseOwner: s.worker(), LeaseGeneration: 1,
		LeaseExpiresAt: math.MaxInt64,
	}
	s.apply(s, &rules.Effects{NewTasks: []rules.Task{task}})
	return task
}

// lapsed gives the scene's first run an activity that the worker held for too long; nobody noticed yet.
func (s *scene) lapsed() {
	s.t.Helper()
	run, err := s.store.ReadRun(s.t.Context(), s.runs[0])
	require.NoError(s.t, err)
	p := s.plot(rules.KindActivity)
	attempt := rules.Attempt{
		AttemptID: s.ids(), ExecutionID: p.act.ExecutionID, RunID: run.RunID, TaskID: p.task.TaskID, AttemptNumber: 1,
		Status: rules.AttemptRunning, LeaseOwner: s.worker(),
	}
	p.act.RunID, p.act.Status, p.act.AttemptCount, p.act.AttemptID = run.RunID, rules.ActivityRunning, 1, attempt.AttemptID
	p.task.RunID, p.task.WorkflowID, p.task.Status, p.task.AttemptCount = run.RunID, run.WorkflowID, rules.TaskLeased, 1
	p.task.LeaseOwner, p.task.LeaseGeneration, p.task.LeaseExpiresAt = s.worker(), 1, 1
	p.task.ActivityAttemptID = attempt.AttemptID
	run.OpenActivities++
	s.apply(s, &rules.Effects{
		Run: &run, RunBase: run.LastHistorySequence, NewTasks: []rules.Task{p.task}, NewActs: []rules.Activity{*p.act},
		NewTries: []rules.Attempt{attempt},
	})
}

// bound binds a poll request id to a lease of the worker, as a poll without a build would have.
func (s *scene) bound(kind, id string) {
	task := s.hold(kind)
	s.polls = append(s.polls, pollRequest{s.worker(), kind, id})
	s.apply(s, &rules.Effects{PollReceipts: []rules.PollReceipt{{
		Namespace: namespace, WorkerID: s.worker(), Kind: kind, PollRequestID: id, TaskID: task.TaskID, Attempt: 1,
		Binding: `["` + s.queue() + `","",""]`, PruneAt: math.MaxInt64,
	}}})
}

// modern makes a workflow task whose history only newer workers may read.
func (s *scene) modern() {
	s.apply(s, &rules.Effects{NewTasks: []rules.Task{{
		TaskID: s.ids(), RunID: s.runs[0], WorkflowID: "of-" + s.tag, Namespace: namespace, Kind: rules.KindWorkflow, TaskQueue: s.queue(),
		TypeName: workflowType, Status: rules.TaskReady, Priority: 5, LeaseExpiresAt: rules.Never, MinProtocol: rules.HighestHistoryFloor,
	}}})
}
