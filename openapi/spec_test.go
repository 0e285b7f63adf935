package openapi_test

import (
	"slices"
	"strings"
	"testing"

	"dwserver/openapi"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"
)

var documents = map[string][]byte{
	"worker-protocol": openapi.WorkerProtocol,
	"control-plane":   openapi.ControlPlane,
}

// load parses and validates a document; validation includes its examples.
func load(t *testing.T, name string) *openapi3.T {
	t.Helper()
	loader := &openapi3.Loader{Context: t.Context()}
	doc, err := loader.LoadFromData(documents[name])
	require.NoError(t, err)
	require.NoError(t, doc.Validate(t.Context()))
	return doc
}

func each(doc *openapi3.T, visit func(route string, op *openapi3.Operation)) {
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			visit(method+" "+path, op)
		}
	}
}

func TestDocumentsAreValid(t *testing.T) {
	for name := range documents {
		t.Run(name, func(t *testing.T) {
			doc := load(t, name)
			require.Equal(t, "3.0.3", doc.OpenAPI)
			require.Equal(t, "/api", doc.Servers[0].URL)
		})
	}
}

func TestRevisions(t *testing.T) {
	require.Regexp(t, `^1\.20\.[1-9][0-9]*$`, load(t, "worker-protocol").Info.Version)
	require.Regexp(t, `^2\.[1-9][0-9]*$`, load(t, "control-plane").Info.Version)
}

// Every reply of the worker plane starts with the envelope.
func TestWorkerRepliesCarryTheEnvelope(t *testing.T) {
	each(load(t, "worker-protocol"), func(route string, op *openapi3.Operation) {
		for status, response := range op.Responses.Map() {
			schema := response.Value.Content["application/json"].Schema.Value
			require.Subset(t, schema.Required, []string{"protocol_version", "server_capabilities"},
				"%s %s", route, status)
		}
	})
}

// Every reply about a workflow carries control_plane.
func TestWorkflowRepliesCarryControlPlane(t *testing.T) {
	each(load(t, "control-plane"), func(route string, op *openapi3.Operation) {
		if !strings.Contains(route, "/workflows") {
			return
		}
		for status, response := range op.Responses.Map() {
			if status == "405" { // no operation, so nothing to repeat
				continue
			}
			schema := response.Value.Content["application/json"].Schema.Value
			require.Contains(t, schema.Required, "control_plane", "%s %s", route, status)
		}
	})
}

// Errors name a reason out of a closed set, so that clients can switch on it.
func TestErrorReasonsAreClosed(t *testing.T) {
	for name := range documents {
		each(load(t, name), func(route string, op *openapi3.Operation) {
			for status, response := range op.Responses.Map() {
				media := response.Value.Content["application/json"]
				if status < "400" || media == nil || strings.Contains(route, "/health") || strings.Contains(route, "/ready") {
					continue
				}
				reason := media.Schema.Value.Properties["reason"]
				require.NotNil(t, reason, "%s %s", route, status)
				closed := len(reason.Value.Enum) > 0 || reason.Value.Pattern != ""
				require.True(t, closed, "%s %s: reason", route, status)
			}
		})
	}
}

// Generated names stay good only while every schema has one.
func TestSchemasHaveNames(t *testing.T) {
	for name := range documents {
		doc := load(t, name)
		each(doc, func(route string, op *openapi3.Operation) {
			if op.RequestBody != nil {
				require.NotEmpty(t, op.RequestBody.Value.Content["application/json"].Schema.Ref, route)
			}
			for status, response := range op.Responses.Map() {
				if media := response.Value.Content["application/json"]; media != nil {
					require.NotEmpty(t, media.Schema.Ref, "%s %s", route, status)
				}
			}
		})
		for schemaName, schema := range doc.Components.Schemas {
			require.Empty(t, schema.Value.AllOf, schemaName)
			for property, ref := range schema.Value.Properties {
				inline := ref.Ref == "" && len(ref.Value.Properties) > 0
				require.False(t, inline, "%s.%s is an inline object", schemaName, property)
			}
		}
	}
}

func TestOperationsAreComplete(t *testing.T) {
	for name := range documents {
		var ids []string
		each(load(t, name), func(route string, op *openapi3.Operation) {
			require.NotEmpty(t, op.OperationID, route)
			require.NotEmpty(t, op.Summary, route)
			require.NotEmpty(t, op.Tags, route)
			require.NotContains(t, ids, op.OperationID)
			ids = append(ids, op.OperationID)
			if op.Security != nil && len(*op.Security) == 0 {
				return
			}
			for _, status := range []string{"400", "401", "403", "500", "503"} {
				require.NotNil(t, op.Responses.Value(status), "%s %s", route, status)
			}
		})
		slices.Sort(ids)
		require.Equal(t, slices.Compact(slices.Clone(ids)), ids)
	}
}
