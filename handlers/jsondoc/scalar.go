package jsondoc

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// escape checks one backslash escape; p.pos is at the backslash.
func (p *parser) escape() error {
	start := p.pos
	if start+1 >= len(p.src) {
		return p.fail(start, ErrSyntax)
	}
	switch p.src[start+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		p.pos += 2
		return nil
	case 'u':
	default:
		return p.fail(start, ErrSyntax)
	}
	unit, ok := hexUnit(p.src, start)
	if !ok {
		return p.fail(start, ErrSyntax)
	}
	p.pos += 6
	if unit == 0 {
		p.report(start, NUL)
	}
	if !utf16.IsSurrogate(unit) {
		return nil
	}
	low, ok := hexUnit(p.src, p.pos)
	if !ok || utf16.DecodeRune(unit, low) == utf8.RuneError {
		return p.fail(start, ErrSurrogate)
	}
	p.pos += 6
	return nil
}

// hexUnit reads the \uXXXX at offset at.
func hexUnit(src []byte, at int) (rune, bool) {
	if at+6 > len(src) || src[at] != '\\' || src[at+1] != 'u' {
		return 0, false
	}
	var unit rune
	for _, c := range src[at+2 : at+6] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		unit = unit<<4 | rune(c)
	}
	return unit, true
}

// unescape decodes text whose escapes the parser has already accepted.
func unescape(text []byte) string {
	var out strings.Builder
	out.Grow(len(text))
	for i := 0; i < len(text); {
		c := text[i]
		if c != '\\' {
			out.WriteByte(c)
			i++
			continue
		}
		if text[i+1] != 'u' {
			out.WriteByte(simpleEscape(text[i+1]))
			i += 2
			continue
		}
		unit, _ := hexUnit(text, i)
		i += 6
		if utf16.IsSurrogate(unit) {
			low, _ := hexUnit(text, i)
			unit = utf16.DecodeRune(unit, low)
			i += 6
		}
		out.WriteRune(unit)
	}
	return out.String()
}

func simpleEscape(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c
}

func (p *parser) number(depth int) error {
	start := p.pos
	p.take('-')
	integer := true
	if !p.take('0') && p.digits() == 0 {
		return p.fail(p.pos, ErrSyntax)
	}
	if p.take('.') {
		integer = false
		if p.digits() == 0 {
			return p.fail(p.pos, ErrSyntax)
		}
	}
	if p.take('e') || p.take('E') {
		integer = false
		if !p.take('+') {
			p.take('-')
		}
		if p.digits() == 0 {
			return p.fail(p.pos, ErrSyntax)
		}
	}
	at := p.open(Number, start, depth)
	p.close(at, p.pos, 0)
	if !fits(p.src[start:p.pos], integer) {
		p.report(start, Range)
	}
	return nil
}

func (p *parser) digits() int {
	start := p.pos
	for p.pos < len(p.src) && p.src[p.pos] >= '0' && p.src[p.pos] <= '9' {
		p.pos++
	}
	return p.pos - start
}

// fits reports whether a literal is a signed 64-bit integer or a finite 64-bit
// float. Short literals need no closer look.
func fits(literal []byte, integer bool) bool {
	if integer {
		if len(literal) < 19 {
			return true
		}
		_, err := strconv.ParseInt(string(literal), 10, 64)
		return err == nil
	}
	f, err := strconv.ParseFloat(string(literal), 64)
	return err == nil && !math.IsInf(f, 0)
}
