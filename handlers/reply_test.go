package handlers

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"dwserver/handlers/handlertest"
	"dwserver/runtime"
	"dwserver/runtime/rules"

	"github.com/stretchr/testify/require"
)

func TestEveryWorkerReplyStartsWithTheEnvelope(t *testing.T) {
	s, err := newServer(Options{})
	require.NoError(t, err)
	want := `{"protocol_version":"1.20","server_capabilities":` + string(s.capabilities) + `,`
	engine := &fakeEngine{poll: runtime.PollResult{Status: "empty", ServerTime: 1}, history: emptyPage}
	c := edge(t, Config{}, engine)
	for operation := range requests {
		reply := send(c, operation)
		require.True(t, strings.HasPrefix(string(reply.Body), want), "%s: %.200s", operation, reply.Body)
		require.Equal(t, "1.20", reply.Header.Get(handlertest.WorkerHeader))
		require.Equal(t, "application/json", reply.Header.Get("Content-Type"))
		require.Equal(t, "Accept-Encoding", reply.Header.Get("Vary"))
	}
}

var emptyPage = runtime.HistoryPage{Budget: rules.BudgetPressure{Pressure: "ok"}}

func TestRepliesAreCompressedWhenAskedFor(t *testing.T) {
	engine := &fakeEngine{}
	c := edge(t, Config{}, engine)
	plain := send(c, "heartbeatWorker")
	require.Greater(t, len(plain.Body), compressFrom)
	for accept, want := range map[string]string{
		"gzip": "gzip", "deflate": "deflate", "gzip, deflate, br": "gzip", "deflate;q=0.5, gzip;q=0.1": "gzip", "*": "gzip",
		"br": "", "gzip;q=0": "", "gzip; q=0.0, deflate": "deflate", "GZIP": "gzip", "identity": "", "xgzip": "",
	} {
		reply := c.Post(heartbeat, `{"worker_id":"w"}`, handlertest.Header("Accept-Encoding", accept))
		require.Equal(t, want, reply.Header.Get("Content-Encoding"), accept)
		require.Equal(t, string(plain.Body), string(reply.Body), accept)
	}
	small := c.With("Accept-Encoding", "gzip").Get("/nothing").Refused(404, "not_found")
	require.Empty(t, small.Header.Get("Content-Encoding"), "a small reply stays plain")
}

func TestCompressContinuesThePrefix(t *testing.T) {
	for _, head := range []string{"", "{", strings.Repeat("prefix ", 1000)} {
		p := newPrefix([]byte(head))
		for _, rest := range []string{"}", strings.Repeat("s", storedFrom-1), strings.Repeat("t", storedFrom), strings.Repeat("rest of it ", 10_000), strings.Repeat("x", 70_000)} {
			r, err := gzip.NewReader(bytes.NewReader(p.compress("gzip", []byte(rest))))
			require.NoError(t, err)
			text, err := io.ReadAll(r) // checks sum and length
			require.NoError(t, err)
			require.Equal(t, head+rest, string(text))
			z, err := zlib.NewReader(bytes.NewReader(p.compress("deflate", []byte(rest))))
			require.NoError(t, err)
			text, err = io.ReadAll(z)
			require.NoError(t, err)
			require.Equal(t, head+rest, string(text))
		}
	}
}

func TestMarshalLeavesTextAlone(t *testing.T) {
	text, err := marshal(map[string]any{"a": "<&>", "b": json.RawMessage(`{"blob":"a+/=&"}`)})
	require.NoError(t, err)
	require.Equal(t, `{"a":"<&>","b":{"blob":"a+/=&"}}`, string(text))
}

// objectOf is the control_plane object that a reply to an operation gets.
func objectOf(t *testing.T, operation string, path map[string]string, status int, body string) (text string, object map[string]any) {
	t.Helper()
	x := &exchange{op: &operationOf{command: workflowCommands[operation]}, path: path}
	out, err := x.withControlPlane(status, []byte(body))
	require.NoError(t, err)
	var decoded map[string]any
	require.NoError(t, json.Unmarshal(out, &decoded))
	object = decoded["control_plane"].(map[string]any)
	return string(out), object
}

type operationOf = operation

