package handlers

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"dwserver/handlers/handlertest"
	"dwserver/runtime"

	"github.com/stretchr/testify/require"
)

const heartbeat = "/worker/heartbeat"

// everyWrong is a request that every check would refuse; each case repairs one more of its faults and
// meets the next check.
func TestChecksAreMadeInOrder(t *testing.T) {
	engine := &fakeEngine{}
	c := edgeWith(t, Options{
		Config:  Config{AuthDriver: AuthToken, WorkerToken: "w", OperatorToken: "o", MaxRequestBytes: 64},
		Blocked: func() []string { return blockedBy },
	}, engine)
	blockedBy = []string{"schema"}
	t.Cleanup(func() { blockedBy = nil })
	long, broken, invalid := `{"x":"`+strings.Repeat("y", 80)+`"}`, `{"worker_id":`, `{}`
	body, header := long, map[string]string{"Content-Type": "text/plain", "Authorization": "", handlertest.WorkerHeader: "", "X-Namespace": "nowhere"}
	for _, step := range []struct {
		status int
		reason string
		repair func()
	}{
		{413, "payload_too_large", func() { body = broken }},
		{415, "unsupported_media_type", func() { header["Content-Type"] = "application/json" }},
		{400, "malformed_json", func() { body = invalid }},
		{401, "unauthorized", func() { header["Authorization"] = "Bearer o" }},
		{403, "forbidden", func() { header["Authorization"] = "Bearer w" }},
		{400, "missing_protocol_version", func() { header[handlertest.WorkerHeader] = "1.21" }},
		{400, "unsupported_protocol_version", func() { header[handlertest.WorkerHeader] = "1.20" }},
		{503, "workflow_v2_blocked", func() { blockedBy = nil }},
		{404, "namespace_not_found", func() { header["X-Namespace"] = "default" }},
		{422, "validation_failed", func() { body = `{"worker_id":"w1"}` }},
	} {
		options := []handlertest.Option{handlertest.Deliberate()}
		for name, value := range header {
			options = append(options, handlertest.Header(name, value))
		}
		reply := c.Post(heartbeat, body, options...).Refused(step.status, step.reason)
		require.Equal(t, "1.20", reply.Header.Get(handlertest.WorkerHeader))
		require.Equal(t, reply.Text("error"), reply.Text("message"))
		require.Empty(t, engine.calls, "nothing ran")
		step.repair()
	}
	c.Post(heartbeat, body, handlertest.Header("Authorization", "Bearer w")).Expect(200)
}

var blockedBy []string

func TestErrorsOfTheEdgeCarryTheirMembers(t *testing.T) {
	c := edge(t, Config{AuthDriver: AuthToken, WorkerToken: "w", OperatorToken: "o", MaxRequestBytes: 100, MaxCompletionBytes: 200}, &fakeEngine{})
	w := c.With("Authorization", "Bearer w")
	bad := handlertest.Deliberate()

	w.Post(heartbeat, `{"x":"`+strings.Repeat("y", 100)+`"}`, bad).Refused(413, "payload_too_large").
		Is(map[string]any{"limit": 100, "limit_kind": "request_bytes"})
	w.Post("/worker/workflow-tasks/T/complete", `{"x":"`+strings.Repeat("y", 200)+`"}`, bad).Refused(413, "payload_too_large").
		Is(map[string]any{"limit": 200, "limit_kind": "workflow_task_completion_bytes"})
	w.Post(heartbeat, `{}`, bad, handlertest.Header("Content-Type", "text/plain")).Refused(415, "unsupported_media_type").
		Is(map[string]any{"accepted_content_types": []any{"application/json", "application/*+json"}})
	c.Post(heartbeat, `{}`, bad, handlertest.Header("Authorization", "Bearer o")).Refused(403, "forbidden").
		Is(map[string]any{"role": "operator", "allowed_roles": []any{"worker"}})
	require.Equal(t, "Bearer", c.Post(heartbeat, `{}`, bad).Refused(401, "unauthorized").Header.Get("WWW-Authenticate"))
	w.Post(heartbeat, `{}`, bad, handlertest.Header(handlertest.WorkerHeader, "2.0")).Refused(400, "unsupported_protocol_version").
		Is(map[string]any{"supported_version": "1.20", "requested_version": "2.0"})
	require.True(t, w.Post(heartbeat, `{}`, bad, handlertest.Header(handlertest.WorkerHeader, "")).
		Refused(400, "missing_protocol_version").Has("", "requested_version"))
	w.Post(heartbeat, `{}`, bad, handlertest.Header("X-Namespace", "Nowhere")).Refused(404, "namespace_not_found").
		Is(map[string]any{"namespace": "nowhere"})
	w.Post(heartbeat, `{"worker_id":7,"task_slots":[1]}`, bad).Refused(422, "validation_failed").
		Is(map[string]any{"errors.worker_id.0": "The worker_id field must be a string.",
			"validation_errors.task_slots.0": "The task_slots field must be an object."})
	o := c.With("Authorization", "Bearer o")
	o.Post("/workflows", `{`, bad).Refused(400, "malformed_json").Is(map[string]any{"json_error": "syntax error at byte 1"})
	o.Get("/workflows", bad, handlertest.Header(handlertest.ControlHeader, "1")).Refused(400, "unsupported_control_plane_version").
		Is(map[string]any{"supported_version": "2", "requested_version": "1"})
	o.Get("/workflows", bad, handlertest.Header(handlertest.ControlHeader, "")).Refused(400, "missing_control_plane_version")
}

