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

// Next cuts the writes at the front that go out as one statement. More than one are plain inserts
// of the same text.
func Next(writes []Write) (group, rest []Write) {
	n := 1
	if text := writes[0].SQL; isInsert(text) {
		bytes := size(writes[0].Args)
		for n < len(writes) && n < maxRows && writes[n].SQL == text {
			if bytes += size(writes[n].Args); bytes > maxBytes {
				break
			}
			n++
		}
	}
	return writes[:n], writes[n:]
}

// isInsert reports an insert that does nothing about conflicts.
func isInsert(text string) bool {
	return strings.Contains(text, "\nINSERT INTO ") && !strings.Contains(text, "\nON ")
}

// Guarded reports a write that has to find its row.
func (w *Write) Guarded() bool {
	head, _, _ := strings.Cut(w.SQL, "\n")
	return strings.HasSuffix(head, ":execrows")
}

// size estimates the encoded data of a row, generously.
func size(args []any) (n int) {
	for _, a := range args {
		switch v := a.(type) {
		case string:
			n += len(v)
		case []byte:
			n += len(v)
		}
		n += 8
	}
	return n
}
