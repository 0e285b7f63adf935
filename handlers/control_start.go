package handlers

import (
	"crypto/sha256"
	"encoding/json"
	"net/http"

	"dwserver/gen/control"
	"dwserver/handlers/avro"
	"dwserver/runtime"
	"dwserver/runtime/rules"

	"github.com/labstack/echo/v4"
)

// Defaults of a start (control-plane.md 3).
const (
	defaultTaskQueue      = "default"
	defaultPriority       = 5
	defaultFairnessWeight = 1
)

// StartWorkflow handles POST /workflows: 201 for a new run, 200 for the open run that use-existing found.
func (s *Server) StartWorkflow(c echo.Context) error {
	x := exchangeOf(c)
	var body control.StartWorkflowRequest
	if err := x.bind(&body); err != nil {
		return err
	}
	if body.WorkflowID != nil {
		x.know("workflow_id", *body.WorkflowID)
	}
	request, err := startRequest(&body, x.namespace, s.config.Limits)
	if err != nil {
		return err
	}
	result, err := s.engine.StartWorkflow(x.context(), request)
	if err != nil {
		return x.rejected(err)
	}
	status := http.StatusCreated
	if result.Outcome == string(control.ReturnedExistingActive) {
		status = http.StatusOK
	}
	return x.reply(status, startReply(&result))
}

// startRequest turns the checked body into what the engine starts. Refusals: validation_failed,
// structural_limit_exceeded.
func startRequest(body *control.StartWorkflowRequest, namespace string, limits *rules.Limits) (runtime.StartRequest, error) {
	request := runtime.StartRequest{
		Namespace:        namespace,
		WorkflowID:       value(body.WorkflowID, ""),
		WorkflowType:     body.WorkflowType,
		TaskQueue:        value(body.TaskQueue, defaultTaskQueue),
		BusinessKey:      value(body.BusinessKey, ""),
		UseExisting:      value(body.DuplicatePolicy, control.Fail) == control.UseExisting,
		ExecutionTimeout: value(body.ExecutionTimeoutSeconds, 0),
		RunTimeout:       value(body.RunTimeoutSeconds, 0),
		Priority:         int64(value(body.Priority, defaultPriority)),
		FairnessKey:      value(body.FairnessKey, ""),
		FairnessWeight:   int64(value(body.FairnessWeight, defaultFairnessWeight)),
		Compatibility:    value(body.BuildID, value(body.Compatibility, "")),
		RequestID:        value(body.RequestID, ""),
	}
	args, err := readArguments(body.Input, limits.PayloadBytes)
	if err != nil {
		return request, err
	}
	request.Arguments = args.envelope
	if request.Memo, err = readMemo(body.Memo, limits.MemoBytes); err != nil {
		return request, err
	}
	if request.SearchAttributes, err = readAttributes(body.SearchAttributes, limits.SearchAttributeBytes); err != nil {
		return request, err
	}
	if request.RequestID != "" {
		request.BodyDigest, err = startDigest(request)
	}
	return request, err
}

// startDigest is equal for two starts that ask for the same thing, however their bodies are written.
func startDigest(request runtime.StartRequest) ([]byte, error) {
	request.RequestID = ""
	text, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	return sum[:], nil
}

func startReply(result *runtime.StartResult) *control.StartWorkflowReply {
	run := &result.Run
	return &control.StartWorkflowReply{
		WorkflowID: run.WorkflowID, RunID: run.RunID, WorkflowType: run.WorkflowType, Namespace: run.Namespace,
		Status: control.RunStatus(run.Status), BusinessKey: orNil(run.BusinessKey), PayloadCodec: avro.Codec,
		Outcome:       control.StartWorkflowReplyOutcome(result.Outcome),
		CommandStatus: control.StartWorkflowReplyCommandStatusAccepted, CommandSource: commandSource,
	}
}
