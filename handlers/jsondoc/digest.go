package jsondoc

import (
	"cmp"
	"crypto/sha256"
	"hash"
	"io"
	"slices"
)

// Digest is the SHA-256 of an object's content: equal for texts that differ in white space, in how
// strings are escaped or in the order of members, and for nothing else. Members of the root named in
// except do not count.
func (v Value) Digest(except ...string) []byte {
	sum := sha256.New()
	v.digest(sum, except)
	return sum.Sum(nil)
}

func (v Value) digest(sum hash.Hash, except []string) {
	n := v.node()
	switch {
	case n.flags&unscanned != 0, n.kind != Object && n.kind != Array && n.kind != String:
		_, _ = sum.Write(v.Raw()) // a hash takes everything
	case n.kind == String:
		digestText(sum, v)
	case n.kind == Array:
		_, _ = io.WriteString(sum, "[")
		v.Each(func(_ int, _ string, child Value) bool {
			child.digest(sum, nil)
			_, _ = io.WriteString(sum, ",")
			return true
		})
		_, _ = io.WriteString(sum, "]")
	default:
		v.digestMembers(sum, except)
	}
}

// digestText marks text with its length, so that no two values run into one another.
func digestText(sum hash.Hash, v Value) {
	text := v.Bytes()
	var length [9]byte
	length[0] = '"'
	for i, left := 1, len(text); i < len(length); i, left = i+1, left>>8 {
		length[i] = byte(left)
	}
	_, _ = sum.Write(length[:])
	_, _ = sum.Write(text)
}

func (v Value) digestMembers(sum hash.Hash, except []string) {
	n := v.node()
	type named struct {
		name string
		at   uint32
	}
	var members []named
	for at := v.at + 1; at < n.next; at = v.doc.nodes[at+1].next {
		if name := (Value{v.doc, at}).name(); !slices.Contains(except, name) {
			members = append(members, named{name, at})
		}
	}
	slices.SortStableFunc(members, func(a, b named) int { return cmp.Compare(a.name, b.name) })
	_, _ = io.WriteString(sum, "{")
	for _, member := range members {
		digestText(sum, Value{v.doc, member.at})
		Value{v.doc, member.at + 1}.digest(sum, nil)
		_, _ = io.WriteString(sum, ",")
	}
	_, _ = io.WriteString(sum, "}")
}
