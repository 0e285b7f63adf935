package rules

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Object builds one JSON object by appending. Empty text and absent values are dropped, since
// history payloads carry no nulls (commands-and-history.md 5). Members keep the order of the calls.
type Object struct{ buf []byte }

// NewObject starts an object with room for size bytes.
func NewObject(size int) *Object {
	return &Object{buf: append(make([]byte, 0, size), '{')}
}

// Bytes ends the object.
func (o *Object) Bytes() []byte { return append(o.buf, '}') }

func (o *Object) key(name string) {
	if len(o.buf) > 1 {
		o.buf = append(o.buf, ',')
	}
	o.buf = append(o.buf, '"')
	o.buf = append(o.buf, name...)
	o.buf = append(o.buf, '"', ':')
}

// Str adds text; "" adds nothing.
func (o *Object) Str(name, value string) *Object {
	if value != "" {
		o.key(name)
		o.buf = AppendString(o.buf, value)
	}
	return o
}

// Text adds text even when it is empty.
func (o *Object) Text(name, value string) *Object {
	o.key(name)
	o.buf = AppendString(o.buf, value)
	return o
}

// Int adds an integer.
func (o *Object) Int(name string, value int64) *Object {
	o.key(name)
	o.buf = strconv.AppendInt(o.buf, value, 10)
	return o
}

// IntPtr adds an integer unless it is nil.
func (o *Object) IntPtr(name string, value *int64) *Object {
	if value != nil {
		o.Int(name, *value)
	}
	return o
}

// Bool adds true or false.
func (o *Object) Bool(name string, value bool) *Object {
	o.key(name)
	o.buf = strconv.AppendBool(o.buf, value)
	return o
}

// Time adds an instant; 0 and Never add nothing.
func (o *Object) Time(name string, micros int64) *Object {
	if micros != 0 && micros != Never {
		o.key(name)
		o.buf = append(o.buf, '"')
		o.buf = AppendTime(o.buf, micros)
		o.buf = append(o.buf, '"')
	}
	return o
}

// Raw adds a JSON document; an empty one adds nothing.
func (o *Object) Raw(name string, doc []byte) *Object {
	if len(doc) > 0 {
		o.key(name)
		o.buf = append(o.buf, doc...)
	}
	return o
}

// Members splices the members of another JSON object in; an empty one adds nothing.
func (o *Object) Members(doc []byte) *Object {
	if len(doc) > 2 {
		if len(o.buf) > 1 {
			o.buf = append(o.buf, ',')
		}
		o.buf = append(o.buf, doc[1:len(doc)-1]...)
	}
	return o
}

// TimeLayout is the wire form of instants: RFC 3339 UTC with microseconds.
const TimeLayout = "2006-01-02T15:04:05.000000Z"

// AppendTime appends an instant in wire form.
func AppendTime(dst []byte, micros int64) []byte {
	return time.UnixMicro(micros).UTC().AppendFormat(dst, TimeLayout)
}

// FormatTime is an instant in wire form.
func FormatTime(micros int64) string { return string(AppendTime(nil, micros)) }

const hexDigits = "0123456789abcdef"

// AppendString appends text as a JSON string. Bytes that are not UTF-8 become the replacement
// character: what is written is always valid.
func AppendString(dst []byte, s string) []byte {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\ufffd")
	}
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[start:i]...)
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
		start = i + 1
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

// IsObject reports whether a stored document still begins and ends as an object does. It does not parse
// it: documents are checked when they come in, and what is looked for here is one that was cut.
func IsObject(doc []byte) bool {
	return len(doc) > 1 && doc[0] == '{' && doc[len(doc)-1] == '}'
}

// truncate cuts text to at most n bytes on a rune boundary.
func truncate(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// members reads a JSON object's members as raw JSON without its nulls; nil when it is no object.
func members(doc []byte) map[string]json.RawMessage {
	if len(doc) == 0 {
		return nil
	}
	var m map[string]json.RawMessage
	if json.Unmarshal(doc, &m) != nil {
		return nil
	}
	for name, v := range m {
		if string(v) == "null" {
			delete(m, name)
		}
	}
	return m
}

// Text reads one string member of a JSON object, "" when absent or of another type.
func Text(doc []byte, name string) string {
	var s string
	if v := members(doc)[name]; v != nil && json.Unmarshal(v, &s) == nil {
		return s
	}
	return ""
}
