package handlertest

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"

	"dwserver/openapi"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/stretchr/testify/require"
)

const basePath = "/api"

// contract finds the operation of a request in one of the two documents.
type contract struct {
	routes []route
}

type route struct {
	*routers.Route
	path  *regexp.Regexp // on the encoded path
	names []string
}

var contracts = sync.OnceValues(func() (*contract, error) {
	c := &contract{}
	for _, document := range [][]byte{openapi.WorkerProtocol, openapi.ControlPlane} {
		doc, err := openapi3.NewLoader().LoadFromData(document)
		if err != nil {
			return nil, err
		}
		c.add(doc)
	}
	return c, nil
})

var parameter = regexp.MustCompile(`\{([^}]+)\}`)

func (c *contract) add(doc *openapi3.T) {
	for path, item := range doc.Paths.Map() {
		pattern := regexp.MustCompile("^" + basePath + parameter.ReplaceAllString(path, "([^/]*)") + "$")
		var names []string
		for _, match := range parameter.FindAllStringSubmatch(path, -1) {
			names = append(names, match[1])
		}
		for method, operation := range item.Operations() {
			c.routes = append(c.routes, route{path: pattern, names: names, Route: &routers.Route{
				Spec: doc, Path: path, PathItem: item, Method: method, Operation: operation}})
		}
	}
}

// find is the operation a request names, and its decoded path parameters. Fixed paths come before
// patterns that match them as well.
func (c *contract) find(method string, u *url.URL) (found *route, params map[string]string) {
	for i := range c.routes {
		r := &c.routes[i]
		match := r.path.FindStringSubmatch(u.EscapedPath())
		if r.Method != method || match == nil || (found != nil && len(found.names) <= len(r.names)) {
			continue
		}
		found, params = r, map[string]string{}
		for j, name := range r.names {
			params[name], _ = url.PathUnescape(match[j+1])
		}
	}
	return found, params
}

var validation = &openapi3filter.Options{
	AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, SkipSettingDefaults: true,
	IncludeResponseStatus: true, MultiError: true,
}

// checkExchange holds a request and its reply against the document. A deliberately bad request is not
// checked, its reply is.
func checkExchange(t testing.TB, r *http.Request, body []byte, deliberate bool, reply *Reply) {
	t.Helper()
	c, err := contracts()
	require.NoError(t, err)
	found, params := c.find(r.Method, r.URL)
	if found == nil {
		checkUnrouted(t, r, reply)
		return
	}
	r = r.Clone(t.Context())
	r.Body = http.NoBody
	if body != nil {
		r.Body = readCloser{bytes.NewReader(body)}
	}
	input := &openapi3filter.RequestValidationInput{Request: r, PathParams: params, Route: found.Route, Options: validation,
		QueryParams: r.URL.Query()}
	if !deliberate {
		require.NoError(t, openapi3filter.ValidateRequest(t.Context(), input), "the request breaks the contract: %s %s", r.Method, r.URL.Path)
	}
	if !strings.HasPrefix(reply.Header.Get("Content-Type"), "application/json") {
		return
	}
	output := &openapi3filter.ResponseValidationInput{RequestValidationInput: input, Status: reply.Status, Header: reply.Header,
		Options: validation}
	output.SetBodyBytes(reply.Body)
	require.NoError(t, openapi3filter.ValidateResponse(t.Context(), output), "the reply breaks the contract: %s %s → %d %s",
		r.Method, r.URL.Path, reply.Status, reply.Body)
}

// checkUnrouted checks the least that is promised where the document has no operation.
func checkUnrouted(t testing.TB, r *http.Request, reply *Reply) {
	t.Helper()
	var members map[string]any
	require.NoError(t, json.Unmarshal(reply.Body, &members), "%s %s: %s", r.Method, r.URL.Path, reply.Body)
	require.NotEmpty(t, members["reason"])
	require.NotEmpty(t, members["message"])
}

type readCloser struct{ *bytes.Reader }

func (readCloser) Close() error { return nil }
