package handlers

import (
	"net/http"
	"time"

	"dwserver/gen/worker"
	"dwserver/runtime"

	"github.com/labstack/echo/v4"
)

// PollWorkflowTask is POST /worker/workflow-tasks/poll (worker-plane.md 5.1).
func (s *Server) PollWorkflowTask(c echo.Context) error {
	x := exchangeOf(c)
	var in worker.PollWorkflowTaskRequest
	if err := x.bind(&in); err != nil {
		return err
	}
	request := runtime.PollRequest{
		Namespace: x.namespace, WorkerID: in.WorkerID, TaskQueue: in.TaskQueue, BuildID: value(in.BuildID, ""),
		PollRequestID: value(in.PollRequestID, ""), Timeout: pollTimeout(in.TimeoutSeconds),
		HistoryPageSize: int64(value(in.HistoryPageSize, 0)), ProtocolMinor: x.minor,
	}
	for _, kind := range in.TaskKinds {
		request.TaskKinds = append(request.TaskKinds, string(kind))
	}
	x.knowPoll(&request)
	result, err := s.worker.PollWorkflowTask(x.context(), request)
	if err != nil {
		return err
	}
	return x.replyJSON(http.StatusOK, workflowPollAnswer(&result))
}

// knowPoll records what the errors of a poll repeat.
func (x *exchange) knowPoll(r *runtime.PollRequest) {
	x.know("worker_id", r.WorkerID)
	x.know("task_queue", r.TaskQueue)
	if r.PollRequestID != "" {
		x.know("poll_request_id", r.PollRequestID)
	}
}

// pollTimeout is how long a poll asked to be held; negative leaves it to the server.
func pollTimeout(asked *int) time.Duration {
	return time.Duration(value(asked, -1)) * time.Second
}
