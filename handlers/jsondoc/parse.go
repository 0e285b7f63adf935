package jsondoc

import (
	"encoding/binary"
	"unicode/utf8"
)

type parser struct {
	src    []byte
	pos    int
	doc    *Doc // nil while only checking
	record int  // deepest level whose values get nodes
}

func (p *parser) run() error {
	if !utf8.Valid(p.src) {
		return p.fail(firstInvalid(p.src), ErrUTF8)
	}
	p.space()
	if err := p.value(0); err != nil {
		return err
	}
	p.space()
	if p.pos != len(p.src) {
		return p.fail(p.pos, ErrSyntax)
	}
	return nil
}

func (p *parser) fail(offset int, cause error) error {
	return &SyntaxError{Offset: offset, Cause: cause}
}

func firstInvalid(src []byte) int {
	for i := 0; i < len(src); {
		r, size := utf8.DecodeRune(src[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return len(src)
}

func (p *parser) space() {
	for p.pos < len(p.src) {
		switch p.src[p.pos] {
		case ' ', '\t', '\n', '\r':
			p.pos++
		default:
			return
		}
	}
}

// open adds a node and returns its index, or -1 when the level is not recorded.
func (p *parser) open(kind Kind, start, depth int) int {
	if depth > p.record {
		return -1
	}
	p.doc.nodes = append(p.doc.nodes, node{kind: kind, start: uint32(start)})
	return len(p.doc.nodes) - 1
}

func (p *parser) close(at, end int, flags uint8) {
	if at < 0 {
		return
	}
	n := &p.doc.nodes[at]
	n.end, n.flags, n.next = uint32(end), flags, uint32(len(p.doc.nodes))
}

func (p *parser) value(depth int) error {
	if p.pos >= len(p.src) {
		return p.fail(p.pos, ErrSyntax)
	}
	switch c := p.src[p.pos]; {
	case c == '"':
		return p.str(depth)
	case c == '{':
		return p.object(depth)
	case c == '[':
		return p.array(depth)
	case c == 't':
		return p.literal("true", True, depth)
	case c == 'f':
		return p.literal("false", False, depth)
	case c == 'n':
		return p.literal("null", Null, depth)
	case c == '-' || (c >= '0' && c <= '9'):
		return p.number(depth)
	}
	return p.fail(p.pos, ErrSyntax)
}

func (p *parser) literal(text string, kind Kind, depth int) error {
	end := p.pos + len(text)
	if end > len(p.src) || string(p.src[p.pos:end]) != text {
		return p.fail(p.pos, ErrSyntax)
	}
	at := p.open(kind, p.pos, depth)
	p.pos = end
	p.close(at, end, 0)
	return nil
}

func (p *parser) array(depth int) error {
	if depth >= MaxDepth {
		return p.fail(p.pos, ErrDepth)
	}
	at := p.open(Array, p.pos, depth)
	p.pos++
	p.space()
	for first := true; !p.take(']'); first = false {
		if !first {
			if !p.take(',') {
				return p.fail(p.pos, ErrSyntax)
			}
			p.space()
		}
		if err := p.value(depth + 1); err != nil {
			return err
		}
		p.space()
	}
	p.close(at, p.pos, p.container(depth))
	return nil
}

func (p *parser) object(depth int) error {
	if depth >= MaxDepth {
		return p.fail(p.pos, ErrDepth)
	}
	at := p.open(Object, p.pos, depth)
	p.pos++
	p.space()
	for first := true; !p.take('}'); first = false {
		if !first {
			if !p.take(',') {
				return p.fail(p.pos, ErrSyntax)
			}
			p.space()
		}
		if err := p.member(depth + 1); err != nil {
			return err
		}
		p.space()
	}
	p.close(at, p.pos, p.container(depth))
	return nil
}

func (p *parser) member(depth int) error {
	if p.pos >= len(p.src) || p.src[p.pos] != '"' {
		return p.fail(p.pos, ErrSyntax)
	}
	if err := p.str(depth); err != nil {
		return err
	}
	p.space()
	if !p.take(':') {
		return p.fail(p.pos, ErrSyntax)
	}
	p.space()
	return p.value(depth)
}

// container marks arrays and objects whose children lie below the recorded
// levels.
func (p *parser) container(depth int) uint8 {
	if depth == p.record {
		return unscanned
	}
	return 0
}

func (p *parser) take(c byte) bool {
	if p.pos < len(p.src) && p.src[p.pos] == c {
		p.pos++
		return true
	}
	return false
}

func (p *parser) str(depth int) error {
	p.pos++
	at := p.open(String, p.pos, depth)
	var flags uint8
	for {
		p.plain()
		if p.pos >= len(p.src) {
			return p.fail(p.pos, ErrSyntax)
		}
		switch c := p.src[p.pos]; {
		case c == '"':
			p.close(at, p.pos, flags)
			p.pos++
			return nil
		case c == '\\':
			flags = escaped
			if err := p.escape(); err != nil {
				return err
			}
		default:
			return p.fail(p.pos, ErrControl)
		}
	}
}

// plain skips to the next quote, backslash or control character, eight bytes at
// a time: most of what is read here is base64.
func (p *parser) plain() {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	i := p.pos
	for ; i+8 <= len(p.src); i += 8 {
		w := binary.LittleEndian.Uint64(p.src[i:])
		quote, slash := w^(ones*'"'), w^(ones*'\\')
		stop := (w - ones*0x20) &^ w
		stop |= (quote - ones) &^ quote
		stop |= (slash - ones) &^ slash
		if stop&high != 0 {
			break
		}
	}
	for ; i < len(p.src); i++ {
		if c := p.src[i]; c < 0x20 || c == '"' || c == '\\' {
			break
		}
	}
	p.pos = i
}
