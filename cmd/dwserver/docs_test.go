package main

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write included files into the documentation")

const root = "../.."

// pages are the hand-written documents, by path from the top of the repository.
func pages(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && strings.HasPrefix(d.Name(), ".") && d.Name() != ".." {
			return filepath.SkipDir
		}
		if filepath.Ext(path) == ".md" {
			content, err := os.ReadFile(path)
			found[strings.TrimPrefix(path, root+"/")] = string(content)
			return err
		}
		return nil
	})
	require.NoError(t, err)
	return found
}

var included = regexp.MustCompile("(?s)(<!-- file: (\\S+) -->\n```[a-z]*\n)(.*?)(```\n)")

func TestIncludedFilesAreTheFiles(t *testing.T) {
	n := 0
	for name, content := range pages(t) {
		changed := content
		for _, m := range included.FindAllStringSubmatch(content, -1) {
			n++
			file, err := os.ReadFile(filepath.Join(root, m[2]))
			require.NoError(t, err)
			changed = strings.Replace(changed, m[0], m[1]+string(file)+m[4], 1)
		}
		if *update && changed != content {
			require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(changed), 0o600))
			continue
		}
		assert.Equal(t, changed, content, "%s: run go test ./cmd/dwserver -run Included -update", name)
	}
	assert.NotZero(t, n, "the README includes the quickstart")
}

var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

func TestRelativeLinksLeadSomewhere(t *testing.T) {
	for name, content := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(content, -1) {
			target, _, _ := strings.Cut(m[1], "#")
			if target == "" || strings.Contains(target, "://") {
				continue
			}
			_, err := os.Stat(filepath.Join(root, filepath.Dir(name), target))
			assert.NoError(t, err, "%s links to %s", name, m[1])
		}
	}
}

func TestREADMEListsEverySubcommand(t *testing.T) {
	readme := pages(t)["README.md"]
	for _, c := range commands() {
		assert.Contains(t, readme, "`dwserver "+c.name)
	}
}
