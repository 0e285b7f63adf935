package batch

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// kind is what a generated statement does, as far as grouping goes.
type kind int

const (
	single kind = iota // goes out by itself
	insert
	upsert
	update // of one row, found by its key alone
)

// last stands for the place of a statement's last argument.
const last = -1

// shape is what a statement's text says about grouping its rows.
type shape struct {
	kind kind
	keys []int // arguments that tell rows apart, when a statement must not meet a row twice
}

var shapes sync.Map // text to *shape

// shapeOf reads a text once; there are as many as there are generated statements.
func shapeOf(text string) *shape {
	if s, ok := shapes.Load(text); ok {
		return s.(*shape)
	}
	s := readShape(text)
	shapes.Store(text, &s)
	return &s
}

var (
	inserts = regexp.MustCompile(`(?s)^-- name: \w+ :\w+\nINSERT INTO \w+ \(([^()]*)\) VALUES \([^()]*\)(.*)$`)
	targets = regexp.MustCompile(`ON CONFLICT \(([^()]*)\)`)
	updates = regexp.MustCompile(`(?s)^-- name: \w+ :\w+\n(?:WITH changed AS \(\s*)?UPDATE \w+ SET\s.*\sWHERE \w+ = (?:\?|\$\d+)\s*(?:RETURNING 1\s*\)\s*SELECT 1 / COUNT\(\*\) FROM changed\s*)?$`)
)

func readShape(text string) shape {
	if updates.MatchString(text) {
		return shape{kind: update, keys: []int{last}}
	}
	found := inserts.FindStringSubmatch(text)
	switch {
	case found == nil:
		return shape{}
	case strings.TrimSpace(found[2]) == "":
		return shape{kind: insert}
	}
	s := shape{kind: upsert}
	if target := targets.FindStringSubmatch(found[2]); target != nil {
		columns := names(found[1])
		for _, name := range names(target[1]) {
			s.keys = append(s.keys, slices.Index(columns, name))
		}
		if len(s.keys) > longest {
			return shape{}
		}
	}
	return s
}

func names(list string) []string {
	out := strings.Split(list, ",")
	for i := range out {
		out[i] = strings.TrimSpace(out[i])
	}
	return out
}
