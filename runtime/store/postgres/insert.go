package postgres

import (
	"fmt"
	"strings"
	"sync"

	"dwserver/runtime/store/batch"
)

// queue puts writes into a round trip. Neighbours that insert into the same table become one
// statement over arrays, whose text does not depend on the number of rows.
func (p *pipe) queue(writes []batch.Write) {
	for len(writes) > 0 {
		var group []batch.Write
		if group, writes = batch.Next(writes); len(group) > 1 {
			p.text(arraysText(&group[0]), columns(group)...)
		} else {
			p.text(group[0].SQL, group[0].Args...)
		}
	}
}

var arrayTexts sync.Map // text of a single-row insert to that over arrays

// arraysText turns INSERT … VALUES ($1, …) into INSERT … SELECT * FROM unnest($1::text[], …).
func arraysText(w *batch.Write) string {
	if text, ok := arrayTexts.Load(w.SQL); ok {
		return text.(string)
	}
	head, _, _ := strings.Cut(w.SQL, " VALUES (")
	params := make([]string, len(w.Args))
	for i, a := range w.Args {
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
	arrayTexts.Store(w.SQL, text)
	return text
}

// columns turns rows of arguments into one array per column.
func columns(writes []batch.Write) []any {
	cols := make([]any, len(writes[0].Args))
	for c, first := range writes[0].Args {
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

func column[T any](writes []batch.Write, c int) []T {
	list := make([]T, len(writes))
	for i := range writes {
		list[i] = writes[i].Args[c].(T)
	}
	return list
}
