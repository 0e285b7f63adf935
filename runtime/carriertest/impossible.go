package carriertest

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"dwserver/runtime"
	"dwserver/runtime/rules"
)

// An impossible is stored state that the runtime never makes, in the way of a carried poll.
type impossible struct {
	name   string
	kind   string // of the carried poll
	reason string // of a refusal; "" for a fault
	// plant makes the state and answers how to put it right.
	plant func(s *scene, r *report) (repair func())
}

// testImpossible: what does not add up is a fault of the whole report, never a decline, and the report is
// recorded once as soon as it is put right.
func testImpossible(t *testing.T, empty Empty) {
	w := newWorld(t, empty, nil)
	for _, kind := range anyKind {
		s := w.scene(t)
		s.how = concurrent
		r := plainReports[1].make(s).carry(kind == rules.KindActivity, kind == rules.KindWorkflow)
		s.plant(s.plot(kind))
		got := r.do()
		require.Equal(t, "leased", became(got.ActivityPoll)+became(got.WorkflowPoll), "what is planted is sound as such")
	}
	for _, c := range append(append(brokenActivities(), brokenWorkflows()...), brokenWorkers()...) {
		for _, parent := range plainReports[1:3] {
			t.Run(c.name+" "+parent.name, func(t *testing.T) { c.play(t, w.scene(t), parent.make) })
		}
	}
}

func (c *impossible) play(t *testing.T, s *scene, make func(*scene) *report) {
	s.how = concurrent
	r := make(s)
	repair := c.plant(s, r.carry(c.kind == rules.KindActivity, c.kind == rules.KindWorkflow))
	before := s.state()
	_, err := r.send(t.Context(), r)
	if c.reason == "" {
		isFault(t, err)
	} else {
		var refusal *runtime.Refusal
		require.ErrorAs(t, err, &refusal)
		require.Equal(t, c.reason, refusal.Reason)
	}
	same(t, before, s.state())
	require.Equal(t, rules.TaskLeased, s.stored(r.task).Status)
	require.Equal(t, s.worker(), s.stored(r.task).LeaseOwner)
	repair()
	require.True(t, r.do().recorded)
	require.False(t, r.do().recorded)
}

// plot is a run with one task in front of all others, each row of which a case can break.
type plot struct {
	run    rules.Run
	input  *rules.RunInput
	events []rules.Event
	act    *rules.Activity
	task   rules.Task
}

func (s *scene) plot(kind string) *plot {
	run := rules.Run{
		RunID: s.ids(), WorkflowID: s.name("planted"), Namespace: namespace, RunNumber: 1, WorkflowType: workflowType,
		TaskQueue: s.queue(), Status: rules.RunWaiting, ExecutionDeadlineAt: rules.Never, RunDeadlineAt: rules.Never,
		DeadlineAt: rules.Never, LastHistorySequence: 1,
	}
	p := &plot{run: run, input: &rules.RunInput{RunID: run.RunID, Arguments: payload("AAAA")},
		events: []rules.Event{{RunID: run.RunID, Sequence: 1, EventID: s.ids(), EventType: "ActivityScheduled", Payload: []byte(`{"activity":{}}`)}}}
	p.task = rules.Task{
		TaskID: s.ids(), RunID: run.RunID, WorkflowID: run.WorkflowID, Namespace: namespace, Kind: kind, TaskQueue: s.queue(),
		TypeName: workflowType, Status: rules.TaskReady, LeaseExpiresAt: rules.Never, Payload: []byte(`{}`),
	}
	if kind == rules.KindActivity {
		p.task.TypeName = activityType
		p.act = &rules.Activity{
			ExecutionID: s.ids(), RunID: run.RunID, Namespace: namespace, Sequence: 1, ActivityType: activityType, TaskQueue: s.queue(),
			Status: rules.ActivityPending, TaskID: p.task.TaskID, ScheduledEvent: 1, ScheduleDeadlineAt: rules.Never,
			ScheduleToCloseAt: rules.Never, CloseDeadlineAt: rules.Never, HeartbeatDeadlineAt: rules.Never, NextDeadlineAt: rules.Never,
		}
		p.task.ActivityExecutionID = p.act.ExecutionID
	}
	return p
}

