package postgres

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"dwserver/runtime/store/batch"
)

// listed is how many rows a statement lists at most. Each number of rows is a text of its own, and each text
// is prepared on each connection; beyond it rows travel as arrays, in one text for any number.
const listed = 4

// queue puts writes into a round trip. Neighbours that write the same columns of a table become one
// statement.
func (p *pipe) queue(writes []batch.Write) {
	for len(writes) > 0 {
		var group []batch.Write
		group, writes = batch.Next(writes)
		switch n := len(group); {
		case n == 1:
			p.text(group[0].SQL, group[0].Args...)
		case n <= listed:
			p.text(textOf(&group[0], n), flat(group)...)
		default:
			p.text(textOf(&group[0], many), columns(group)...)
		}
	}
}

// many stands for any number of rows, in arrays.
const many = 0

// rowsText names the text of a statement for so many rows by the one for one.
type rowsText struct {
	sql  string
	rows int
}

var rowsTexts sync.Map // rowsText to string

func textOf(w *batch.Write, rows int) string {
	key := rowsText{w.SQL, rows}
	if text, ok := rowsTexts.Load(key); ok {
		return text.(string)
	}
	text := insertRows(w, rows)
	if w.IsUpdate() {
		text = updateRows(w, rows)
	}
	rowsTexts.Store(key, text)
	return text
}

// insertRows turns INSERT … VALUES ($1, …) … into one of more rows.
func insertRows(w *batch.Write, rows int) string {
	head, values, _ := strings.Cut(w.SQL, " VALUES (")
	_, tail, _ := strings.Cut(values, ")")
	if rows == many {
		return head + "\n" + unnest(w) + tail
	}
	return head + " " + list(w, rows) + tail
}

var parameter = regexp.MustCompile(`\$(\d+)`)

// updateRows turns UPDATE … SET column = $1, … WHERE key = $n into one that joins rows of its arguments.
// Its guard is that as many were found as there are.
func updateRows(w *batch.Write, rows int) string {
	from, guard := list(w, rows), fmt.Sprint(rows)
	if rows == many {
		from, guard = unnest(w), "cardinality($1::"+typeOf(w.Args[0])+"[])"
	}
	names := make([]string, len(w.Args))
	for i := range names {
		names[i] = fmt.Sprintf("c%d", i+1)
	}
	text := parameter.ReplaceAllString(w.SQL, "v.c$1")
	text = strings.Replace(text, "WHERE", "FROM ("+from+") AS v ("+strings.Join(names, ", ")+")\n    WHERE", 1)
	return strings.Replace(text, "COUNT(*)", "(COUNT(*) = "+guard+")::int", 1)
}

// list is VALUES ($1::text, …), ($9::text, …), … .
func list(w *batch.Write, rows int) string {
	var b strings.Builder
	for i := range rows * len(w.Args) {
		switch {
		case i == 0:
			b.WriteString("VALUES (")
		case i%len(w.Args) == 0:
			b.WriteString("), (")
		default:
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "$%d::%s", i+1, typeOf(w.Args[i%len(w.Args)]))
	}
	b.WriteByte(')')
	return b.String()
}

// unnest is SELECT unnest($1::text[]), … . In the target list rows come one by one; as a table, the server
// would first keep each array's elements in a store of their own, which costs as much as the insert.
func unnest(w *batch.Write) string {
	params := make([]string, len(w.Args))
	for i, a := range w.Args {
		params[i] = fmt.Sprintf("unnest($%d::%s[])", i+1, typeOf(a))
	}
	return "SELECT " + strings.Join(params, ", ")
}

func typeOf(arg any) string {
	switch arg.(type) {
	case string:
		return "text"
	case []byte:
		return "bytea"
	}
	return "bigint"
}

// flat is the rows' arguments, one row behind the other.
func flat(writes []batch.Write) []any {
	args := make([]any, 0, len(writes)*len(writes[0].Args))
	for i := range writes {
		args = append(args, writes[i].Args...)
	}
	return args
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
