package main

import (
	"fmt"

	"go.yaml.in/yaml/v4"
)

// exampleHead returns the members that every example of a reply starts with.
func exampleHead(spec, schemas *yaml.Node) (*yaml.Node, error) {
	if spec == nil {
		return nil, nil
	}
	head := mapping()
	for i := 0; i+1 < len(spec.Content); i += 2 {
		put(head, spec.Content[i].Value, spec.Content[i+1])
	}
	return head, resolveExamples(head, schemas)
}

// resolveExamples turns every `!example Name` below node into an alias of that
// schema's example, which has to have an anchor.
func resolveExamples(node, schemas *yaml.Node) error {
	for i, child := range node.Content {
		if child.Tag != "!example" {
			if err := resolveExamples(child, schemas); err != nil {
				return err
			}
			continue
		}
		schema := get(schemas, child.Value)
		if schema == nil {
			return fmt.Errorf("!example %s: no such schema", child.Value)
		}
		example := get(schema, "example")
		if example == nil || example.Anchor == "" {
			return fmt.Errorf("!example %s: the schema has no anchored example", child.Value)
		}
		node.Content[i] = &yaml.Node{Kind: yaml.AliasNode, Value: example.Anchor, Alias: example}
	}
	return nil
}

// completeExamples puts the head into the examples of a response's content.
func (x expander) completeExamples(content *yaml.Node) {
	if x.head == nil {
		return
	}
	for i := 1; i < len(content.Content); i += 2 {
		media := content.Content[i]
		if example := get(media, "example"); example != nil {
			put(media, "example", x.complete(example))
		}
		named := get(media, "examples")
		if named == nil {
			continue
		}
		for j := 1; j < len(named.Content); j += 2 {
			put(named.Content[j], "value", x.complete(get(named.Content[j], "value")))
		}
	}
}

// complete returns a reply's example with the head in front, also in the
// answers that it embeds.
func (x expander) complete(reply *yaml.Node) *yaml.Node {
	out := mapping()
	out.Style = reply.Style
	out.Content = append(out.Content, x.head.Content...)
	for i := 0; i+1 < len(reply.Content); i += 2 {
		key, value := reply.Content[i].Value, reply.Content[i+1]
		if carried := get(value, "answer"); carried != nil {
			embedded := mapping()
			embedded.Style, embedded.Content = value.Style, append(embedded.Content, value.Content...)
			put(embedded, "answer", x.complete(carried))
			value = embedded
		}
		put(out, key, value)
	}
	return out
}
