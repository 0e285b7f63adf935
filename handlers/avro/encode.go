package avro

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"dwserver/handlers/jsondoc"
)

// ErrRange is a JSON number that neither a 64-bit integer nor a finite 64-bit float can hold.
var ErrRange = errors.New("number beyond 64 bits")

// EncodeJSON encodes one JSON text. A number with a fraction or an exponent becomes a double, every
// other number a long, so that 3.0 and 3 stay apart and integers stay exact. Member order is kept.
// A doubled member name is kept twice, in order: readers take the last, as they do in JSON.
// Errors are *jsondoc.SyntaxError, or wrap ErrRange.
func EncodeJSON(text []byte) (Frame, error) {
	doc, err := jsondoc.Parse(text, jsondoc.MaxDepth)
	if err != nil {
		return nil, err
	}
	defer doc.Release()
	return Encode(doc.Root())
}

// Encode is EncodeJSON of a value that is already parsed to its full depth.
func Encode(v jsondoc.Value) (Frame, error) {
	e := encoder{out: append(make([]byte, 0, 64), frameHead...)}
	e.value(v)
	return e.out, e.err
}

// EncodeArguments encodes the arguments of a command: a JSON array is the list itself, an object gives
// its members' values in order. Other kinds are encoded as they are. Errors as for EncodeJSON.
func EncodeArguments(v jsondoc.Value) (Frame, error) {
	if v.Kind() != jsondoc.Object {
		return Encode(v)
	}
	e := encoder{out: append(make([]byte, 0, 64), frameHead...)}
	e.long(branchArray)
	e.children(v, false)
	return e.out, e.err
}

// EmptyList is the frame of a list without elements: the arguments of a command that has none.
func EmptyList() Frame { return append(Frame(frameHead), branchArray<<1, 0) }

type encoder struct {
	out []byte
	err error
}

func (e *encoder) long(n int64) { e.out = binary.AppendVarint(e.out, n) }

func (e *encoder) text(s string) {
	e.long(int64(len(s)))
	e.out = append(e.out, s...)
}

func (e *encoder) value(v jsondoc.Value) {
	switch v.Kind() {
	case jsondoc.Null:
		e.long(branchNull)
	case jsondoc.True:
		e.out = append(e.out, branchBoolean<<1, 1)
	case jsondoc.False:
		e.out = append(e.out, branchBoolean<<1, 0)
	case jsondoc.Number:
		e.number(v.Text())
	case jsondoc.String:
		e.long(branchString)
		e.text(v.Text())
	case jsondoc.Array:
		e.long(branchArray)
		e.children(v, false)
	case jsondoc.Object:
		e.long(branchMap)
		e.children(v, true)
	}
}

// children writes one block with all elements, and the empty block that ends the list.
func (e *encoder) children(v jsondoc.Value, named bool) {
	count := int64(0)
	v.Each(func(int, string, jsondoc.Value) bool { count++; return true })
	if count > 0 {
		e.long(count)
		v.Each(func(_ int, name string, child jsondoc.Value) bool {
			if named {
				e.text(name)
			}
			e.value(child)
			return e.err == nil
		})
	}
	e.long(0)
}

func (e *encoder) number(literal string) {
	if !strings.ContainsAny(literal, ".eE") {
		n, err := strconv.ParseInt(literal, 10, 64)
		if err != nil {
			e.err = fmt.Errorf("%w: %s", ErrRange, shorten(literal))
			return
		}
		e.long(branchLong)
		e.long(n)
		return
	}
	f, err := strconv.ParseFloat(literal, 64)
	if err != nil {
		e.err = fmt.Errorf("%w: %s", ErrRange, shorten(literal))
		return
	}
	e.long(branchDouble)
	e.out = binary.LittleEndian.AppendUint64(e.out, math.Float64bits(f))
}

// shorten keeps a huge literal out of messages.
func shorten(literal string) string {
	if len(literal) > 40 {
		return literal[:40] + "…"
	}
	return literal
}
