package carriertest

import (
	"context"

	"github.com/stretchr/testify/require"

	"dwserver/runtime"
	"dwserver/runtime/rules"
)

// report is a completion or failure that can be sent, and sent again. Every scene has one.
type report struct {
	scene    *scene
	carriers runtime.Carriers
	next     *runtime.Continuation
	send     func(ctx context.Context, r *report) (answer, error)
	task     string // the task that is reported on
	run      string
	kind     string // of the task
}

// answer is what the answers to all reports have in common.
type answer struct {
	recorded bool
	runtime.CarriedAnswers
	next *runtime.ContinuationAnswer
	last int64 // last_history_sequence of a workflow-task completion
}

// do sends a report that must succeed.
func (r *report) do() answer {
	r.scene.t.Helper()
	got, err := r.send(r.scene.t.Context(), r)
	require.NoError(r.scene.t, err)
	return got
}

// carry adds polls to the report.
func (r *report) carry(activity, workflow bool) *report {
	if activity {
		r.carriers.ActivityPoll = r.scene.carried(rules.KindActivity)
	}
	if workflow {
		r.carriers.WorkflowPoll = r.scene.carried(rules.KindWorkflow)
	}
	return r
}

// carried is a poll of the scene's worker to be carried; its receipt becomes part of the scene's state.
func (s *scene) carried(kind string) *runtime.CarriedPoll {
	poll := s.poll()
	s.polls = append(s.polls, pollRequest{poll.WorkerID, kind, poll.PollRequestID})
	return &runtime.CarriedPoll{PollRequest: poll}
}

func digest(of string) []byte { return []byte("digest of " + of) }

// workflowReport completes a leased workflow task.
func (s *scene) workflowReport(task *runtime.WorkflowTaskAnswer, commands ...rules.WorkflowCommand) *report {
	fence := runtime.WorkflowFence{
		Namespace: namespace, TaskID: task.Task.TaskID, LeaseOwner: s.worker(), Attempt: task.Task.AttemptCount,
	}
	return &report{
		scene: s, task: task.Task.TaskID, run: task.Run.RunID, kind: rules.KindWorkflow,
		send: func(ctx context.Context, r *report) (answer, error) {
			got, err := s.CompleteWorkflowTask(ctx, runtime.CompleteWorkflowTaskRequest{
				WorkflowFence: fence, Commands: commands, BodyDigest: digest("commands"), ProtocolMinor: minor, Carriers: r.carriers,
			})
			return answer{recorded: got.Recorded, CarriedAnswers: got.CarriedAnswers, last: got.LastHistorySequence}, err
		},
	}
}

func (s *scene) activityFence(task *runtime.ActivityTaskAnswer) runtime.ActivityFence {
	return runtime.ActivityFence{
		Namespace: namespace, TaskID: task.Task.TaskID, AttemptID: task.Attempt.AttemptID, LeaseOwner: s.worker(),
	}
}

// activityReport completes a leased activity.
func (s *scene) activityReport(task *runtime.ActivityTaskAnswer) *report {
	fence := s.activityFence(task)
	return &report{
		scene: s, task: task.Task.TaskID, run: task.Run.RunID, kind: rules.KindActivity,
		send: func(ctx context.Context, r *report) (answer, error) {
			got, err := s.CompleteActivity(ctx, runtime.CompleteActivityRequest{
				ActivityFence: fence, Result: payload("BBBB"), ResultSize: s.size, BodyDigest: digest("result"),
				Carriers: r.carriers, Continuation: r.next,
			})
			return answer{recorded: got.Recorded, CarriedAnswers: got.CarriedAnswers, next: got.Continuation}, err
		},
	}
}

// failureReport fails a leased activity, for good unless the scene says otherwise.
func (s *scene) failureReport(task *runtime.ActivityTaskAnswer) *report {
	fence := s.activityFence(task)
	return &report{
		scene: s, task: task.Task.TaskID, run: task.Run.RunID, kind: rules.KindActivity,
		send: func(ctx context.Context, r *report) (answer, error) {
			got, err := s.FailActivity(ctx, runtime.FailActivityRequest{
				ActivityFence: fence, Failure: rules.ActivityFailureReport{Message: "no", Type: "E", NonRetryable: !s.retried}, BodyDigest: digest("failure"),
				Carriers: r.carriers,
			})
			return answer{recorded: got.Recorded, CarriedAnswers: got.CarriedAnswers}, err
		},
	}
}

// continues adds what the workflow does next, after the last event that the activity task showed.
func (r *report) continues(task *runtime.ActivityTaskAnswer, commands ...rules.WorkflowCommand) *report {
	r.next = &runtime.Continuation{
		RunID: task.Run.RunID, BaseHistorySequence: task.Run.LastHistorySequence, Commands: commands,
		BodyDigest: digest("commands"), ProtocolMinor: minor,
	}
	return r
}

func ptr[T any](v T) *T { return &v }

// schedule schedules an activity that may be tried again.
func schedule() rules.WorkflowCommand {
	return rules.WorkflowCommand{
		Type: "schedule_activity", ActivityType: ptr(activityType), Arguments: payload("CCCC"),
		RetryPolicy: &rules.RetryPolicy{MaxAttempts: ptr(int64(2)), BackoffSeconds: []int64{1}}, StartToCloseTimeout: ptr(int64(600)),
	}
}

func finish() rules.WorkflowCommand {
	return rules.WorkflowCommand{Type: "complete_workflow", Result: payload("DDDD")}
}

// leased is a new run whose first workflow task the scene's worker holds.
func (s *scene) leased() *runtime.WorkflowTaskAnswer {
	s.t.Helper()
	s.start()
	return s.pollWorkflow()
}

// running is a new run with one activity, which the scene's worker holds.
func (s *scene) running() *runtime.ActivityTaskAnswer {
	s.t.Helper()
	s.workflowReport(s.leased(), schedule()).do()
	return s.pollActivity()
}
