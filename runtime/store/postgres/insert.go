package postgres

import (
	"fmt"
	"strings"
	"sync"
)

// A write is a statement held back until the transaction's next round trip.
type write struct {
	sql  string
	args []any
}

// Rows of one table go out together: at most maxRows and maxBytes of data a statement, a larger
// row alone (write-path.md 4).
const (
	maxRows  = 100
	maxBytes = 1 << 20
)

// queue puts writes into a round trip. Neighbours that insert into the same table become one
// statement over arrays, whose text does not depend on the number of rows.
func (p *pipe) queue(writes []write) {
	for len(writes) > 0 {
		n := together(writes)
		if n == 1 {
			p.text(writes[0].sql, writes[0].args...)
		} else {
			p.text(arraysText(writes[0]), columns(writes[:n])...)
		}
		writes = writes[n:]
	}
}

// together counts the writes at the front that go into one statement.
func together(writes []write) int {
	if !strings.Contains(writes[0].sql, "\nINSERT INTO ") || strings.Contains(writes[0].sql, "ON CONFLICT") {
		return 1
	}
	n, bytes := 0, 0
	for n < len(writes) && n < maxRows && writes[n].sql == writes[0].sql {
		bytes += size(writes[n].args)
		if n > 0 && bytes > maxBytes {
			break
		}
		n++
	}
	return n
}

// size estimates the encoded data of a row.
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

var arrayTexts sync.Map // text of a single-row insert to that over arrays

// arraysText turns INSERT … VALUES ($1, …) into INSERT … SELECT * FROM unnest($1::text[], …).
func arraysText(w write) string {
	if text, ok := arrayTexts.Load(w.sql); ok {
		return text.(string)
	}
	head, _, _ := strings.Cut(w.sql, " VALUES (")
	params := make([]string, len(w.args))
	for i, a := range w.args {
		kind := "bigint"
		switch a.(type) {
		case string:
			kind = "text"
		case []byte:
			kind = "bytea"
		}
		params[i] = fmt.Sprintf("$%d::%s[]", i+1, kind)
	}
	text := head + "\nSELECT * FROM unnest(" + strings.Join(params, ", ") + ")"
	arrayTexts.Store(w.sql, text)
	return text
}

// columns turns rows of arguments into one array per column.
func columns(writes []write) []any {
	cols := make([]any, len(writes[0].args))
	for c, first := range writes[0].args {
		switch first.(type) {
		case string:
			cols[c] = column[string](writes, c)
		case []byte:
			cols[c] = column[[]byte](writes, c)
		default:
			cols[c] = column[int64](writes, c)
		}
	}
	return cols
}

func column[T any](writes []write, c int) []T {
	list := make([]T, len(writes))
	for i := range writes {
		list[i] = writes[i].args[c].(T)
	}
	return list
}
