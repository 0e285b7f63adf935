package handlers

import (
	"net/http"

	"dwserver/gen/worker"

	"github.com/labstack/echo/v4"
)

// DeregisterWorker is DELETE /worker/registrations/{worker_id} (worker-plane.md 4.2).
func (s *Server) DeregisterWorker(c echo.Context, workerID worker.WorkerID) error {
	x := exchangeOf(c)
	x.know("worker_id", workerID)
	if err := x.valid(); err != nil {
		return err
	}
	recovered, err := s.worker.Deregister(x.context(), x.namespace, workerID)
	if err != nil {
		return err
	}
	return x.reply(http.StatusOK, worker.DeregisterWorkerReply{
		WorkerID: workerID, Outcome: worker.DeregisterWorkerReplyOutcomeDeregistered, RecoveredWorkflowTaskCount: recovered,
	})
}

// DeregisterWorkerFenced is POST /worker/registrations/{worker_id}/deregister (worker-plane.md 4.2).
func (s *Server) DeregisterWorkerFenced(c echo.Context, workerID worker.WorkerID) error {
	x := exchangeOf(c)
	x.know("worker_id", workerID)
	var in worker.DeregisterWorkerFencedRequest
	if err := x.bind(&in); err != nil {
		return err
	}
	x.know("registration_token", in.RegistrationToken)
	recovered, err := s.worker.DeregisterFenced(x.context(), x.namespace, workerID, in.RegistrationToken)
	if err != nil {
		return err
	}
	return x.reply(http.StatusOK, worker.DeregisterWorkerFencedReply{
		WorkerID: workerID, RegistrationToken: in.RegistrationToken,
		Outcome: worker.DeregisterWorkerFencedReplyOutcomeDeregistered, RecoveredWorkflowTaskCount: recovered,
	})
}
