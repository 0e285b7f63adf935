package jsondoc

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"slices"
)

// Digest is the SHA-256 of an object's content: equal for texts that differ in white space, in how
// strings are escaped or in the order of members, and for nothing else. Members of the root named in
// except do not count.
func (v Value) Digest(except ...string) []byte {
	d := digester{sum: sha256.New(), buf: make([]byte, 0, flushAt+64)}
	d.value(v, except)
	d.flush()
	return d.sum.Sum(nil)
}

// flushAt bounds how much is gathered before it is hashed.
const flushAt = 1024

// digester gathers the canonical form of a value in front of its hash.
type digester struct {
	sum     hash.Hash
	buf     []byte
	members []named // a stack of the members of the objects being written
}

type named struct {
	name string
	at   uint32
}

func (d *digester) flush() {
	_, _ = d.sum.Write(d.buf) // a hash takes everything
	d.buf = d.buf[:0]
}

func (d *digester) bytes(text []byte) {
	if len(d.buf)+len(text) > flushAt {
		d.flush()
	}
	if len(text) > flushAt {
		_, _ = d.sum.Write(text) // as above
		return
	}
	d.buf = append(d.buf, text...)
}

func (d *digester) mark(c byte) { d.buf = append(d.buf, c) }

// text marks a string with its length, so that no two values run into one another.
func (d *digester) text(v Value) {
	text := v.Bytes()
	d.mark('"')
	d.buf = binary.AppendUvarint(d.buf, uint64(len(text)))
	d.bytes(text)
}

func (d *digester) value(v Value, except []string) {
	n := v.node()
	switch {
	case n.flags&unscanned != 0, n.kind != Object && n.kind != Array && n.kind != String:
		d.bytes(v.Raw())
	case n.kind == String:
		d.text(v)
	case n.kind == Array:
		d.mark('[')
		for at := v.at + 1; at < n.next; at = v.doc.nodes[at].next {
			d.value(Value{v.doc, at}, nil)
			d.mark(',')
		}
		d.mark(']')
	default:
		d.object(v, except)
	}
}

func (d *digester) object(v Value, except []string) {
	n := v.node()
	first := len(d.members)
	for at := v.at + 1; at < n.next; at = v.doc.nodes[at+1].next {
		if name := (Value{v.doc, at}).name(); !slices.Contains(except, name) {
			d.members = append(d.members, named{name, at})
		}
	}
	slices.SortStableFunc(d.members[first:], func(a, b named) int { return cmp.Compare(a.name, b.name) })
	d.mark('{')
	for i, last := first, len(d.members); i < last; i++ {
		at := d.members[i].at
		d.text(Value{v.doc, at})
		d.value(Value{v.doc, at + 1}, nil)
		d.mark(',')
	}
	d.mark('}')
	d.members = d.members[:first]
}
