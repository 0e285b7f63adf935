package main

import (
	"fmt"

	"go.yaml.in/yaml/v4"
)

// expander writes out the shorthand of the parts: a `body`, and responses that
// name a schema or a set of responses. See openapi/README.md.
type expander struct {
	sets   *yaml.Node
	header string     // component header every response carries
	head   *yaml.Node // members every example of a reply starts with, nil: none
}

var methods = map[string]bool{"get": true, "put": true, "post": true, "delete": true, "patch": true}

func (x expander) paths(paths *yaml.Node) error {
	for i := 0; i+1 < len(paths.Content); i += 2 {
		item := paths.Content[i+1]
		for j := 0; j+1 < len(item.Content); j += 2 {
			if !methods[item.Content[j].Value] {
				continue
			}
			if err := x.operation(item.Content[j+1]); err != nil {
				return fmt.Errorf("%s %s: %w", item.Content[j].Value, paths.Content[i].Value, err)
			}
		}
	}
	return nil
}

func (x expander) operation(op *yaml.Node) error {
	if body := take(op, "body"); body != nil {
		put(op, "requestBody", requestBody(body))
	}
	short := take(op, "responses")
	if short == nil {
		return fmt.Errorf("no responses")
	}
	full := mapping()
	if names := take(short, "sets"); names != nil {
		for _, name := range names.Content {
			set := get(x.sets, name.Value)
			if set == nil {
				return fmt.Errorf("no response set %q", name.Value)
			}
			x.responses(set, full)
		}
	}
	x.responses(short, full)
	sortKeys(full)
	put(op, "responses", full)
	return nil
}

// responses adds the entries of from to full; a later one replaces an earlier.
func (x expander) responses(from, full *yaml.Node) {
	for i := 0; i+1 < len(from.Content); i += 2 {
		status := from.Content[i].Value
		put(full, status, x.response(status, from.Content[i+1]))
	}
}

func (x expander) response(status string, short *yaml.Node) *yaml.Node {
	out := mapping()
	put(out, "description", get(short, "description"))
	headers := mapping()
	put(headers, "X-Durable-Workflow-"+x.header, reference("headers", x.header))
	if status == "429" || status == "503" {
		put(headers, "Retry-After", reference("headers", "Retry-After"))
	}
	put(out, "headers", headers)
	body := content(short)
	x.completeExamples(body)
	put(out, "content", body)
	return out
}

func requestBody(short *yaml.Node) *yaml.Node {
	out := mapping()
	if required := get(short, "required"); required != nil {
		put(out, "required", required)
	} else {
		put(out, "required", &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: "true"})
	}
	put(out, "content", content(short))
	return out
}

// content is the JSON media type with the schema and examples of a shorthand.
// `media` names another type, for a body that is some object.
func content(short *yaml.Node) *yaml.Node {
	media, kind := mapping(), "application/json"
	if m := get(short, "media"); m != nil {
		kind = m.Value
		schema := mapping()
		put(schema, "type", text("object"))
		put(media, "schema", schema)
	} else {
		put(media, "schema", reference("schemas", scalar(get(short, "schema"))))
	}
	for _, key := range []string{"example", "examples"} {
		if value := get(short, key); value != nil {
			put(media, key, value)
		}
	}
	out := mapping()
	put(out, kind, media)
	return out
}