func TestVersionsAreComparedAsIntegers(t *testing.T) {
	for version, ok := range map[string]bool{
		"1.0": true, "1.9": true, "1.10": true, "1.20": true, "1.020": true,
		"1.21": false, "1.100": false, "0.9": false, "2.0": false, "1": false, "1.": false, ".1": false, "1.2.3": false,
		"1.x": false, "+1.2": false, "1.+2": false, " 1.2": false, "-1.2": false, "1.99999999999999999999": false, "": false,
	} {
		minor, got := workerPlane.accepts(version)
		require.Equal(t, ok, got, version)
		if version == "1.10" {
			require.Equal(t, int64(10), minor)
		}
	}
	for version, ok := range map[string]bool{"2": true, "2.0": false, "02": false, "3": false, "": false} {
		_, got := controlPlane.accepts(version)
		require.Equal(t, ok, got, version)
	}
}

func TestBodiesThatAreNotJSON(t *testing.T) {
	engine := &fakeEngine{}
	c := edge(t, Config{}, engine)
	bad := handlertest.Deliberate()
	for name, body := range map[string]string{
		"cut off": `{"worker_id":`, "trailing": `{} {}`, "not UTF-8": "{\"worker_id\":\"\xff\"}", "overlong": "{\"worker_id\":\"\xc0\xaf\"}",
		"lone surrogate": `{"worker_id":"\ud800"}`, "raw control": "{\"worker_id\":\"a\x01\"}", "blank": "   ",
		"deep":      strings.Repeat(`{"a":`, 10_000) + "1" + strings.Repeat("}", 10_000),
		"deep list": strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000),
	} {
		t.Run(name, func(t *testing.T) {
			c.In(t).Post(heartbeat, body, bad).Refused(400, "malformed_json")
		})
	}
	for name, body := range map[string]string{"NUL": `{"worker_id":"a\u0000"}`, "big": `{"worker_id":"w","x":18446744073709551616}`,
		"number": `7`, "text": `"x"`, "list": `[{}]`} {
		t.Run(name, func(t *testing.T) {
			c.In(t).Post(heartbeat, body, bad).Refused(422, "validation_failed")
		})
	}
	require.Empty(t, engine.calls)
}

func TestMediaTypes(t *testing.T) {
	c := edge(t, Config{}, &fakeEngine{})
	body := `{"worker_id":"w1"}`
	for kind, ok := range map[string]bool{
		"application/json": true, "application/json; charset=utf-8": true, "application/json;charset=UTF-8": true,
		"APPLICATION/JSON": true, "application/vnd.api+json": true, "application/problem+json; q=1": true,
		"": false, "text/json": false, "application/json; charset=latin1": false, "application/jsonp": false,
		"multipart/form-data": false, "application/+xml": false, ";": false,
	} {
		reply := c.Post(heartbeat, body, handlertest.Deliberate(), handlertest.Header("Content-Type", kind))
		if ok {
			require.Equal(t, 200, reply.Status, kind)
		} else {
			require.Equal(t, 415, reply.Status, kind)
		}
	}
	c.Post(heartbeat, body, handlertest.Deliberate(), handlertest.Header("Content-Encoding", "gzip")).Refused(415, "unsupported_media_type")
	c.Post(heartbeat, body, handlertest.Header("Content-Encoding", "identity")).Expect(200)
	// Without a body there is nothing to have a type.
	c.Do("DELETE", "/worker/registrations/w1", nil, handlertest.Header("Content-Type", "text/plain")).Expect(200)
	c.Do("DELETE", "/worker/registrations/w1", `[]`, handlertest.Deliberate()).Expect(200)
}

func TestABodyOfUnknownLengthIsLimited(t *testing.T) {
	s, err := newServer(Options{Config: Config{MaxRequestBytes: 10}})
	require.NoError(t, err)
	for text, ok := range map[string]bool{`{"a":1234}`: true, `{"a":12345}`: false} {
		r, err := http.NewRequestWithContext(t.Context(), "POST", "/", struct{ *bytes.Reader }{bytes.NewReader([]byte(text))})
		require.NoError(t, err)
		r.ContentLength = -1
		r.Header.Set("Content-Type", "application/json")
		body, err := readBody(r, s.config.MaxRequestBytes, "request_bytes")
		require.Equal(t, ok, err == nil, text)
		require.Equal(t, ok, string(body) == text)
	}
}

