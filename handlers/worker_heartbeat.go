package handlers

import (
	"net/http"

	"dwserver/gen/worker"
	"dwserver/runtime"

	"github.com/labstack/echo/v4"
)

// HeartbeatWorker is POST /worker/heartbeat (worker-plane.md 4.3).
func (s *Server) HeartbeatWorker(c echo.Context) error {
	x := exchangeOf(c)
	var in worker.HeartbeatWorkerRequest
	if err := x.bind(&in); err != nil {
		return err
	}
	x.know("worker_id", in.WorkerID)
	body := x.doc.Root()
	if _, refused := processIdentity(body.Member("process_metrics")); refused != nil {
		return refused
	}
	_, err := s.worker.HeartbeatWorker(x.context(), runtime.HeartbeatWorkerRequest{
		Namespace: x.namespace, WorkerID: in.WorkerID, TaskSlots: rawObject(body, "task_slots"),
		ProcessMetrics:    rawObject(body, "process_metrics"),
		HeartbeatInterval: int64(value(in.HeartbeatIntervalSeconds, 0)),
	})
	if err != nil {
		return err
	}
	return x.reply(http.StatusOK, worker.HeartbeatWorkerReply{
		WorkerID: in.WorkerID, Acknowledged: true, HeartbeatIntervalSeconds: seconds(s.config.HeartbeatInterval),
		StaleAfterSeconds: ptr(seconds(s.config.WorkerStaleAfter)),
	})
}