// plant stores the plot; the repair takes its task out of the way.
func (s *scene) plant(p *plot) func() {
	eff := &rules.Effects{NewRuns: []rules.Run{p.run}, Events: p.events, NewTasks: []rules.Task{p.task}}
	if p.input != nil {
		eff.NewInputs = []rules.RunInput{*p.input}
	}
	if p.act != nil {
		eff.NewActs = []rules.Activity{*p.act}
	}
	s.apply(s, eff)
	return func() {
		p.task.Status = rules.TaskCancelled
		s.apply(s, &rules.Effects{Tasks: []rules.Task{p.task}})
	}
}

// planted is a case that breaks a plot.
func planted(name, kind, reason string, breaks func(*plot)) impossible {
	return impossible{name, kind, reason, func(s *scene, _ *report) func() {
		p := s.plot(kind)
		breaks(p)
		return s.plant(p)
	}}
}

func brokenActivities() []impossible {
	kind := rules.KindActivity
	return []impossible{
		planted("a task without its activity", kind, "", func(p *plot) { p.act = nil }),
		planted("a retry policy that is cut", kind, "", func(p *plot) { p.act.RetryPolicy = []byte(`{"max_att`) }),
		planted("a retry policy of another shape", kind, "", func(p *plot) { p.act.RetryPolicy = []byte(`{"max_attempts":"two"}`) }),
		planted("a parallel group that is cut", kind, "", func(p *plot) { p.act.Parallel = []byte(`{"parallel_gr`) }),
		planted("an activity without its event", kind, "", func(p *plot) { p.act.ScheduledEvent = 7 }),
		planted("an event that is cut", kind, "", func(p *plot) { p.events[0].Payload = []byte(`{"activity":{"arg`) }),
		planted("a task payload that is cut", kind, "", func(p *plot) { p.task.Payload = []byte(`{"activity`) }),
		planted("a history that is full", kind, "history_sequence_exhausted", func(p *plot) { p.run.LastHistorySequence = math.MaxInt64 }),
		{"a receipt without its task", kind, "", strayReceipt},
	}
}

func brokenWorkflows() []impossible {
	kind := rules.KindWorkflow
	return []impossible{
		planted("a run without its input", kind, "", func(p *plot) { p.input = nil }),
		planted("arguments that are cut", kind, "", func(p *plot) { p.input.Arguments = []byte(`{"codec`) }),
		planted("an event that is cut", kind, "", func(p *plot) { p.events[0].Payload = []byte(`{"activity":{"arg`) }),
		planted("a task payload that is cut", kind, "", func(p *plot) { p.task.Payload = []byte(`{"resume`) }),
		planted("a task that resumes on no event", kind, "", func(p *plot) { p.task.Payload = []byte(`{"signal_event_sequence":9}`) }),
		{"a receipt without its task", kind, "", strayReceipt},
	}
}

// strayReceipt binds the carried poll to a task that does not exist.
func strayReceipt(s *scene, r *report) func() {
	poll := s.polls[len(s.polls)-1]
	receipt := rules.PollReceipt{
		Namespace: namespace, WorkerID: poll.worker, Kind: poll.kind, PollRequestID: poll.id, TaskID: s.ids(), Attempt: 1,
	}
	s.apply(s, &rules.Effects{PollReceipts: []rules.PollReceipt{receipt}})
	return func() {
		stray := receipt
		receipt.TaskID = r.task
		s.apply(s, &rules.Effects{DropReceipts: []rules.PollReceipt{stray}, PollReceipts: []rules.PollReceipt{receipt}})
	}
}

func brokenWorkers() (list []impossible) {
	for _, kind := range anyKind {
		for name, field := range map[string]func(*rules.Worker) *[]byte{
			"types":        func(w *rules.Worker) *[]byte { return types(w, kind) },
			"capabilities": func(w *rules.Worker) *[]byte { return &w.Capabilities },
		} {
			list = append(list, impossible{"registered " + name + " that are cut, " + kind, kind, "", func(s *scene, _ *report) func() {
				var kept []byte
				s.change(func(w *rules.Worker) { kept = *field(w); *field(w) = []byte(`["a`) })
				return func() { s.change(func(w *rules.Worker) { *field(w) = kept }) }
			}})
		}
	}
	return list
}

func types(w *rules.Worker, kind string) *[]byte {
	if kind == rules.KindActivity {
		return &w.ActivityTypes
	}
	return &w.WorkflowTypes
}
