package handlers

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"dwserver/handlers/schema"

	"github.com/getkin/kin-openapi/openapi3"
)

// basePath is where both planes are served.
const basePath = "/api"

// operation is what the edge has to know of one route before its handler runs. It is compiled once
// from the OpenAPI document and the access rules.
type operation struct {
	id     string // operationId
	method string
	path   string // as in the document
	plane  *plane

	open            bool // no token, version or namespace: health, readiness, the documents
	optionalVersion bool
	gated           bool // needs a database whose schema is ready
	namespaced      bool // the namespace has to exist
	roles           []string

	bodyLimit int64
	limitKind string
	body      *schema.Schema // nil: a body is read, checked as JSON and ignored
	params    *schema.Params

	command string // name in the control_plane object, "" outside workflow operations
}

// operations are all operations of a document by method and echo path.
type operations map[string]*operation

var pathParameter = regexp.MustCompile(`\{([^}]+)\}`)

func echoPath(path string) string { return pathParameter.ReplaceAllString(path, ":$1") }

// compile reads an OpenAPI document.
func (ops operations) compile(document []byte, p *plane, c Config) error {
	doc, err := openapi3.NewLoader().LoadFromData(document)
	if err != nil {
		return fmt.Errorf("handlers: the OpenAPI document does not load: %w", err)
	}
	compiler := schema.NewCompiler()
	for path, item := range doc.Paths.Map() {
		for method, spec := range item.Operations() {
			op := newOperation(p, method, path, spec.OperationID, c)
			if op.params, err = compiler.CompileParams(item.Parameters, spec.Parameters); err != nil {
				return fmt.Errorf("handlers: %s: %w", op.id, err)
			}
			if op.body, err = requestSchema(compiler, spec); err != nil {
				return fmt.Errorf("handlers: %s: %w", op.id, err)
			}
			ops[method+" "+echoPath(path)] = op
		}
	}
	return nil
}

func requestSchema(compiler *schema.Compiler, spec *openapi3.Operation) (*schema.Schema, error) {
	if spec.RequestBody == nil {
		return nil, nil
	}
	content := spec.RequestBody.Value.Content.Get("application/json")
	if content == nil {
		return nil, fmt.Errorf("the request body is not JSON")
	}
	return compiler.Compile(content.Schema)
}

func newOperation(p *plane, method, path, id string, c Config) *operation {
	op := &operation{id: id, method: method, path: path, plane: p, roles: rolesFor(p, method, path),
		bodyLimit: c.MaxRequestBytes, limitKind: "request_bytes", command: workflowCommands[id]}
	if id == "completeWorkflowTask" {
		op.bodyLimit, op.limitKind = c.MaxCompletionBytes, "workflow_task_completion_bytes"
	}
	if p == workerPlane {
		op.gated, op.namespaced = true, true
		return op
	}
	op.open = path == "/health" || path == "/ready" || strings.HasPrefix(path, "/openapi/")
	op.optionalVersion = op.open || path == "/cluster/info"
	op.namespaced = !op.optionalVersion && !strings.HasPrefix(path, "/namespaces")
	op.gated = op.namespaced && (method != http.MethodGet || strings.HasPrefix(path, "/workflows"))
	return op
}
