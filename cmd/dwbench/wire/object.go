package wire

import "strconv"

// Object is a JSON object under construction. The zero value is an empty one.
type Object struct {
	out []byte
}

// Reset starts over, keeping the memory.
func (o *Object) Reset() { o.out = o.out[:0] }

// Bytes closes the object and returns its text, which the next Reset overwrites.
func (o *Object) Bytes() []byte {
	if len(o.out) == 0 {
		o.out = append(o.out, '{')
	}
	return append(o.out, '}')
}

func (o *Object) name(name string) {
	if len(o.out) == 0 {
		o.out = append(o.out, '{')
	} else {
		o.out = append(o.out, ',')
	}
	o.out = append(o.out, '"')
	o.out = append(o.out, name...)
	o.out = append(o.out, '"', ':')
}

// Text adds a string that needs no escaping: names, ids and types of our own making, or echoed.
func (o *Object) Text(name, value string) {
	o.name(name)
	o.out = append(o.out, '"')
	o.out = append(o.out, value...)
	o.out = append(o.out, '"')
}

// Integer adds a number.
func (o *Object) Integer(name string, value int64) {
	o.name(name)
	o.out = strconv.AppendInt(o.out, value, 10)
}

// Bool adds true or false.
func (o *Object) Bool(name string, value bool) {
	o.name(name)
	o.out = strconv.AppendBool(o.out, value)
}

// Raw adds JSON text as it is.
func (o *Object) Raw(name string, value []byte) {
	o.name(name)
	o.out = append(o.out, value...)
}
