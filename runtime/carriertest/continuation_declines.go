package carriertest

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"dwserver/runtime"
	"dwserver/runtime/rules"
)

// continuationReasons is the closed set of carried-polls.md 6.
var continuationReasons = []string{
	"history_moved", "task_open", "not_resuming", "pending_command", "command_not_eligible", "invalid_commands", "budget",
	"worker_not_eligible", "registration_fenced",
}

// A discontinued continuation is one that is not granted.
type discontinued struct {
	reason   string
	about    string
	worker   func(*runtime.RegisterRequest)
	running  func(s *scene) *runtime.ActivityTaskAnswer // nil for one activity
	commands []rules.WorkflowCommand                    // nil for one activity
	change   func(c *runtime.Continuation)
	between  func(s *scene) // happens between admission and the transaction
}

func discontinuations() (list []discontinued) {
	for _, part := range [][]discontinued{movedHistories(), busyRuns(), badCommands(), tooMuch(), badWorkers()} {
		list = append(list, part...)
	}
	return list
}

func movedHistories() []discontinued {
	return []discontinued{
		{reason: "history_moved", about: "a signal came", between: func(s *scene) { s.signal() }},
		{reason: "history_moved", about: "another run", change: func(c *runtime.Continuation) { c.RunID = "another" }},
		{reason: "history_moved", about: "a base before the task", change: func(c *runtime.Continuation) { c.BaseHistorySequence = 2 }},
		{reason: "history_moved", about: "a base that is not there yet", change: func(c *runtime.Continuation) { c.BaseHistorySequence = 5 }},
		{reason: "history_moved", about: "no base", change: func(c *runtime.Continuation) { c.BaseHistorySequence = -1 }},
		{reason: "history_moved", about: "another activity started", running: func(s *scene) *runtime.ActivityTaskAnswer {
			first, _ := s.two()
			return first
		}},
	}
}

func busyRuns() []discontinued {
	return []discontinued{
		{reason: "task_open", about: "ready", running: func(s *scene) *runtime.ActivityTaskAnswer { return s.afterAnother() }},
		{reason: "task_open", about: "leased", running: func(s *scene) *runtime.ActivityTaskAnswer {
			second := s.afterAnother()
			s.pollWorkflow()
			return second
		}},
		{reason: "pending_command", about: "a signal", running: func(s *scene) *runtime.ActivityTaskAnswer {
			task := s.running()
			s.signal()
			task.Run.LastHistorySequence++
			return task
		}},
		{reason: "not_resuming", about: "a group's barrier", running: func(s *scene) *runtime.ActivityTaskAnswer {
			s.workflowReport(s.leased(), grouped(0), grouped(1)).do()
			return s.pollActivity()
		}},
		{reason: "not_resuming", about: "a result that is too large fails", running: func(s *scene) *runtime.ActivityTaskAnswer {
			s.size = 3 << 20
			return s.running()
		}},
	}
}

func badCommands() []discontinued {
	return []discontinued{
		{reason: "command_not_eligible", about: "a wait", commands: []rules.WorkflowCommand{{Type: "open_signal_wait", SignalName: ptr("go")}}},
		{reason: "command_not_eligible", about: "a local activity", commands: []rules.WorkflowCommand{{Type: "record_local_activity"}}},
		{reason: "command_not_eligible", about: "a group", commands: []rules.WorkflowCommand{grouped(0), grouped(1)}},
		{reason: "invalid_commands", about: "a broken member", change: func(c *runtime.Continuation) { *c = runtime.Continuation{Invalid: true} }},
		{reason: "invalid_commands", about: "no type", commands: []rules.WorkflowCommand{{Type: "schedule_activity"}}},
		{reason: "invalid_commands", about: "two ends", commands: []rules.WorkflowCommand{finish(), finish()}},
		{reason: "invalid_commands", about: "a gate", commands: []rules.WorkflowCommand{
			{Type: "schedule_activity", ActivityType: ptr(activityType), WorkerSession: []byte(`{"id":"x"}`)}}},
	}
}

func tooMuch() []discontinued {
	many := make([]rules.WorkflowCommand, 1001)
	for i := range many {
		many[i] = rules.WorkflowCommand{Type: "record_side_effect", Result: payload("EEEE")}
	}
	large := schedule()
	large.Arguments = payload(strings.Repeat("AAAA", 1<<20))
	return []discontinued{
		{reason: "budget", about: "too many commands", commands: many},
		{reason: "budget", about: "a payload that is too large", commands: []rules.WorkflowCommand{large}},
		{reason: "budget", about: "too many activities", commands: []rules.WorkflowCommand{schedule(), schedule(), schedule(), schedule()}},
	}
}