func TestControlPlaneObject(t *testing.T) {
	text, object := objectOf(t, "signalWorkflowRun", map[string]string{"workflow_id": `w"1`, "run_id": "R", "signal_name": "go"}, 202,
		`{"workflow_id":"w\"1","run_id":"R","outcome":"signal_received","command_id":"C","command_status":"accepted","reason":null,`+
			`"validation_errors":[],"signal_name":"go","input":{"big":1},"command_sequence":3}`)
	require.True(t, strings.HasPrefix(text, `{"workflow_id":"w\"1","run_id":"R",`), "the body keeps its members")
	contract := object["contract"].(map[string]any)
	delete(object, "contract")
	require.Equal(t, map[string]any{
		"schema": "durable-workflow.v2.control-plane-response", "version": 1.0, "operation": "signal",
		"workflow_id": `w"1`, "run_id": "R", "operation_name": "go", "operation_name_field": "signal_name",
		"outcome": "signal_received", "command_id": "C", "command_status": "accepted", "reason": nil, "validation_errors": []any{},
	}, object)
	require.Equal(t, "durable-workflow.v2.control-plane-response.contract", contract["schema"])
	require.Equal(t, "reject_non_canonical", contract["legacy_field_policy"])
	require.Equal(t, []any{"workflow_id", "operation_name", "operation_name_field"}, contract["required_fields"])
	require.Equal(t, []any{"outcome"}, contract["success_fields"])
	require.Equal(t, map[string]any{"query": "query_name", "signal": "signal_name", "update": "update_name", "wait_policy": "wait_for"}, contract["legacy_fields"])

	// An error is filled up with the ids of the path.
	text, object = objectOf(t, "getWorkflowHistory", map[string]string{"workflow_id": "w", "run_id": "R"}, 404, `{"reason":"run_not_found","message":"No."}`)
	require.True(t, strings.HasPrefix(text, `{"reason":"run_not_found","message":"No.","workflow_id":"w","run_id":"R","control_plane":{`))
	require.Equal(t, "w", object["workflow_id"])
	require.Equal(t, "R", object["run_id"])
	require.Equal(t, "run_not_found", object["reason"])

	// A page shows its token, null at the end; events are not repeated.
	_, object = objectOf(t, "getWorkflowHistory", nil, 200, `{"workflow_id":"w","run_id":"R","events":[{"payload":{}}],"next_page_token":null}`)
	require.Contains(t, object, "next_page_token")
	require.NotContains(t, object, "events")
	_, object = objectOf(t, "updateWorkflow", nil, 200, `{"workflow_id":"w","update_id":"U","update_status":"completed","wait_for":"completed","result":1}`)
	require.Equal(t, "U", object["update_id"])
	require.Equal(t, "completed", object["wait_for"])
	require.NotContains(t, object, "result")
	_, object = objectOf(t, "queryWorkflow", nil, 200, `{"workflow_id":"w","result":{"x":[1]},"result_envelope":null}`)
	require.Equal(t, map[string]any{"x": []any{1.0}}, object["result"])
	require.Contains(t, object, "result_envelope")
	text, _ = objectOf(t, "listWorkflows", nil, 200, `{}`)
	require.True(t, strings.HasPrefix(text, `{"control_plane":{`))
}

// TestEveryContractIsWhatTheClientsCheck repeats the rules that clients enforce (control-plane.md 1.6).
func TestEveryContractIsWhatTheClientsCheck(t *testing.T) {
	for operation, command := range workflowCommands {
		require.Contains(t, commandContracts, command, operation)
	}
	for name, contract := range commandContracts {
		var decoded struct {
			Schema            string
			Version           int
			LegacyFieldPolicy string            `json:"legacy_field_policy"`
			LegacyFields      map[string]string `json:"legacy_fields"`
			RequiredFields    []string          `json:"required_fields"`
			SuccessFields     []string          `json:"success_fields"`
		}
		require.NoError(t, json.Unmarshal(contract.text, &decoded))
		require.NotEmpty(t, decoded.Schema)
		require.Positive(t, decoded.Version)
		require.NotEmpty(t, decoded.LegacyFieldPolicy)
		require.Len(t, decoded.LegacyFields, 4)
		require.NotNil(t, decoded.RequiredFields, name)
		require.NotNil(t, decoded.SuccessFields, name)
	}
}

func TestHeadersOfAnErrorBeforeTheOperation(t *testing.T) {
	c := edge(t, Config{AuthDriver: AuthToken, AuthToken: "x"}, &fakeEngine{})
	reply := c.Get("/workflows/wf-1/runs/R/history").Refused(401, "unauthorized")
	reply.Is(map[string]any{"control_plane.operation": "history"})
	reply = c.With("Authorization", "Bearer x").Get("/workflows/wf-1/runs/R/history", handlertest.Header(handlertest.ControlHeader, ""),
		handlertest.Deliberate()).Refused(400, "missing_control_plane_version")
	reply.Is(map[string]any{"control_plane.operation": "history", "control_plane.workflow_id": "wf-1", "control_plane.run_id": "R", "workflow_id": "wf-1"})
	require.Equal(t, http.StatusBadRequest, reply.Status)
}
