package schema

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"dwserver/handlers/jsondoc"
)

// IsID reports whether a text may be an id: no blanks at either end and no
// control characters (settled.md, control plane).
func IsID(value string) bool {
	return strings.TrimSpace(value) == value && Printable(value)
}

func isID(value []byte) bool {
	return len(bytes.TrimSpace(value)) == len(value) && utf8.Valid(value) && !bytes.ContainsFunc(value, unicode.IsControl)
}

// Printable reports whether a text is valid UTF-8 without control characters.
func Printable(value string) bool {
	return utf8.ValidString(value) && !strings.ContainsFunc(value, unicode.IsControl)
}

// Codec is the only payload codec there is.
const Codec = "avro"

// checkPayload takes a blob string or an envelope (worker-plane.md 7.9).
func checkPayload(v jsondoc.Value, at *step, found *Problems) {
	switch v.Kind() {
	case jsondoc.String:
		if blob := v.Bytes(); len(blob) > 0 && !isBase64(blob) {
			found.field(at, "must be strict base64.")
		}
	case jsondoc.Object:
		checkEnvelope(v, at, found)
	default:
		found.field(at, "must be a payload: a string, or an object with codec and blob.")
	}
}

func checkEnvelope(v jsondoc.Value, at *step, found *Problems) {
	codec, blob := v.Member("codec"), v.Member("blob")
	here := step{parent: at, name: "codec"}
	switch {
	case codec.IsZero() || codec.Kind() == jsondoc.Null:
		found.field(&here, "is required.")
	case codec.Kind() != jsondoc.String:
		found.field(&here, "must be a string.")
	case codec.Text() != Codec:
		found.field(&here, "must be "+Codec+".")
		found.codec++
	}
	here.name = "blob"
	if blob.IsZero() || blob.Kind() == jsondoc.Null {
		checkReference(v, at, found)
		return
	}
	if blob.Kind() != jsondoc.String {
		found.field(&here, "must be a string.")
	} else if text := blob.Bytes(); len(text) == 0 || !isBase64(text) {
		found.field(&here, "must be strict base64.")
	}
}

// checkReference takes an envelope whose blob lies elsewhere.
func checkReference(v jsondoc.Value, at *step, found *Problems) {
	for _, name := range []string{"external_storage", "external_payload"} {
		if where := v.Member(name); !where.IsZero() {
			if where.Kind() != jsondoc.Object {
				found.field(&step{parent: at, name: name}, "must be an object.")
			}
			return
		}
	}
	found.field(&step{parent: at, name: "blob"}, "is required.")
}

// isBase64 checks the alphabet and the padding without decoding.
func isBase64(text []byte) bool {
	if len(text)%4 != 0 {
		return false
	}
	end := len(text)
	for pad := 0; pad < 2 && end > 0 && text[end-1] == '='; pad++ {
		end--
	}
	for i := range end {
		if !base64Alphabet[text[i]] {
			return false
		}
	}
	return true
}

var base64Alphabet = func() (table [256]bool) {
	for _, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/") {
		table[c] = true
	}
	return table
}()
