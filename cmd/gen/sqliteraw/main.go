// Command sqliteraw writes gen/sqliteraw: the queries that sqlc generated into gen/sqlitedb, with the same
// names and signatures, on statements that are bound and read without database/sql.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	in := flag.String("in", "gen/sqlitedb", "folder of sqlc's package")
	out := flag.String("out", "gen/sqliteraw", "folder to write")
	flag.Parse()
	if err := run(*in, *out); err != nil {
		fmt.Fprintln(os.Stderr, "sqliteraw:", err)
		os.Exit(1)
	}
}

// run generates out from in and removes what an earlier run left for sources that are gone.
func run(in, out string) error {
	pkg, err := load(in)
	if err != nil {
		return err
	}
	files, err := pkg.render()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	old, err := filepath.Glob(filepath.Join(out, "*.gen.go"))
	if err != nil {
		return err
	}
	for _, path := range old {
		if _, ok := files[filepath.Base(path)]; !ok {
			if err := os.Remove(path); err != nil {
				return err
			}
		}
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(out, name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// sources are sqlc's files of queries, sorted.
func sources(dir string) ([]string, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("no Go files in %s", dir)
	}
	slices.Sort(paths)
	return paths, nil
}

// outputName is the file that a file of queries becomes: task.sql.go is task.gen.go.
func outputName(source string) string {
	return strings.TrimSuffix(filepath.Base(source), ".sql.go") + ".gen.go"
}
