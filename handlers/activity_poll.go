package handlers

import (
	"net/http"

	"dwserver/gen/worker"
	"dwserver/runtime"
	"dwserver/runtime/rules"

	"github.com/labstack/echo/v4"
)

// PollActivityTask is POST /worker/activity-tasks/poll (worker-plane.md 6.1).
func (s *Server) PollActivityTask(c echo.Context) error {
	x := exchangeOf(c)
	var in worker.PollActivityTaskRequest
	if err := x.bind(&in); err != nil {
		return err
	}
	queue := value(in.TaskQueue, "")
	if queue == "" && len(in.TaskQueues) == 1 {
		queue = in.TaskQueues[0]
	}
	if queue == "" {
		return rules.Invalid("task_queue", "The task_queue field is required.")
	}
	request := runtime.PollRequest{
		Namespace: x.namespace, WorkerID: in.WorkerID, TaskQueue: queue, BuildID: value(in.BuildID, ""),
		PollRequestID: value(in.PollRequestID, ""), Timeout: pollTimeout(in.TimeoutSeconds), ProtocolMinor: x.minor,
	}
	x.knowPoll(&request)
	result, err := s.worker.PollActivityTask(x.context(), request)
	if err != nil {
		return err
	}
	return x.replyJSON(http.StatusOK, activityPollAnswer(&result))
}
