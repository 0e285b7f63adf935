package main

import (
	"sort"

	"go.yaml.in/yaml/v4"
)

func mapping() *yaml.Node { return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"} }

func text(value string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value}
}

func reference(section, name string) *yaml.Node {
	out := mapping()
	put(out, "$ref", text("#/components/"+section+"/"+name))
	return out
}

func scalar(node *yaml.Node) string {
	if node == nil {
		return ""
	}
	return node.Value
}

// get returns the value under key, nil when absent.
func get(node *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == key {
			return node.Content[i+1]
		}
	}
	return nil
}

// take removes key and returns its value.
func take(node *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == key {
			value := node.Content[i+1]
			node.Content = append(node.Content[:i], node.Content[i+2:]...)
			return value
		}
	}
	return nil
}

// put sets key; a nil value leaves the mapping as it is.
func put(node *yaml.Node, key string, value *yaml.Node) {
	if value == nil {
		return
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == key {
			node.Content[i+1] = value
			return
		}
	}
	node.Content = append(node.Content, text(key), value)
}

func sortKeys(node *yaml.Node) {
	type entry struct{ key, value *yaml.Node }
	entries := make([]entry, 0, len(node.Content)/2)
	for i := 0; i+1 < len(node.Content); i += 2 {
		entries = append(entries, entry{node.Content[i], node.Content[i+1]})
	}
	sort.SliceStable(entries, func(i, j int) bool { return entries[i].key.Value < entries[j].key.Value })
	for i, e := range entries {
		node.Content[2*i], node.Content[2*i+1] = e.key, e.value
	}
}
