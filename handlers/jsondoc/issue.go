package jsondoc

import (
	"slices"
	"strconv"
)

// IssueKind names text that is JSON but that no field may hold.
type IssueKind uint8

// What can be wrong with a well-formed value.
const (
	NUL   IssueKind = iota + 1 // a NUL character in a string
	Range                      // a number beyond 64 bits
)

type issue struct {
	offset uint32
	kind   IssueKind
}

// maxIssues bounds the list: a reader needs the first few, not a million.
const maxIssues = 20

func (p *parser) report(offset int, kind IssueKind) {
	if p.doc == nil || len(p.doc.issues) >= maxIssues {
		return
	}
	p.doc.issues = append(p.doc.issues, issue{uint32(offset), kind})
}

// Issues calls f with the dotted path of each unacceptable value outside of apart. A list that is full may hide
// others, so nothing is left out then.
func (d *Doc) Issues(f func(path string, kind IssueKind), apart ...Value) {
	for _, found := range d.issues {
		if len(d.issues) < maxIssues && slices.ContainsFunc(apart, func(v Value) bool { return v.holds(found.offset) }) {
			continue
		}
		f(d.pathAt(found.offset), found.kind)
	}
}

func (v Value) holds(offset uint32) bool {
	return !v.IsZero() && v.node().start <= offset && offset < v.node().end
}

// pathAt finds the path of the innermost recorded value, or of the member whose
// name holds the offset.
func (d *Doc) pathAt(offset uint32) string {
	path := ""
	at := d.Root()
	for {
		child, step := at.childAt(offset)
		if child.IsZero() {
			return path
		}
		path = Join(path, step)
		if child.node().start > offset { // it is the member's name
			return path
		}
		at = child
	}
}

func (v Value) childAt(offset uint32) (found Value, step string) {
	object := v.Kind() == Object
	v.Each(func(i int, name string, child Value) bool {
		// The name precedes the value, so the first value that ends after the
		// offset belongs to the member that holds it.
		if child.node().end <= offset {
			return true
		}
		found, step = child, name
		if !object {
			step = strconv.Itoa(i)
		}
		return false
	})
	return found, step
}

// Join appends one step to a dotted field path.
func Join(path, step string) string {
	if path == "" {
		return step
	}
	return path + "." + step
}
