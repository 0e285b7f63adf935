package runner

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"dwserver/openapi"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
)

const (
	workerVersionHeader  = "X-Durable-Workflow-Protocol-Version"
	controlVersionHeader = "X-Durable-Workflow-Control-Plane-Version"
)

// operation is one operation of a contract.
type operation struct {
	route  *routers.Route
	worker bool // of the worker plane
}

// contract finds operations and judges exchanges by the OpenAPI documents.
type contract struct {
	operations map[string]operation // by operationId
	versions   map[string]string    // document name to info.version
}

// loadContract reads the documents once for the process; nothing changes them.
var loadContract = sync.OnceValues(func() (*contract, error) {
	c := &contract{operations: map[string]operation{}, versions: map[string]string{}}
	for name, text := range map[string][]byte{
		"worker-protocol": openapi.WorkerProtocol, "control-plane": openapi.ControlPlane,
	} {
		doc, err := openapi3.NewLoader().LoadFromData(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		c.versions[name] = doc.Info.Version
		for path, item := range doc.Paths.Map() {
			for method, op := range item.Operations() {
				c.operations[op.OperationID] = operation{worker: name == "worker-protocol",
					route: &routers.Route{Spec: doc, Path: path, PathItem: item, Method: method, Operation: op}}
			}
		}
	}
	return c, nil
})

// address is the path of a call below /api, its ids percent-encoded.
func (o operation) address(ids map[string]any) (string, error) {
	path := o.route.Path
	for name, id := range ids {
		placeholder := "{" + name + "}"
		if !strings.Contains(path, placeholder) {
			return "", fmt.Errorf("%s has no %s", o.route.Path, name)
		}
		path = strings.ReplaceAll(path, placeholder, url.PathEscape(fmt.Sprint(id)))
	}
	if strings.Contains(path, "{") {
		return "", fmt.Errorf("%s: an id is missing", path)
	}
	return path, nil
}

// options of the judge: tokens are not its business, and format words are not checked.
func options() *openapi3filter.Options {
	return &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc,
		IncludeResponseStatus: true, SkipSettingDefaults: true}
}

// judge validates an exchange: the request unless it breaks the schema on
// purpose, and always the answer.
func (o operation) judge(ctx context.Context, x *exchange) error {
	request, err := http.NewRequestWithContext(ctx, x.method, x.url, bytes.NewReader(x.sent))
	if err != nil {
		return err
	}
	request.Header = x.header
	input := &openapi3filter.RequestValidationInput{Request: request, PathParams: x.ids, Route: o.route,
		QueryParams: request.URL.Query(), Options: options()}
	if !x.outside {
		if err := openapi3filter.ValidateRequest(ctx, input); err != nil {
			return fmt.Errorf("the request breaks its schema (say \"outside\" if it is meant to): %w", short(err))
		}
	}
	err = openapi3filter.ValidateResponse(ctx, &openapi3filter.ResponseValidationInput{
		RequestValidationInput: input, Status: x.status, Header: x.answerHeader,
		Body: io.NopCloser(bytes.NewReader(x.received)), Options: options()})
	if err != nil {
		return fmt.Errorf("the answer breaks its schema: %w", short(err))
	}
	return nil
}

// short keeps the sentence of a schema error and drops the printed schema.
func short(err error) error {
	text, _, _ := strings.Cut(err.Error(), "\nSchema:")
	return fmt.Errorf("%s", strings.TrimSpace(text))
}
