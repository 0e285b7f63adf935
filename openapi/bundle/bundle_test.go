package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v4"
)

func TestDocumentsMatchTheirParts(t *testing.T) {
	for src, name := range documents {
		require.NoError(t, run(filepath.Join("..", src), filepath.Join("..", name), true), name)
	}
}

func TestNamesAreDefinedOnce(t *testing.T) {
	var part yaml.Node
	require.NoError(t, yaml.Unmarshal([]byte("schemas: {A: {type: string}}"), &part))
	into := map[string]*yaml.Node{"schemas": mapping()}
	require.NoError(t, merge(part.Content[0], into))
	require.ErrorContains(t, merge(part.Content[0], into), `"A" is defined twice`)
}