// TestATooLargeBodyIsAnswered: a client that sends all of it before it listens still gets the refusal, and its
// connection is good for the next request (R85).
func TestATooLargeBodyIsAnswered(t *testing.T) {
	s, err := newServer(Options{Config: Config{MaxRequestBytes: 1000}, Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	e, err := s.routes()
	require.NoError(t, err)
	server := httptest.NewServer(e)
	defer server.Close()
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	require.NoError(t, err)
	defer conn.Close()
	in := bufio.NewReader(conn)
	const size = 8 << 20
	head := "POST /api" + heartbeat + " HTTP/1.1\r\nHost: h\r\nX-Durable-Workflow-Protocol-Version: 1.20\r\nContent-Type: application/json\r\n"
	for _, length := range []string{fmt.Sprintf("Content-Length: %d\r\n\r\n", size), fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n", size)} {
		_, err = io.WriteString(conn, head+length)
		require.NoError(t, err)
		_, err = conn.Write(make([]byte, size))
		require.NoError(t, err)
		if strings.Contains(length, "chunked") {
			_, err = io.WriteString(conn, "\r\n0\r\n\r\n")
			require.NoError(t, err)
		}
		reply, err := http.ReadResponse(in, nil)
		require.NoError(t, err)
		_, err = io.Copy(io.Discard, reply.Body)
		require.NoError(t, err)
		require.NoError(t, reply.Body.Close())
		require.Equal(t, 413, reply.StatusCode)
	}
	_, err = io.WriteString(conn, head+"Expect: 100-continue\r\nContent-Length: 5000\r\n\r\n")
	require.NoError(t, err)
	reply, err := http.ReadResponse(in, nil)
	require.NoError(t, err)
	require.NoError(t, reply.Body.Close())
	require.Equal(t, 413, reply.StatusCode, "not told to go on")
}

func TestUnknownRoutesAnswerInTheirPlane(t *testing.T) {
	c := edge(t, Config{}, &fakeEngine{})
	for _, path := range []string{"/worker/nothing", "/worker/", "/worker/workflow-tasks/T/nothing", "/worker/register/"} {
		reply := c.Post(path, nil).Refused(404, "not_found")
		require.Equal(t, "1.20", reply.Text("protocol_version"))
		require.NotNil(t, reply.Any("server_capabilities"))
	}
	for _, path := range []string{"/nothing", "/workflows/a/b/c", "/workers", ""} {
		reply := c.Get(path).Refused(404, "not_found")
		require.Equal(t, "2", reply.Header.Get(handlertest.ControlHeader))
		require.False(t, reply.Has("", "protocol_version"))
	}
	reply := c.Get("/worker/register").Refused(405, "method_not_allowed")
	require.Equal(t, "1.20", reply.Text("protocol_version"))
	require.Contains(t, reply.Header.Get("Allow"), "POST")
	c.Do("PUT", "/workflows", nil).Refused(405, "method_not_allowed")
}

func TestNamespaceIsResolved(t *testing.T) {
	engine := &fakeEngine{}
	c := edge(t, Config{DefaultNamespace: "default"}, engine)
	body := `{"worker_id":"w1"}`
	for _, tc := range []struct{ header, query, want string }{
		{"", "", "default"}, {"Other", "", "other"}, {"", "?namespace=OTHER", "other"}, {"other", "?namespace=default", "other"},
		{"", "?namespace=", "default"},
	} {
		c.Post(heartbeat+tc.query, body, handlertest.Header("X-Namespace", tc.header)).Expect(200)
		require.Equal(t, tc.want, engine.last.(runtime.HeartbeatWorkerRequest).Namespace)
	}
	for _, name := range []string{"nowhere", strings.Repeat("n", 200), "a%00b", "\xff"} {
		c.Post(heartbeat, body, handlertest.Header("X-Namespace", name)).Refused(404, "namespace_not_found")
	}
	c.Post(heartbeat+"?namespace=%00", body).Refused(404, "namespace_not_found")
}

func TestPathParametersAreDecodedOnce(t *testing.T) {
	engine := &fakeEngine{}
	c := edge(t, Config{}, engine)
	for path, want := range map[string]string{
		"plain": "plain", "a%2Fb": "a/b", "a%25b": "a%b", "a%252Fb": "a%2Fb", "a%2541": "a%41", "%F0%9F%98%80": "😀", "😀": "😀",
		"a+b": "a+b", "a%20b": "a b", "%61": "a", "100%25%2F": "100%/", "a;b": "a;b", strings.Repeat("x", 256): strings.Repeat("x", 256),
	} {
		c.Do("DELETE", "/worker/registrations/"+path, nil).Expect(200).Is(map[string]any{"worker_id": want})
		require.Equal(t, want, engine.last)
	}
	engine.calls = nil
	for _, path := range []string{"%FF", "a%00b", "a%09b", "a%0A", "%C0%AF", "%ED%A0%80"} {
		c.Do("DELETE", "/worker/registrations/"+path, nil, handlertest.Deliberate()).Refused(422, "validation_failed").
			Is(map[string]any{"errors.worker_id.0": "The worker_id must be text without control characters."})
	}
	c.Post("/worker/workflow-tasks//complete", "{}", handlertest.Deliberate()).Refused(422, "validation_failed").
		Is(map[string]any{"errors.task_id.0": "The task_id is required.", "validation_errors.task_id.0": "The task_id is required."})
	require.Empty(t, engine.calls)
}
