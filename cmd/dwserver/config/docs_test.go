package config

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the table of settings into docs/configuration.md")

const (
	tableBegin = "<!-- settings: begin -->\n"
	tableEnd   = "<!-- settings: end -->\n"
)

func TestDocumentedTableIsTheCodes(t *testing.T) {
	page := filepath.Join("..", "..", "..", "docs", "configuration.md")
	content, err := os.ReadFile(page)
	require.NoError(t, err)
	before, rest, ok := strings.Cut(string(content), tableBegin)
	require.True(t, ok, "%s has no line %q", page, tableBegin)
	documented, after, ok := strings.Cut(rest, tableEnd)
	require.True(t, ok, "%s has no line %q", page, tableEnd)
	if *update {
		require.NoError(t, os.WriteFile(page, []byte(before+tableBegin+table()+tableEnd+after), 0o600))
		return
	}
	assert.Equal(t, table(), documented, "after a change of settings run: go test ./cmd/dwserver/config -update")
}

func table() string {
	var b strings.Builder
	b.WriteString("| environment, file | flag | default | meaning |\n|---|---|---|---|\n")
	for _, s := range Settings() {
		names := "`" + s.Env + "`"
		if s.Alias != "" {
			names += ", `" + s.Alias + "`"
		}
		def := s.Shown
		if def == "" {
			def = "`" + s.Default + "`"
		}
		fmt.Fprintf(&b, "| %s | `--%s` | %s | %s |\n", names, s.Flag(), def, s.Help)
	}
	return b.String()
}
