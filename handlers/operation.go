package handlers

import (
	"fmt"
	"net/http"
	"strings"
	"sync"

	"dwserver/handlers/schema"
	"dwserver/openapi"

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

// operations are the compiled operations of both documents by operationId.
type operations struct {
	byID    map[string]*operation
	carried carriedSchemas
}

// contract are the parsed OpenAPI documents of the two planes. They are read once a process.
var contract = sync.OnceValues(func() (docs [2]*openapi3.T, err error) {
	for i, document := range [][]byte{openapi.WorkerProtocol, openapi.ControlPlane} {
		if docs[i], err = openapi3.NewLoader().LoadFromData(document); err != nil {
			return docs, fmt.Errorf("handlers: an OpenAPI document does not load: %w", err)
		}
	}
	return docs, nil
})

// compileOperations reads both documents.
func compileOperations(c Config) (*operations, error) {
	docs, err := contract()
	if err != nil {
		return nil, err
	}
	ops := &operations{byID: map[string]*operation{}}
	for i, p := range []*plane{workerPlane, controlPlane} {
		if err := ops.compile(docs[i], p, c); err != nil {
			return nil, err
		}
	}
	return ops, nil
}

// compile reads the operations of one document.
func (ops *operations) compile(doc *openapi3.T, p *plane, c Config) (err error) {
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
			ops.byID[op.id] = op
		}
	}
	if p == workerPlane {
		return ops.compileCarried(compiler, doc.Components.Schemas)
	}
	return nil
}

func (ops *operations) compileCarried(compiler *schema.Compiler, schemas openapi3.Schemas) (err error) {
	for name, into := range map[string]**schema.Schema{
		"CarriedActivityPollRequest": &ops.carried.activityPoll, "CarriedWorkflowPollRequest": &ops.carried.workflowPoll,
		"WorkflowContinuation": &ops.carried.continuation,
	} {
		if *into, err = compiler.Compile(schemas[name]); err != nil {
			return fmt.Errorf("handlers: %s: %w", name, err)
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
