package storetest

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"dwserver/runtime/store"
)

var queryName = regexp.MustCompile(`(?m)^-- name: (\w+) `)

// QueryNames lists the queries named in the SQL files of a folder, sorted.
func QueryNames(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.sql"))
	require.NoError(t, err)
	require.NotEmpty(t, files, "no queries in %s", dir)
	var names []string
	for _, f := range files {
		text, err := os.ReadFile(f)
		require.NoError(t, err)
		for _, m := range queryName.FindAllStringSubmatch(string(text), -1) {
			names = append(names, m[1])
		}
	}
	sort.Strings(names)
	return names
}

// Every runs the suite under a probe and then requires that every query named in the folder ran.
func Every(t *testing.T, dir string, open Open) {
	var mu sync.Mutex
	ran := map[string]bool{}
	exercise(t, open, store.Options{Probe: func(_ context.Context, statement string) error {
		mu.Lock()
		defer mu.Unlock()
		ran[statement] = true
		return nil
	}})
	if t.Failed() {
		return
	}
	for _, name := range QueryNames(t, dir) {
		require.True(t, ran[name], "query %s was never executed", name)
	}
}
