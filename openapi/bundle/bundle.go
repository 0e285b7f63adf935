package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"sort"

	"go.yaml.in/yaml/v4"
)

// rootPart is the part that holds everything but paths and schemas.
const rootPart = "root.yaml"

const head = "# Bundled from %s by: go run ./openapi/bundle. Edit the parts, not this file.\n"

// bundle returns the document made of the parts in src.
func bundle(src string) ([]byte, error) {
	root, err := load(filepath.Join(src, rootPart))
	if err != nil {
		return nil, err
	}
	paths, schemas, sets := mapping(), mapping(), mapping()
	if err := collect(src, paths, schemas, sets); err != nil {
		return nil, err
	}
	sortKeys(schemas)
	x := expander{sets: sets, header: scalar(take(root, "x-version-header"))}
	if x.head, err = exampleHead(take(root, "x-example-head"), schemas); err != nil {
		return nil, err
	}
	if err := x.paths(paths); err != nil {
		return nil, err
	}
	if err := resolveExamples(paths, schemas); err != nil {
		return nil, err
	}
	put(root, "paths", paths)
	components := get(root, "components")
	put(components, "schemas", schemas)
	var out bytes.Buffer
	fmt.Fprintf(&out, head, filepath.ToSlash(filepath.Join("openapi", "src", filepath.Base(src))))
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	if err := enc.Encode(root); err != nil {
		return nil, err
	}
	return out.Bytes(), enc.Close()
}

// collect reads the parts other than the root, in the order of their names.
func collect(src string, paths, schemas, sets *yaml.Node) error {
	names, err := filepath.Glob(filepath.Join(src, "*.yaml"))
	if err != nil {
		return err
	}
	sort.Strings(names)
	into := map[string]*yaml.Node{"paths": paths, "schemas": schemas, "response-sets": sets}
	for _, name := range names {
		if filepath.Base(name) == rootPart {
			continue
		}
		part, err := load(name)
		if err != nil {
			return err
		}
		if err := merge(part, into); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// merge adds a part's sections; a name defined twice is an error.
func merge(part *yaml.Node, into map[string]*yaml.Node) error {
	for i := 0; i+1 < len(part.Content); i += 2 {
		section, known := into[part.Content[i].Value]
		if !known {
			return fmt.Errorf("unknown section %q", part.Content[i].Value)
		}
		entries := part.Content[i+1]
		for j := 0; j+1 < len(entries.Content); j += 2 {
			name := entries.Content[j].Value
			if get(section, name) != nil {
				return fmt.Errorf("%q is defined twice", name)
			}
			put(section, name, entries.Content[j+1])
		}
	}
	return nil
}

func load(name string) (*yaml.Node, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		return nil, fmt.Errorf("%s: not a mapping", name)
	}
	return doc.Content[0], nil
}
