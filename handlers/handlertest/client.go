// Package handlertest drives the API in tests: a client that holds every exchange against the OpenAPI
// documents, in both directions, and a suite that runs on any store.
package handlertest

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Version headers and the versions the client sends unless told otherwise.
const (
	WorkerHeader  = "X-Durable-Workflow-Protocol-Version"
	ControlHeader = "X-Durable-Workflow-Control-Plane-Version"
	WorkerVersion = "1.20"
)

// Client sends requests to one server. The zero headers are those of an SDK that holds no token. It is
// safe for concurrent use.
type Client struct {
	t      testing.TB
	url    string
	http   *http.Client
	header http.Header
}

// Start serves a handler on a port of its own until the test ends.
func Start(t testing.TB, handler http.Handler) *Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return Dial(t, server.URL)
}

// Dial makes a client of a running server; url has no /api.
func Dial(t testing.TB, url string) *Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DisableCompression = true // the client looks at encodings itself
	transport.MaxIdleConnsPerHost = 64
	t.Cleanup(transport.CloseIdleConnections)
	return &Client{t: t, url: url, http: &http.Client{Transport: transport}, header: http.Header{}}
}

// With is a client that also sends a header with every request; "" removes it.
func (c *Client) With(name, value string) *Client {
	next := *c
	next.header = c.header.Clone()
	next.header.Set(name, value)
	return &next
}

// In is a client of another test, so that a subtest's failures are its own.
func (c *Client) In(t testing.TB) *Client {
	next := *c
	next.t = t
	return &next
}

// Option changes one request.
type Option func(*request)

type request struct {
	*http.Request
	deliberate bool
	body       []byte
}

// Deliberate marks a request that breaks the contract on purpose: only its reply is checked.
func Deliberate() Option { return func(r *request) { r.deliberate = true } }

// Header sets a header; "" removes it.
func Header(name, value string) Option {
	return func(r *request) {
		r.Header.Del(name)
		if value != "" {
			r.Header.Set(name, value)
		}
	}
}

// Do sends a request to a path below /api and checks the exchange. The body is nothing (nil), text as it is
// (string, []byte, json.RawMessage) or anything that marshals. The plane's version header is sent
// unless an option changes it.
func (c *Client) Do(method, path string, body any, options ...Option) *Reply {
	c.t.Helper()
	r := c.build(method, path, body)
	for _, option := range options {
		option(r)
	}
	response, err := c.http.Do(r.Request)
	require.NoError(c.t, err, "%s %s", method, path)
	defer func() { _ = response.Body.Close() }()
	reply := read(c.t, response)
	checkExchange(c.t, r.Request, r.body, r.deliberate, reply)
	return reply
}

// Post sends a POST.
func (c *Client) Post(path string, body any, options ...Option) *Reply {
	c.t.Helper()
	return c.Do(http.MethodPost, path, body, options...)
}

// Get sends a GET.
func (c *Client) Get(path string, options ...Option) *Reply {
	c.t.Helper()
	return c.Do(http.MethodGet, path, nil, options...)
}

func (c *Client) build(method, path string, body any) *request {
	c.t.Helper()
	var text []byte
	switch given := body.(type) {
	case nil:
	case string:
		text = []byte(given)
	case []byte:
		text = given
	case json.RawMessage:
		text = given
	default:
		var err error
		text, err = json.Marshal(given)
		require.NoError(c.t, err)
	}
	r, err := http.NewRequestWithContext(c.t.Context(), method, c.url+basePath+path, bytes.NewReader(text))
	require.NoError(c.t, err)
	r.Header.Set("Content-Type", "application/json")
	if strings.HasPrefix(path, "/worker/") {
		r.Header.Set(WorkerHeader, WorkerVersion)
	} else {
		r.Header.Set(ControlHeader, "2")
	}
	for name, values := range c.header {
		Header(name, values[0])(&request{Request: r})
	}
	return &request{Request: r, body: text}
}

// Reply is an answer, its body decompressed.
type Reply struct {
	t      testing.TB
	Status int
	Header http.Header
	Body   []byte
}

func read(t testing.TB, response *http.Response) *Reply {
	t.Helper()
	raw, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	body := io.Reader(bytes.NewReader(raw))
	switch encoding := response.Header.Get("Content-Encoding"); encoding {
	case "":
	case "gzip":
		body, err = gzip.NewReader(body)
	case "deflate":
		body, err = zlib.NewReader(body)
	default:
		t.Fatalf("the reply has the encoding %q", encoding)
	}
	require.NoError(t, err)
	text, err := io.ReadAll(body)
	require.NoError(t, err)
	return &Reply{t: t, Status: response.StatusCode, Header: response.Header, Body: text}
}

// Expect fails the test unless the reply has the status.
func (r *Reply) Expect(status int) *Reply {
	r.t.Helper()
	require.Equal(r.t, status, r.Status, "%s", r.Body)
	return r
}

// Refused fails the test unless the reply has the status and the reason.
func (r *Reply) Refused(status int, reason string) *Reply {
	r.t.Helper()
	require.Equal(r.t, status, r.Status, "%s", r.Body)
	require.Equal(r.t, reason, r.Text("reason"), "%s", r.Body)
	return r
}

// Any is the value at a dotted path (task.history_events.0.id), numbers as json.Number, nil when there is
// none.
func (r *Reply) Any(path string) any {
	r.t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(r.Body))
	decoder.UseNumber()
	var at any
	require.NoError(r.t, decoder.Decode(&at), "%s", r.Body)
	if path == "" {
		return at
	}
	for step := range strings.SplitSeq(path, ".") {
		switch value := at.(type) {
		case map[string]any:
			at = value[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i >= len(value) {
				return nil
			}
			at = value[i]
		default:
			return nil
		}
	}
	return at
}

// Has reports whether the object at the parent of a path has the member, be it null.
func (r *Reply) Has(parent, member string) bool {
	r.t.Helper()
	object, _ := r.Any(parent).(map[string]any)
	_, ok := object[member]
	return ok
}

// Text is the text at a path, "" when there is none.
func (r *Reply) Text(path string) string {
	r.t.Helper()
	text, _ := r.Any(path).(string)
	return text
}

// Int is the integer at a path; the test fails when there is none.
func (r *Reply) Int(path string) int64 {
	r.t.Helper()
	number, ok := r.Any(path).(json.Number)
	require.True(r.t, ok, "no number at %s: %s", path, r.Body)
	n, err := number.Int64()
	require.NoError(r.t, err)
	return n
}

// Is fails the test unless the member at each path has the value; numbers compare as integers.
func (r *Reply) Is(members map[string]any) *Reply {
	r.t.Helper()
	for path, want := range members {
		got := r.Any(path)
		if n, ok := want.(int); ok {
			want = json.Number(strconv.Itoa(n))
		}
		require.Equal(r.t, want, got, "%s in %s", path, r.Body)
	}
	return r
}

// Abandoned sends a request whose caller may go away; it returns once the caller has, or has an answer.
func (c *Client) Abandoned(ctx context.Context, method, path string, body any) error {
	r := c.build(method, path, body)
	response, err := c.http.Do(r.WithContext(ctx))
	if err != nil {
		return err
	}
	return response.Body.Close()
}
