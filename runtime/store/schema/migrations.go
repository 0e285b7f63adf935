// Package schema brings a database to the schema this program needs, from the numbered migrations
// embedded in the binary, and refuses one that is older, newer or unknown. Engine differences are
// the fields of Dialect.
package schema

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"dwserver/sqlc"
)

// Migration is one numbered step of a schema.
type Migration struct {
	Version int64
	Name    string
	Up      []string // statements
	Down    []string
	Sum     string // SHA-256 of the up file, hex
}

// Load reads the migrations of an engine (a folder of sqlc/) in ascending order.
func Load(engine string) ([]Migration, error) {
	names, err := fs.Glob(sqlc.Files, engine+"/*.up.sql")
	if err != nil || len(names) == 0 {
		return nil, fmt.Errorf("schema: no migrations for engine %q: %w", engine, err)
	}
	slices.Sort(names)
	list := make([]Migration, 0, len(names))
	for _, name := range names {
		m, err := load(name)
		if err != nil {
			return nil, err
		}
		if want := int64(len(list) + 1); m.Version != want {
			return nil, fmt.Errorf("schema: %s: version %d follows %d", name, m.Version, want-1)
		}
		list = append(list, m)
	}
	return list, nil
}

func load(name string) (Migration, error) {
	up, err := fs.ReadFile(sqlc.Files, name)
	if err != nil {
		return Migration{}, fmt.Errorf("schema: %w", err)
	}
	stem := strings.TrimSuffix(name, ".up.sql")
	down, err := fs.ReadFile(sqlc.Files, stem+".down.sql")
	if err != nil {
		return Migration{}, fmt.Errorf("schema: %w", err)
	}
	number, title, _ := strings.Cut(stem[strings.LastIndexByte(stem, '/')+1:], "_")
	version, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return Migration{}, fmt.Errorf("schema: %s: %w", name, err)
	}
	sum := sha256.Sum256(up)
	return Migration{Version: version, Name: title, Up: split(string(up)), Down: split(string(down)),
		Sum: hex.EncodeToString(sum[:])}, nil
}

// split cuts a file into statements: each ends with a semicolon at the end of a line.
func split(file string) []string {
	var list []string
	for _, part := range strings.Split(file, ";\n") {
		var kept []string
		for line := range strings.Lines(part) {
			if text := strings.TrimSpace(line); text != "" && !strings.HasPrefix(text, "--") {
				kept = append(kept, strings.TrimRight(line, "\n"))
			}
		}
		if len(kept) > 0 {
			list = append(list, strings.Join(kept, "\n"))
		}
	}
	return list
}