func badWorkers() []discontinued {
	changed := func(fn func(*rules.Worker)) func(s *scene) *runtime.ActivityTaskAnswer {
		return func(s *scene) *runtime.ActivityTaskAnswer {
			task := s.running()
			s.change(fn)
			return task
		}
	}
	rerun := func(fn func(*rules.Run)) func(s *scene) *runtime.ActivityTaskAnswer {
		return func(s *scene) *runtime.ActivityTaskAnswer {
			task := s.running()
			run, err := s.store.ReadRun(s.t.Context(), task.Run.RunID)
			require.NoError(s.t, err)
			fn(&run)
			s.apply(s, &rules.Effects{Run: &run, RunBase: run.LastHistorySequence})
			return task
		}
	}
	return []discontinued{
		{reason: "worker_not_eligible", about: "not of the type", running: changed(func(w *rules.Worker) { w.WorkflowTypes = []byte(`["other"]`) })},
		{reason: "worker_not_eligible", about: "draining", running: changed(func(w *rules.Worker) { w.Status = rules.WorkerDraining })},
		{reason: "worker_not_eligible", about: "stale", running: changed(func(w *rules.Worker) { w.LastSeenAt -= 61 * time.Second.Microseconds() })},
		{reason: "worker_not_eligible", about: "of another queue", running: changed(func(w *rules.Worker) { w.TaskQueue = "elsewhere" })},
		{reason: "worker_not_eligible", about: "of another build", running: rerun(func(r *rules.Run) { r.Compatibility = "build" })},
		{reason: "worker_not_eligible", about: "of an old protocol", change: func(c *runtime.Continuation) { c.ProtocolMinor = 10 },
			running: rerun(func(r *rules.Run) { r.MinProtocol = rules.HighestHistoryFloor })},
		{reason: "worker_not_eligible", about: "of another definition", worker: defined,
			running: changed(func(w *rules.Worker) { w.Fingerprints = []byte(`{"` + workflowType + `":"two"}`) })},
		{reason: "worker_not_eligible", about: "gone", running: func(s *scene) *runtime.ActivityTaskAnswer {
			task := s.running()
			s.removeWorker()
			return task
		}},
		{reason: "worker_not_eligible", about: "drained meanwhile", between: (*scene).drain},
		{reason: "registration_fenced", about: "replaced meanwhile", between: (*scene).supersede},
		{reason: "registration_fenced", about: "gone meanwhile", between: (*scene).removeWorker},
	}
}

// testContinuationDeclines: the activity's outcome stands, and a declined continuation leaves exactly what a
// completion without one leaves; the polls that ride along are granted all the same.
func testContinuationDeclines(t *testing.T, empty Empty) {
	limits := rules.DefaultLimits()
	limits.PendingActivities = 3
	w := newWorld(t, empty, func(opt *runtime.Options) { opt.Limits = &limits })
	seen := map[string]bool{}
	for _, c := range discontinuations() {
		seen[c.reason] = true
		for _, carries := range []bool{false, true} {
			name := c.reason + " " + c.about
			if carries {
				name += ", with a poll"
			}
			t.Run(name, func(t *testing.T) {
				bare, bareState := c.play(w.scene(t), false, carries)
				got, state := c.play(w.scene(t), true, carries)
				require.Nil(t, bare.next)
				require.Equal(t, c.reason, wentOn(got.next))
				require.Equal(t, became(bare.WorkflowPoll), became(got.WorkflowPoll))
				same(t, bareState, state)
			})
		}
	}
	for _, reason := range continuationReasons {
		require.True(t, seen[reason], "no case has the reason %s", reason)
	}
	require.Len(t, seen, len(continuationReasons))
}

// wentOn is what became of a continuation, in a word.
func wentOn(a *runtime.ContinuationAnswer) string {
	switch {
	case a == nil:
		return ""
	case a.Decline == nil:
		return "accepted"
	}
	return a.Decline.Reason()
}

// play sends the report in a scene, with the continuation or without it.
func (c *discontinued) play(s *scene, continues, carries bool) (answer, string) {
	s.t.Helper()
	s.how = c.worker
	s.register(nil)
	running, commands := c.running, c.commands
	if running == nil {
		running = (*scene).running
	}
	if commands == nil {
		commands = []rules.WorkflowCommand{schedule()}
	}
	task := running(s)
	r := s.activityReport(task).carry(false, carries)
	if continues {
		r.continues(task, commands...)
		if c.change != nil {
			c.change(r.next)
		}
	}
	if c.between != nil {
		s.store.next(func() { c.between(s) })
	}
	got := r.do()
	require.True(s.t, got.recorded)
	return got, alike(s.state())
}

// The helpers below bring the scene's first run into states that continuations are declined for.

func (s *scene) signal() {
	s.t.Helper()
	run, err := s.store.ReadRun(s.t.Context(), s.runs[0])
	require.NoError(s.t, err)
	_, err = s.SignalWorkflow(s.t.Context(), runtime.SignalRequest{
		Target: runtime.Target{Namespace: namespace, WorkflowID: run.WorkflowID}, Name: "go", Arguments: payload("GGGG"), ArgumentCount: 1,
	})
	require.NoError(s.t, err)
}

// two are two activities of one run, both held.
func (s *scene) two() (first, second *runtime.ActivityTaskAnswer) {
	s.workflowReport(s.leased(), schedule(), schedule()).do()
	return s.pollActivity(), s.pollActivity()
}

// afterAnother is an activity of a run that another activity has woken; it shows the run as it is.
func (s *scene) afterAnother() *runtime.ActivityTaskAnswer {
	first, second := s.two()
	s.activityReport(first).do()
	second.Run.LastHistorySequence++
	return second
}

// grouped schedules one of a group of two activities.
func grouped(index int64) rules.WorkflowCommand {
	c := schedule()
	c.ParallelGroupID, c.ParallelGroupKind = ptr("parallel-activities:1:2"), ptr("activity")
	c.ParallelGroupBaseSequence, c.ParallelGroupSize, c.ParallelGroupIndex = ptr(int64(1)), ptr(int64(2)), ptr(index)
	return c
}
