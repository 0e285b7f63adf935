package handlers

import (
	"slices"
	"strconv"

	"dwserver/runtime/rules"
)

// objectWriter builds a JSON object member by member around text that is already JSON, without
// looking at that text again. The zero value is an empty object.
type objectWriter struct{ out []byte }

// grow makes room for size more bytes.
func (w *objectWriter) grow(size int) { w.out = slices.Grow(w.out, size) }

// comma separates what follows from a member or element before it, and opens the object at the first.
func (w *objectWriter) comma() {
	switch n := len(w.out); {
	case n == 0:
		w.open()
	case w.out[n-1] != '{' && w.out[n-1] != '[':
		w.out = append(w.out, ',')
	}
}

func (w *objectWriter) key(name string) {
	w.comma()
	w.out = append(rules.AppendString(w.out, name), ':')
}

// raw adds a member whose value is JSON text; empty text is null.
func (w *objectWriter) raw(name string, value []byte) {
	w.key(name)
	if len(value) == 0 {
		w.out = append(w.out, "null"...)
		return
	}
	w.out = append(w.out, value...)
}

func (w *objectWriter) text(name, value string) {
	w.key(name)
	w.out = rules.AppendString(w.out, value)
}

// optionalText adds null for "".
func (w *objectWriter) optionalText(name, value string) {
	if value == "" {
		w.raw(name, nil)
		return
	}
	w.text(name, value)
}

func (w *objectWriter) integer(name string, value int64) {
	w.key(name)
	w.out = strconv.AppendInt(w.out, value, 10)
}

func (w *objectWriter) boolean(name string, value bool) {
	w.key(name)
	w.out = strconv.AppendBool(w.out, value)
}

// instant adds a time in microseconds; 0 and Never are null.
func (w *objectWriter) instant(name string, micros int64) {
	if micros == 0 || micros == rules.Never {
		w.raw(name, nil)
		return
	}
	w.key(name)
	w.out = append(w.out, '"')
	w.out = rules.AppendTime(w.out, micros)
	w.out = append(w.out, '"')
}

// begin opens a member that is an object of about size bytes; end closes it.
func (w *objectWriter) begin(name string, size int) {
	w.grow(size)
	w.key(name)
	w.open()
}

func (w *objectWriter) open() { w.out = append(w.out, '{') }
func (w *objectWriter) end()  { w.out = append(w.out, '}') }

// beginList opens a member that is a list; element precedes each of its values, endList closes it.
func (w *objectWriter) beginList(name string) {
	w.key(name)
	w.out = append(w.out, '[')
}

func (w *objectWriter) element() { w.comma() }
func (w *objectWriter) endList() { w.out = append(w.out, ']') }

// empty reports an object without members.
func (w *objectWriter) empty() bool { return len(w.out) == 0 }

// members are the members without braces; the object must not be used afterwards.
func (w *objectWriter) members() []byte {
	if w.empty() {
		return nil
	}
	return w.out[1:]
}

// bytes is the whole object; it must not be used afterwards.
func (w *objectWriter) bytes() []byte {
	w.grow(len("{}"))
	if w.empty() {
		w.open()
	}
	w.end()
	return w.out
}
