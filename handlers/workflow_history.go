package handlers

import (
	"encoding/base64"
	"net/http"
	"strconv"

	"dwserver/gen/worker"
	"dwserver/runtime"
	"dwserver/runtime/rules"

	"github.com/labstack/echo/v4"
)

// GetWorkflowTaskHistory is POST /worker/workflow-tasks/{task_id}/history (worker-plane.md 5.2).
func (s *Server) GetWorkflowTaskHistory(c echo.Context, taskID worker.TaskID) error {
	x := exchangeOf(c)
	x.know("task_id", taskID)
	var in worker.WorkflowTaskHistoryRequest
	if err := x.bind(&in); err != nil {
		return err
	}
	x.know("workflow_task_attempt", in.WorkflowTaskAttempt)
	after, ok := readPageToken(in.NextHistoryPageToken)
	if !ok {
		return rules.Refuse("invalid_page_token", "The history page token is not one of this server.")
	}
	page, err := s.worker.WorkflowTaskHistory(x.context(), runtime.WorkflowHistoryRequest{
		WorkflowFence: x.workflowFence(taskID, in.LeaseOwner, in.WorkflowTaskAttempt),
		After:         after, PageSize: int64(value(in.HistoryPageSize, 0)),
	})
	if err != nil {
		return err
	}
	return x.replyJSON(http.StatusOK, historyAnswer(taskID, in.WorkflowTaskAttempt, &page))
}

func (x *exchange) workflowFence(taskID, owner string, attempt int64) runtime.WorkflowFence {
	x.leaseOwner = owner
	return runtime.WorkflowFence{Namespace: x.namespace, TaskID: taskID, LeaseOwner: owner, Attempt: attempt}
}

// pageToken is the token of the page after a sequence; "" after the last page.
func pageToken(after int64) string {
	if after <= 0 {
		return ""
	}
	return base64.StdEncoding.EncodeToString(strconv.AppendInt(nil, after, 10))
}

// readPageToken is the sequence that a token names.
func readPageToken(token string) (after int64, ok bool) {
	text, err := base64.StdEncoding.DecodeString(token)
	if err != nil {
		return 0, false
	}
	after, err = strconv.ParseInt(string(text), 10, 64)
	return after, err == nil && after >= 0
}
