// Package jsondoc reads one JSON text into a flat tree that keeps the bytes it
// came from.
//
// A standard decoder would round numbers, fold the case of member names, take
// lone surrogates and lose the original bytes of free-form values. Here a
// number stays its text, a name matches exactly, a broken string is refused and
// the bytes of any value can be stored as they arrived.
package jsondoc

import (
	"bytes"
	"errors"
	"strconv"
	"sync"
)

// Kind is the JSON type of a value.
type Kind uint8

// The kinds of JSON values.
const (
	Null Kind = iota + 1
	True
	False
	Number
	String
	Array
	Object
)

// MaxDepth is the deepest nesting of arrays and objects that is accepted.
const MaxDepth = 512

// Errors of Parse and Check. They are always wrapped in a *SyntaxError.
var (
	ErrUTF8      = errors.New("malformed UTF-8 characters, possibly incorrectly encoded")
	ErrDepth     = errors.New("maximum nesting depth of 512 exceeded")
	ErrSurrogate = errors.New("single unpaired surrogate in a unicode escape")
	ErrControl   = errors.New("unescaped control character in a string")
	ErrSyntax    = errors.New("syntax error")
)

// SyntaxError says why a text is not JSON, and near which byte.
type SyntaxError struct {
	Offset int
	Cause  error
}

func (e *SyntaxError) Error() string {
	return e.Cause.Error() + " at byte " + strconv.Itoa(e.Offset)
}

// Unwrap returns one of the sentinels of this package.
func (e *SyntaxError) Unwrap() error { return e.Cause }

const (
	escaped   = 1 << iota // a string with backslash escapes
	replaced              // a value that no longer equals its source bytes
	unscanned             // a container whose children are not in the tree
)

// node is one value. Strings span the text between the quotes, everything else
// its whole text. An object's children alternate between name and value.
type node struct {
	kind       Kind
	flags      uint8
	start, end uint32
	next       uint32 // index of the first node after this subtree
}

// Doc is a parsed JSON text. It is not safe for concurrent use while it is
// being normalised.
type Doc struct {
	src    []byte
	nodes  []node
	texts  map[uint32]string // decoded text of strings that were changed
	issues []issue
}

var docs = sync.Pool{New: func() any { return &Doc{nodes: make([]node, 0, 64)} }}

// pooledNodes bounds what a released document keeps: one huge request must not
// hold its memory for ever.
const pooledNodes = 4096

// Parse reads src, which must not change while the document is in use. Values
// nested deeper than recordDepth levels (the root is level 0) are checked but
// kept as raw text without children. Errors are *SyntaxError.
func Parse(src []byte, recordDepth int) (*Doc, error) {
	doc := docs.Get().(*Doc)
	doc.src = src
	p := parser{src: src, doc: doc, record: recordDepth}
	if err := p.run(); err != nil {
		doc.Release()
		return nil, err
	}
	return doc, nil
}

// Check only says whether src is JSON, without building anything.
func Check(src []byte) error {
	p := parser{src: src, record: -1}
	return p.run()
}

// Release gives the document's memory back; it and its values must not be used
// afterwards. What Decode produced stays valid.
func (d *Doc) Release() {
	if cap(d.nodes) > pooledNodes {
		return
	}
	*d = Doc{nodes: d.nodes[:0], issues: d.issues[:0]}
	docs.Put(d)
}

// Root is the document's outermost value.
func (d *Doc) Root() Value { return Value{doc: d, at: 0} }

// Value is one value inside a document.
type Value struct {
	doc *Doc
	at  uint32
}

func (v Value) node() *node { return &v.doc.nodes[v.at] }

// Kind is the value's type.
func (v Value) Kind() Kind { return v.node().kind }

// IsZero reports the Value that stands for "no such member".
func (v Value) IsZero() bool { return v.doc == nil }

// Empty reports an array or object without children.
func (v Value) Empty() bool {
	n := v.node()
	if n.flags&unscanned != 0 {
		return len(bytes.TrimSpace(v.doc.src[n.start+1:n.end-1])) == 0
	}
	return n.next == v.at+1
}

// Text is a number's literal or a string's decoded text.
func (v Value) Text() string {
	n := v.node()
	if n.kind == String && n.flags&(escaped|replaced) != 0 {
		if text, ok := v.doc.texts[v.at]; ok {
			return text
		}
		return unescape(v.doc.src[n.start:n.end])
	}
	return string(v.doc.src[n.start:n.end])
}

// Bytes is Text as bytes, which share the document's unless the string has escapes or was changed.
func (v Value) Bytes() []byte {
	n := v.node()
	if n.kind == String && n.flags&(escaped|replaced) != 0 {
		return []byte(v.Text())
	}
	return v.doc.src[n.start:n.end:n.end]
}

// Raw is the value's JSON text: the bytes that arrived, or the normalised text
// if something inside was changed.
func (v Value) Raw() []byte {
	n := v.node()
	if !v.changed() {
		if n.kind == String {
			return v.doc.src[n.start-1 : n.end+1 : n.end+1]
		}
		return v.doc.src[n.start:n.end:n.end]
	}
	return v.appendJSON(nil)
}

func (v Value) changed() bool {
	n := v.node()
	for i := v.at; i < n.next; i++ {
		if v.doc.nodes[i].flags&replaced != 0 {
			return true
		}
	}
	return false
}

// Each calls f for every element of an array or every member of an object (name
// is "" for elements) until f returns false.
func (v Value) Each(f func(i int, name string, child Value) bool) {
	n := v.node()
	if n.kind != Array && n.kind != Object {
		return
	}
	i := 0
	for at := v.at + 1; at < n.next; i++ {
		name := ""
		if n.kind == Object {
			name = Value{v.doc, at}.name()
			at++
		}
		child := Value{v.doc, at}
		if !f(i, name, child) {
			return
		}
		at = child.node().next
	}
}

// Member finds an object's member by its exact name; of repeated names the last
// counts. The result IsZero when there is none.
func (v Value) Member(name string) Value {
	var found Value
	n := v.node()
	if n.kind != Object {
		return found
	}
	for at := v.at + 1; at < n.next; {
		hit := v.nameIs(at, name)
		child := Value{v.doc, at + 1}
		if hit {
			found = child
		}
		at = child.node().next
	}
	return found
}

// nameIs compares without allocating for the usual name without escapes.
func (v Value) nameIs(at uint32, name string) bool {
	n := &v.doc.nodes[at]
	if n.flags&escaped != 0 {
		return Value{v.doc, at}.Text() == name
	}
	return string(v.doc.src[n.start:n.end]) == name
}
