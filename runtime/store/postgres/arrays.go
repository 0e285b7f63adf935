package postgres

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"dwserver/runtime/store/batch"
)

// queue puts writes into a round trip. Neighbours that write the same columns of a table become one
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

var arrayTexts sync.Map // text of a statement for one row to that over arrays

func arraysText(w *batch.Write) string {
	if text, ok := arrayTexts.Load(w.SQL); ok {
		return text.(string)
	}
	text := insertArrays(w)
	if w.IsUpdate() {
		text = updateArrays(w)
	}
	arrayTexts.Store(w.SQL, text)
	return text
}

// unnest is $1::text[], … as a table.
func unnest(w *batch.Write) string {
	params := make([]string, len(w.Args))
	for i, a := range w.Args {
		params[i] = fmt.Sprintf("$%d::%s", i+1, arrayOf(a))
	}
	return "unnest(" + strings.Join(params, ", ") + ")"
}

// arrayOf is the type of an array of such arguments.
func arrayOf(arg any) string {
	switch arg.(type) {
	case string:
		return "text[]"
	case []byte:
		return "bytea[]"
	}
	return "bigint[]"
}

// insertArrays turns INSERT … VALUES ($1, …) … into INSERT … SELECT * FROM unnest($1::text[], …) ….
func insertArrays(w *batch.Write) string {
	head, values, _ := strings.Cut(w.SQL, " VALUES (")
	_, tail, _ := strings.Cut(values, ")")
	return head + "\nSELECT * FROM " + unnest(w) + tail
}

var parameter = regexp.MustCompile(`\$(\d+)`)

// updateArrays turns UPDATE … SET column = $1, … WHERE key = $n into one that joins unnest($1::text[], …).
// Its guard is that as many rows were found as there are keys.
func updateArrays(w *batch.Write) string {
	names := make([]string, len(w.Args))
	for i := range names {
		names[i] = fmt.Sprintf("c%d", i+1)
	}
	text := parameter.ReplaceAllString(w.SQL, "v.c$1")
	text = strings.Replace(text, "WHERE", "FROM "+unnest(w)+" AS v ("+strings.Join(names, ", ")+")\n    WHERE", 1)
	return strings.Replace(text, "COUNT(*)", "(COUNT(*) = cardinality($1::"+arrayOf(w.Args[0])+"))::int", 1)
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
