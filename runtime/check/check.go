// Package check reads a database and verifies the invariants of the stored state: that histories are
// whole, that rows, counters and histories agree, and that nothing points to what is not there. It
// writes nothing, and may read while servers run.
//
// Most invariants are statements in queries/check, each of which finds what breaks it. What depends
// on the documents in events is looked at here, history by history.
package check

import (
	"context"
	"fmt"

	"dwserver/runtime/store/snapshot"
)

// Database is one state of a database.
type Database interface {
	// Each calls fn with every row of a statement's result.
	Each(ctx context.Context, text string, fn func(snapshot.Row) error) error
}

// Violation is one thing that breaks an invariant.
type Violation struct {
	Invariant string
	Fields    []Field
}

// Field is one value that shows the violation.
type Field struct {
	Name  string
	Value string
}

// Summary says how much was looked at.
type Summary struct {
	Invariants int   `json:"invariants"`
	Runs       int64 `json:"runs"`
	Events     int64 `json:"events"`
	Violations int64 `json:"violations"`
}

// Run verifies every invariant as of now (microseconds UTC) and reports what breaks one. An error of
// report ends it; every other error is the database's.
func Run(ctx context.Context, db Database, now int64, report func(Violation) error) (Summary, error) {
	var sum Summary
	counted := func(v Violation) error {
		sum.Violations++
		return report(v)
	}
	statements, err := Statements()
	if err != nil {
		return sum, err
	}
	for _, s := range statements {
		if err := s.run(ctx, db, now, counted); err != nil {
			return sum, fmt.Errorf("check: %s: %w", s.Name, err)
		}
	}
	sum.Invariants = len(statements) + len(historyInvariants)
	w := walk{report: counted, sum: &sum}
	if err := w.run(ctx, db); err != nil {
		return sum, fmt.Errorf("check: histories: %w", err)
	}
	return sum, nil
}
