package handlers

import (
	"encoding/json"
	"slices"
	"strings"

	"dwserver/handlers/jsondoc"
)

// workflowCommands maps operations to their name in the control_plane object (control-plane.md 1.6).
// The run-targeted forms share the name.
var workflowCommands = map[string]string{
	"listWorkflows": "list", "startWorkflow": "start", "describeWorkflow": "describe",
	"listWorkflowRuns": "list_runs", "describeWorkflowRun": "describe_run", "getWorkflowHistory": "history",
	"listRunActivities": "list_activities",
	"debugWorkflow":     "debug_workflow", "debugWorkflowRun": "debug_workflow",
	"signalWorkflow": "signal", "signalWorkflowRun": "signal",
	"queryWorkflow": "query", "queryWorkflowRun": "query",
	"updateWorkflow": "update", "updateWorkflowRun": "update",
	"cancelWorkflow": "cancel", "cancelWorkflowRun": "cancel",
	"terminateWorkflow": "terminate", "terminateWorkflowRun": "terminate",
	"repairWorkflow": "repair", "repairWorkflowRun": "repair",
	"archiveWorkflow": "archive", "archiveWorkflowRun": "archive",
}

// commandContract is what the control_plane object of one operation promises.
type commandContract struct {
	required []string
	success  []string
	text     json.RawMessage // the contract member
}

var (
	named            = []string{"workflow_id", "operation_name", "operation_name_field"}
	commandContracts = map[string]*commandContract{
		"list":            {},
		"start":           {success: []string{"workflow_id", "outcome"}},
		"describe":        {required: []string{"workflow_id"}},
		"list_runs":       {required: []string{"workflow_id"}},
		"describe_run":    {required: []string{"workflow_id"}, success: []string{"run_id"}},
		"list_activities": {required: []string{"workflow_id"}, success: []string{"run_id", "next_page_token"}},
		"debug_workflow":  {required: []string{"workflow_id"}, success: []string{"run_id", "diagnostic_status"}},
		"history":         {required: []string{"workflow_id", "run_id"}, success: []string{"next_page_token"}},
		"signal":          {required: named, success: []string{"outcome"}},
		"query":           {required: named, success: []string{"result", "result_envelope"}},
		"update":          {required: named, success: []string{"outcome"}},
		"cancel":          {required: []string{"workflow_id"}, success: []string{"outcome"}},
		"terminate":       {required: []string{"workflow_id"}, success: []string{"outcome"}},
		"repair":          {required: []string{"workflow_id"}, success: []string{"outcome"}},
		"archive":         {required: []string{"workflow_id"}, success: []string{"outcome"}},
	}
	// copied are the body's members that the control_plane object repeats; update_* and wait_* as well.
	copied = []string{"workflow_id", "run_id", "status", "status_bucket", "run_status", "is_terminal", "namespace",
		"task_queue", "next_page_token", "command_id", "command_status", "command_source", "target_scope", "outcome",
		"reason", "rejection_reason", "validation_errors", "message", "remediation", "blocked_reason",
		"declared_signals", "signal_admission", "diagnostic_status", "retryable", "error_id"}
)

func init() {
	for name, contract := range commandContracts {
		contract.text = contract.encode(name)
	}
}

func (c *commandContract) encode(name string) json.RawMessage {
	rejections := []string{"reason", "message"}
	switch name {
	case "signal", "update", "cancel", "terminate", "repair", "archive", "start":
		rejections = append(rejections, "outcome", "command_status", "rejection_reason")
	}
	text, err := marshal(map[string]any{
		"schema": "durable-workflow.v2.control-plane-response.contract", "version": 1,
		"legacy_field_policy": "reject_non_canonical",
		"legacy_fields": map[string]string{"query": "query_name", "signal": "signal_name", "update": "update_name",
			"wait_policy": "wait_for"},
		"required_fields": orEmpty(c.required), "success_fields": orEmpty(c.success),
		"rejection_fields": rejections,
	})
	if err != nil {
		panic(err) //nolint:forbidigo // a constant that does not encode
	}
	return text
}

func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// withControlPlane appends the control_plane object to a workflow reply. Ids of the path are filled in
// where an error's body lacks them.
func (x *exchange) withControlPlane(status int, text []byte) ([]byte, error) {
	contract := commandContracts[x.op.command]
	doc, err := jsondoc.Parse(text, 1)
	if err != nil {
		return nil, err
	}
	defer doc.Release()
	var object, missing objectWriter
	object.text("schema", "durable-workflow.v2.control-plane-response")
	object.raw("version", []byte("1"))
	object.text("operation", x.op.command)
	if field, name := x.operationName(); field != "" {
		object.text("operation_name", name)
		object.text("operation_name_field", field)
	}
	for _, id := range []string{"workflow_id", "run_id"} {
		if value, ok := x.path[id]; ok && doc.Root().Member(id).IsZero() {
			object.text(id, value)
			missing.text(id, value)
		}
	}
	doc.Root().Each(func(_ int, name string, value jsondoc.Value) bool {
		isResult := name == "result" || name == "result_envelope"
		if isResult && status < 400 && slices.Contains(contract.success, name) || isCopied(name) {
			object.raw(name, value.Raw())
		}
		return true
	})
	object.raw("contract", contract.text)
	missing.raw("control_plane", object.bytes())
	return spliceTail(text, missing.members()), nil
}

// operationName is the path parameter that names a signal, query or update.
func (x *exchange) operationName() (field, name string) {
	for _, field := range []string{"signal_name", "query_name", "update_name"} {
		if name, ok := x.path[field]; ok {
			return field, name
		}
	}
	return "", ""
}

func isCopied(name string) bool {
	return slices.Contains(copied, name) || strings.HasPrefix(name, "update_") || strings.HasPrefix(name, "wait_")
}

// spliceTail adds members before an object's closing brace.
func spliceTail(object, members []byte) []byte {
	out := make([]byte, 0, len(object)+len(members)+1)
	out = append(out, object[:len(object)-1]...)
	if len(object) > len("{}") {
		out = append(out, ',')
	}
	out = append(out, members...)
	return append(out, '}')
}
