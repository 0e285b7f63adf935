package handlers

import (
	"net/http"

	"dwserver/gen/worker"
	"dwserver/runtime"

	"github.com/labstack/echo/v4"
)

// PollQueryTask is POST /worker/query-tasks/poll (worker-plane.md 5.9).
func (s *Server) PollQueryTask(c echo.Context) error {
	x := exchangeOf(c)
	var in worker.PollQueryTaskRequest
	if err := x.bind(&in); err != nil {
		return err
	}
	request := runtime.PollRequest{
		Namespace: x.namespace, WorkerID: in.WorkerID, TaskQueue: in.TaskQueue,
		PollRequestID: value(in.PollRequestID, ""), Timeout: pollTimeout(in.TimeoutSeconds), ProtocolMinor: x.minor,
	}
	x.knowPoll(&request)
	result, err := s.worker.PollQueryTask(x.context(), request)
	if err != nil {
		return err
	}
	var out objectWriter
	out.text("poll_status", result.Status)
	out.raw("task", nil)
	out.stopReason(result.Status)
	return x.replyJSON(http.StatusOK, out.bytes())
}
