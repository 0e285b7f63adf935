// Package wire is the little JSON and HTTP that the benchmark's workers and clients need, written so
// that the fleet takes as little of the machine as it can: what is measured is the server.
package wire

import (
	"bytes"
	"errors"
	"strconv"
)

// ErrMalformed is JSON text that does not have the shape that was asked for.
var ErrMalformed = errors.New("malformed JSON")

// Members calls fn with the name and the raw text of every member of a JSON object, in order, until fn
// returns false. Both slices point into the text. Values that fn does not look into are only skipped
// over: they are checked for balance, not for grammar. Errors: ErrMalformed.
func Members(object []byte, fn func(name, value []byte) bool) error {
	s := scanner{text: object}
	if !s.take('{') {
		return ErrMalformed
	}
	for first := true; ; first = false {
		if s.take('}') {
			return nil
		}
		if !first && !s.take(',') {
			return ErrMalformed
		}
		name := s.value()
		if len(name) < 2 || name[0] != '"' || !s.take(':') {
			return ErrMalformed
		}
		value := s.value()
		if len(value) == 0 {
			return ErrMalformed
		}
		if !fn(name[1:len(name)-1], value) {
			return nil
		}
	}
}

// Elements calls fn with the raw text of every element of a JSON array. Errors: ErrMalformed.
func Elements(array []byte, fn func(value []byte) bool) error {
	s := scanner{text: array}
	if !s.take('[') {
		return ErrMalformed
	}
	for first := true; ; first = false {
		if s.take(']') {
			return nil
		}
		if !first && !s.take(',') {
			return ErrMalformed
		}
		value := s.value()
		if len(value) == 0 {
			return ErrMalformed
		}
		if !fn(value) {
			return nil
		}
	}
}

// Text is the string that a raw value holds; "" for null and anything else that is not a string.
func Text(value []byte) string {
	if len(value) < 2 || value[0] != '"' {
		return ""
	}
	inner := value[1 : len(value)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return string(inner)
	}
	text, err := strconv.Unquote(string(value)) // close enough to JSON for ids and names
	if err != nil {
		return string(inner)
	}
	return text
}

// Integer is the integer that a raw value holds; 0 for null and anything else that is not one.
func Integer(value []byte) int64 {
	n, err := strconv.ParseInt(string(value), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// True reports whether a raw value is the literal true.
func True(value []byte) bool { return string(value) == "true" }

// Null reports whether a raw value is absent or the literal null.
func Null(value []byte) bool { return len(value) == 0 || string(value) == "null" }

type scanner struct {
	text []byte
	at   int
}

func (s *scanner) blanks() {
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case ' ', '\t', '\n', '\r':
			s.at++
		default:
			return
		}
	}
}

// take steps over one character if it comes next.
func (s *scanner) take(c byte) bool {
	s.blanks()
	if s.at < len(s.text) && s.text[s.at] == c {
		s.at++
		return true
	}
	return false
}

// value steps over one value and returns its text, empty when there is none.
func (s *scanner) value() []byte {
	s.blanks()
	if s.at >= len(s.text) {
		return nil
	}
	from := s.at
	switch s.text[from] {
	case '"':
		s.quoted()
	case '{', '[':
		s.nested()
	default:
		for s.at < len(s.text) && !delimiter(s.text[s.at]) {
			s.at++
		}
	}
	return s.text[from:s.at]
}

func delimiter(c byte) bool {
	return c == ',' || c == '}' || c == ']' || c == ':' || c <= ' '
}

// quoted steps over a string. An unfinished one ends with the text, which the caller then misses a
// delimiter after.
func (s *scanner) quoted() {
	s.at++
	for {
		i := bytes.IndexByte(s.text[s.at:], '"')
		if i < 0 {
			s.at = len(s.text)
			return
		}
		end := s.at + i
		escapes := 0
		for end-1-escapes >= s.at && s.text[end-1-escapes] == '\\' {
			escapes++
		}
		s.at = end + 1
		if escapes%2 == 0 {
			return
		}
	}
}

// nested steps over an object or array.
func (s *scanner) nested() {
	depth := 0
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case '"':
			s.quoted()
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		s.at++
		if depth == 0 {
			return
		}
	}
}
