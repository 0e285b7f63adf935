package mysql

import (
	"regexp"
	"strings"

	"dwserver/runtime/store/batch"
)

// together is one statement that writes the rows of a group. The text of one to be prepared depends on their
// number only.
func together(group []batch.Write, prepare bool) (text string, args []any) {
	if group[0].IsUpdate() {
		return updateTogether(group, prepare)
	}
	return insertTogether(group)
}

// insertTogether turns INSERT … VALUES (?, …) … into one with as many rows.
func insertTogether(group []batch.Write) (text string, args []any) {
	head, values, _ := strings.Cut(group[0].SQL, " VALUES (")
	row, tail, _ := strings.Cut(values, ")")
	var b strings.Builder
	b.Grow(len(group[0].SQL) + len(group)*(len(row)+4))
	b.WriteString(head)
	b.WriteString(" VALUES (")
	args = make([]any, 0, len(group)*len(group[0].Args))
	for i := range group {
		if i > 0 {
			b.WriteString("), (")
		}
		b.WriteString(row)
		args = append(args, group[i].Args...)
	}
	b.WriteByte(')')
	b.WriteString(tail)
	return b.String(), args
}

// updated finds the columns that an update sets, and the key that it finds its row by.
var updated = regexp.MustCompile(`(\w+)\s*=\s*\?`)

// updateTogether turns UPDATE … SET column = ?, … WHERE key = ? into one that finds as many rows and sets each
// column by the key; one value for all rows needs no choice.
func updateTogether(group []batch.Write, prepare bool) (text string, args []any) {
	found := updated.FindAllStringSubmatch(group[0].SQL, -1)
	last := len(found) - 1
	key := found[last][1]
	head, _, _ := strings.Cut(group[0].SQL, " SET")
	var b strings.Builder
	b.WriteString(head)
	b.WriteString(" SET ")
	for c, column := range found[:last] {
		if c > 0 {
			b.WriteString(", ")
		}
		b.WriteString(column[1])
		if !prepare && same(group, c) {
			b.WriteString(" = ?")
			args = append(args, group[0].Args[c])
			continue
		}
		b.WriteString(" = CASE " + key)
		for i := range group {
			b.WriteString(" WHEN ? THEN ?")
			args = append(args, group[i].Args[last], group[i].Args[c])
		}
		b.WriteString(" END")
	}
	b.WriteString(" WHERE " + key + " IN (?" + strings.Repeat(", ?", len(group)-1) + ")")
	for i := range group {
		args = append(args, group[i].Args[last])
	}
	return b.String(), args
}

// same reports whether an argument has one value in all rows.
func same(group []batch.Write, c int) bool {
	for i := range group[1:] {
		if !equal(group[0].Args[c], group[i+1].Args[c]) {
			return false
		}
	}
	return true
}

func equal(a, b any) bool {
	first, isBytes := a.([]byte)
	if !isBytes {
		return a == b
	}
	return string(first) == string(b.([]byte))
}
