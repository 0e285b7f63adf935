package carriertest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"dwserver/runtime"
	"dwserver/runtime/rules"
)

// steps are what a workflow may do next in a continuation.
var steps = []struct {
	name     string
	commands []rules.WorkflowCommand
	granted  string // what becomes of the activity poll that rides along
	status   string // of the run afterwards
}{
	{"nothing", nil, "empty", rules.RunWaiting},
	{"an activity", []rules.WorkflowCommand{schedule()}, "leased", rules.RunWaiting},
	{"several commands", []rules.WorkflowCommand{
		{Type: "record_version_marker", ChangeID: ptr("change"), Version: ptr(int64(1)), MinSupported: ptr(int64(0)), MaxSupported: ptr(int64(2))},
		{Type: "record_side_effect", Result: payload("EEEE")}, schedule(), {Type: "start_timer", DelaySeconds: ptr(int64(60))}, schedule(),
	}, "leased", rules.RunWaiting},
	{"a timer", []rules.WorkflowCommand{{Type: "start_timer", DelaySeconds: ptr(int64(60))}}, "empty", rules.RunWaiting},
	{"the end", []rules.WorkflowCommand{finish()}, "empty", rules.RunCompleted},
	{"an activity that the end settles", []rules.WorkflowCommand{schedule(), finish()}, "empty", rules.RunCompleted},
	{"a failure", []rules.WorkflowCommand{{Type: "fail_workflow", Message: ptr("no")}}, "empty", rules.RunFailed},
	{"a new run", []rules.WorkflowCommand{{Type: "continue_as_new", Arguments: payload("FFFF")}}, "empty", rules.RunCompleted},
}

// testContinuedStep: a step that is continued is one write transaction and leaves what it leaves in three
// requests, ids and clocks apart.
func testContinuedStep(t *testing.T, empty Empty) {
	t.Run("counted", func(t *testing.T) { newProbedWorld(t, empty).continuedSteps(t) })
	t.Run("as in production", func(t *testing.T) { newWorld(t, empty, nil).continuedSteps(t) })
}

func (w *world) continuedSteps(t *testing.T) {
	for _, step := range steps {
		for _, more := range []bool{false, true} {
			name := step.name
			if more {
				name += ", others open"
			}
			t.Run(name, func(t *testing.T) {
				s := w.scene(t)
				task := s.stepping(more)
				s.activityReport(task).do()
				r := s.workflowReport(s.pollWorkflow(), step.commands...).carry(true, false)
				got := r.do()
				granted := became(got.ActivityPoll)
				if !more {
					require.Equal(t, step.granted, granted)
				}
				want, last := alike(s.state()), got.last

				s = w.scene(t)
				task = s.stepping(more)
				r = s.activityReport(task).continues(task, step.commands...).carry(true, false)
				ran := w.probe.during(nil, func() { got = r.do() })
				if w.probe != nil {
					require.Equal(t, 1, ran.transactions())
				}
				require.Equal(t, granted, became(got.ActivityPoll))
				same(t, want, alike(s.state()))
				s.checkContinued(got.next, step.status, last)
				s.repeatContinued(r, got.next, step.commands)
				same(t, want, alike(s.state()))
			})
		}
	}
}

// stepping is an activity whose result the workflow waits for; with more, other things are open too.
func (s *scene) stepping(more bool) *runtime.ActivityTaskAnswer {
	s.register(nil)
	commands := []rules.WorkflowCommand{schedule()}
	if more {
		commands = append(commands, schedule(), rules.WorkflowCommand{Type: "start_timer", DelaySeconds: ptr(int64(3600))})
	}
	s.workflowReport(s.leased(), commands...).do()
	return s.pollActivity()
}

// checkContinued holds the answer to a continuation against what is stored.
func (s *scene) checkContinued(got *runtime.ContinuationAnswer, status string, last int64) {
	s.t.Helper()
	require.Nil(s.t, got.Decline)
	require.Equal(s.t, status, got.RunStatus)
	require.EqualValues(s.t, 1, got.Attempt)
	require.Equal(s.t, last, got.LastHistorySequence)
	require.Len(s.t, s.history(s.runs[0]), int(last))
	task := s.stored(got.TaskID)
	require.Equal(s.t, s.worker(), task.LeaseOwner)
	for _, id := range got.CreatedTaskIDs {
		if task, err := s.store.ReadTask(s.t.Context(), id); err == nil { // timers only name theirs
			require.Contains(s.t, []string{rules.TaskReady, rules.TaskLeased, rules.TaskCancelled}, task.Status)
		}
	}
}

// repeatContinued repeats the report, and the completion that the continuation stood for: both are answered
// from the record.
func (s *scene) repeatContinued(r *report, got *runtime.ContinuationAnswer, commands []rules.WorkflowCommand) {
	s.t.Helper()
	require.Equal(s.t, answer{}, r.do())
	again, err := s.CompleteWorkflowTask(s.t.Context(), runtime.CompleteWorkflowTaskRequest{
		WorkflowFence: runtime.WorkflowFence{Namespace: namespace, TaskID: got.TaskID, LeaseOwner: s.worker(), Attempt: 1},
		Commands:      commands, BodyDigest: digest("commands"), ProtocolMinor: minor,
	})
	require.NoError(s.t, err)
	require.False(s.t, again.Recorded)
	require.Equal(s.t, s.runs[0], again.RunID)
}
