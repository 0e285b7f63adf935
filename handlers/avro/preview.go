package avro

import (
	"encoding/base64"
	"errors"
	"math"
	"strconv"

	"dwserver/runtime/rules"
)

// Bounds of a preview (settled.md, Control plane).
const (
	PreviewDepth = 64       // levels of arrays and maps
	PreviewBytes = 64 << 10 // bytes of JSON text
)

// errNoPreview ends the writing of a preview that would be too deep or too large.
var errNoPreview = errors.New("no preview")

// Preview shows a frame as JSON: bytes as {"$bytes":"<base64>"}, a double always with a fraction or an
// exponent, members in their encoded order. It is nil when the frame does not decode, is nested deeper
// than PreviewDepth or would be longer than PreviewBytes.
func (f Frame) Preview() []byte {
	p := preview{}
	r := reader{data: f, at: len(frameHead)}
	if r.whole(&p) != nil {
		return nil
	}
	return p.out
}

// PreviewBlob is Preview of an envelope's blob, nil also when the blob is no frame.
func PreviewBlob(blob string) []byte {
	f, err := ParseBlob(blob)
	if err != nil {
		return nil
	}
	return f.Preview()
}

// preview writes JSON text.
type preview struct{ out []byte }

func (p *preview) fits() error {
	if len(p.out) > PreviewBytes {
		return errNoPreview
	}
	return nil
}

// room refuses text that alone is too long, before it is copied.
func (p *preview) room(n int) error {
	if n > PreviewBytes-len(p.out) {
		return errNoPreview
	}
	return nil
}

func (p *preview) null() error {
	p.out = append(p.out, "null"...)
	return p.fits()
}

func (p *preview) boolean(b bool) error {
	p.out = strconv.AppendBool(p.out, b)
	return p.fits()
}

func (p *preview) long(n int64) error {
	p.out = strconv.AppendInt(p.out, n, 10)
	return p.fits()
}

func (p *preview) double(f float64) error {
	p.out = AppendDouble(p.out, f)
	return p.fits()
}

func (p *preview) bytes(b []byte) error {
	if err := p.room(base64.StdEncoding.EncodedLen(len(b))); err != nil {
		return err
	}
	p.out = append(p.out, `{"$bytes":"`...)
	p.out = base64.StdEncoding.AppendEncode(p.out, b)
	p.out = append(p.out, `"}`...)
	return p.fits()
}

func (p *preview) text(b []byte) error {
	if err := p.room(len(b)); err != nil {
		return err
	}
	p.out = rules.AppendString(p.out, string(b))
	return p.fits()
}

func (p *preview) open(branch int64, depth int) error {
	if depth > PreviewDepth {
		return errNoPreview
	}
	p.out = append(p.out, brackets(branch)[0])
	return nil
}

func (p *preview) element(int) error {
	p.comma()
	return nil
}

func (p *preview) key(name []byte, _ int) error {
	p.comma()
	if err := p.text(name); err != nil {
		return err
	}
	p.out = append(p.out, ':')
	return nil
}

func (p *preview) end(branch int64) error {
	p.out = append(p.out, brackets(branch)[1])
	return p.fits()
}

// comma separates an element from the one before it, if there is one.
func (p *preview) comma() {
	if last := p.out[len(p.out)-1]; last != '[' && last != '{' {
		p.out = append(p.out, ',')
	}
}

func brackets(branch int64) string {
	if branch == branchMap {
		return "{}"
	}
	return "[]"
}

// AppendDouble appends a finite double in the shortest form that reads back as the same number and
// cannot be taken for an integer: 3.0, -0.0, 1e+22.
func AppendDouble(out []byte, f float64) []byte {
	format := byte('f')
	if abs := math.Abs(f); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		format = 'e'
	}
	start := len(out)
	out = strconv.AppendFloat(out, f, format, -1, 64)
	for _, c := range out[start:] {
		if c == '.' || c == 'e' {
			return out
		}
	}
	return append(out, ".0"...)
}
