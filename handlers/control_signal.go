package handlers

import (
	"net/http"
	"strconv"
	"strings"

	"dwserver/gen/control"
	"dwserver/runtime"
	"dwserver/runtime/rules"

	"github.com/labstack/echo/v4"
)

// maxOperationName bounds the names of signals, queries and updates, in bytes.
const maxOperationName = 256

// SignalWorkflow handles POST /workflows/{workflow_id}/signal/{signal_name}.
func (s *Server) SignalWorkflow(c echo.Context, _ control.WorkflowID, _ control.SignalName) error {
	return exchangeOf(c).signal()
}

// SignalWorkflowRun handles POST /workflows/{workflow_id}/runs/{run_id}/signal/{signal_name}.
func (s *Server) SignalWorkflowRun(c echo.Context, _ control.WorkflowID, _ control.RunID, _ control.SignalName) error {
	return exchangeOf(c).signal()
}

// signal sends a signal: 202 when it was recorded, 200 for a preview.
func (x *exchange) signal() error {
	name, err := operationName("signal_name", x.path["signal_name"])
	if err != nil {
		return err
	}
	x.path["signal_name"] = name
	x.know("signal_name", name)
	var body control.SignalRequest
	if err := x.bindCommand(&body); err != nil {
		return err
	}
	args, err := readArguments(body.Input, x.s.config.Limits.PayloadBytes)
	if err != nil {
		return x.unlessMissing(err)
	}
	result, err := x.s.engine.SignalWorkflow(x.context(), runtime.SignalRequest{
		Target: x.target(), Name: name, Arguments: args.envelope, ArgumentCount: args.count,
		RequestID: value(body.RequestID, ""), BodyDigest: digest(args.envelope), DryRun: value(body.DryRun, false),
	})
	if err != nil {
		return x.rejected(err)
	}
	if result.Preview {
		return x.reply(http.StatusOK, signalPreview(name, args.count, &result.Run))
	}
	return x.reply(http.StatusAccepted, signalReply(name, &result))
}

// operationName is a signal's, query's or update's name without blanks around it. Control characters
// were refused with the path.
func operationName(field, text string) (string, error) {
	name := strings.TrimSpace(text)
	if name == "" || len(name) > maxOperationName {
		return "", rules.Invalid(field, "The "+field+" must be 1 to "+strconv.Itoa(maxOperationName)+" bytes long.")
	}
	return name, nil
}

func signalReply(name string, result *runtime.CommandResult) *control.SignalReply {
	m := commandReply(&result.Command, &result.Run)
	return &control.SignalReply{
		WorkflowID: m.WorkflowID, RunID: m.RunID, ResolvedRunID: m.ResolvedRunID, SignalName: name,
		CommandID: &m.CommandID, CommandSequence: m.CommandSequence,
		TargetScope: control.SignalReplyTargetScopeInstance, WorkflowType: m.WorkflowType,
		CommandStatus: control.SignalReplyCommandStatusAccepted, CommandSource: commandSource,
		Outcome: control.SignalReceived, Reason: m.Reason, RejectionReason: m.RejectionReason,
		ValidationErrors: m.ValidationErrors,
	}
}

// signalPreview answers a dry run: the signal would be accepted, and nothing was recorded.
func signalPreview(name string, count int, run *rules.Run) *control.SignalReply {
	preview := rules.NewObject(128).Str("signal_name", name).Int("argument_count", int64(count)).
		Str("run_id", run.RunID).Str("run_status", run.Status).Bytes()
	return &control.SignalReply{
		WorkflowID: run.WorkflowID, RunID: orNil(run.RunID), ResolvedRunID: orNil(run.RunID), SignalName: name,
		TargetScope: control.SignalReplyTargetScopeInstance, WorkflowType: orNil(run.WorkflowType),
		CommandStatus: control.SignalReplyCommandStatusPreview, CommandSource: commandSource,
		Outcome: control.SignalPreview, ValidationErrors: emptyList, Preview: preview,
	}
}
