package check

import (
	"context"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	queries "dwserver/queries/check"
	"dwserver/runtime/store/snapshot"
)

// Statement is one invariant as the statement that finds what breaks it.
type Statement struct {
	Name string
	Says string // the invariant, for people
	Text string
}

// Statements reads the statements of queries/check.
func Statements() ([]Statement, error) {
	names, err := fs.Glob(queries.Files, "*.sql")
	if err != nil {
		return nil, err
	}
	var list []Statement
	for _, name := range names {
		text, err := fs.ReadFile(queries.Files, name)
		if err != nil {
			return nil, err
		}
		for _, part := range strings.Split("\n"+string(text), "\n-- name: ")[1:] {
			s, err := parse(part)
			if err != nil {
				return nil, fmt.Errorf("check: %s: %w", name, err)
			}
			list = append(list, s)
		}
	}
	return list, nil
}

// Invariant is something that has to hold, by name.
type Invariant struct{ Name, Says string }

// Invariants lists everything that Run verifies.
func Invariants() ([]Invariant, error) {
	statements, err := Statements()
	if err != nil {
		return nil, err
	}
	var list []Invariant
	for _, s := range statements {
		list = append(list, Invariant{s.Name, s.Says})
	}
	for _, h := range historyInvariants {
		list = append(list, Invariant{h[0], h[1]})
	}
	return list, nil
}

// parse reads a statement that follows its name: comments, then SQL that ends with a semicolon.
func parse(part string) (Statement, error) {
	name, rest, _ := strings.Cut(part, "\n")
	s := Statement{Name: strings.TrimSpace(name)}
	for {
		line, after, _ := strings.Cut(rest, "\n")
		comment, ok := strings.CutPrefix(line, "-- ")
		if !ok {
			break
		}
		s.Says = strings.TrimSpace(s.Says + " " + comment)
		rest = after
	}
	s.Text = strings.TrimSuffix(strings.TrimSpace(rest), ";")
	if s.Name == "" || s.Says == "" || s.Text == "" {
		return s, fmt.Errorf("%q has no name, no explanation or no statement", s.Name)
	}
	return s, nil
}

func (s *Statement) run(ctx context.Context, db Database, now int64, report func(Violation) error) error {
	text := strings.ReplaceAll(s.Text, ":now", strconv.FormatInt(now, 10))
	return db.Each(ctx, text, func(row snapshot.Row) error {
		values := make([]string, len(row.Columns))
		into := make([]any, len(values))
		for i := range values {
			into[i] = &values[i]
		}
		if err := row.Scan(into...); err != nil {
			return err
		}
		v := Violation{Invariant: s.Name}
		for i, column := range row.Columns {
			v.Fields = append(v.Fields, Field{column, values[i]})
		}
		return report(v)
	})
}
