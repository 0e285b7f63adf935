// Package batch cuts the rows of a transition into statements: neighbours that go into one table
// travel together, at most 100 rows and 1 MiB of data a statement, a larger row alone
// (write-path.md 4).
package batch

import "strings"

const (
	maxRows  = 100
	maxBytes = 1 << 20
)

// A Write is a generated statement held back with its arguments: text, 64-bit integers and bytes.
type Write struct {
	SQL  string
	Args []any
}

// Next cuts the writes at the front that go out as one statement. More than one are inserts or guarded
// updates of the same text, whose rows differ where one statement may touch each row only once.
func Next(writes []Write) (group, rest []Write) {
	text := writes[0].SQL
	if len(writes) == 1 || writes[1].SQL != text {
		return writes[:1], writes[1:]
	}
	shape := shapeOf(text)
	if shape.kind == single {
		return writes[:1], writes[1:]
	}
	n, bytes := 1, shape.size(&writes[0])
	rows := distinct{keys: shape.keys}
	rows.add(&writes[0])
	for n < len(writes) && n < maxRows && writes[n].SQL == text {
		bytes += shape.size(&writes[n])
		if bytes > maxBytes || !rows.add(&writes[n]) {
			break
		}
		n++
	}
	return writes[:n], writes[n:]
}

// Guarded reports a write that has to find its row.
func (w *Write) Guarded() bool {
	head, _, _ := strings.Cut(w.SQL, "\n")
	return strings.HasSuffix(head, ":execrows")
}

// IsUpdate reports a write that changes rows which are there.
func (w *Write) IsUpdate() bool { return shapeOf(w.SQL).kind == update }

// perArg is what an argument takes besides its data: its length or the number itself, and separators.
const perArg = 8

// size estimates the encoded data of a row, generously. An update names the row again for every column.
func (s *shape) size(w *Write) (n int) {
	for _, a := range w.Args {
		n += length(a) + perArg
	}
	if s.kind == update {
		n += len(w.Args) * (length(w.Args[len(w.Args)-1]) + perArg)
	}
	return n
}

func length(arg any) int {
	switch v := arg.(type) {
	case string:
		return len(v)
	case []byte:
		return len(v)
	}
	return 0
}

// longest is how many columns the longest key has by which rows are told apart.
const longest = 4

// distinct tells rows apart by some of their arguments; without any every row counts as another.
type distinct struct {
	keys []int
	seen map[[longest]any]bool
}

// add reports whether the row was not there before.
func (d *distinct) add(w *Write) bool {
	if len(d.keys) == 0 {
		return true
	}
	var key [longest]any
	for i, at := range d.keys {
		if at == last {
			at = len(w.Args) - 1
		}
		key[i] = w.Args[at]
	}
	if d.seen[key] {
		return false
	}
	if d.seen == nil {
		d.seen = map[[longest]any]bool{}
	}
	d.seen[key] = true
	return true
}
