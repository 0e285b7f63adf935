package jsondoc

import (
	"encoding/json"
	"strconv"
)

// ToObject turns an empty array into an empty object: PHP cannot tell the two
// apart and sends the former.
func (v Value) ToObject() {
	n := v.node()
	n.kind = Object
	n.flags |= replaced
}

// ToNumber turns a string that holds an integer into that number.
func (v Value) ToNumber() {
	n := v.node()
	n.kind = Number
	n.flags |= replaced
}

// SetText replaces a string.
func (v Value) SetText(text string) {
	if v.doc.texts == nil {
		v.doc.texts = map[uint32]string{}
	}
	v.doc.texts[v.at] = text
	v.node().flags |= replaced
}

func (v Value) appendJSON(out []byte) []byte {
	n := v.node()
	switch {
	case n.kind == Null:
		return append(out, "null"...)
	case n.kind == Object && n.flags&replaced != 0:
		return append(out, "{}"...)
	case n.kind == Number && n.flags&replaced != 0:
		i, _ := strconv.ParseInt(v.Text(), 10, 64) // "007" is not a JSON number
		return strconv.AppendInt(out, i, 10)
	case n.kind == String:
		return v.appendString(out)
	case (n.kind != Array && n.kind != Object) || n.flags&unscanned != 0:
		return append(out, v.doc.src[n.start:n.end]...)
	}
	return v.appendChildren(out)
}

func (v Value) appendString(out []byte) []byte {
	n := v.node()
	if n.flags&replaced != 0 {
		text, _ := json.Marshal(v.Text()) // marshalling a string cannot fail
		return append(out, text...)
	}
	return append(out, v.doc.src[n.start-1:n.end+1]...)
}

func (v Value) appendChildren(out []byte) []byte {
	n := v.node()
	brackets := "[]"
	if n.kind == Object {
		brackets = "{}"
	}
	out = append(out, brackets[0])
	for at := v.at + 1; at < n.next; {
		if at != v.at+1 {
			out = append(out, ',')
		}
		if n.kind == Object {
			out = Value{v.doc, at}.appendString(out)
			out = append(out, ':')
			at++
		}
		child := Value{v.doc, at}
		out = child.appendJSON(out)
		at = child.node().next
	}
	return append(out, brackets[1])
}

// ToNull makes the value null, as if its member were absent.
func (v Value) ToNull() {
	n := v.node()
	n.kind = Null
	n.flags |= replaced
}
