// Package avro reads and writes payloads: JSON-like values in Avro single-object encoding under the
// one fixed schema durable_workflow.protocol.Value (worker-plane.md 7.9).
//
// The schema is a record around a union of null, boolean, long, double, bytes, string, an array of
// Value and a map of Value. It never changes, so this package speaks it directly and keeps no schema
// registry. Payloads that pass through the server are never decoded and encoded again: this package
// only encodes arguments that a client sent as plain JSON, checks what others encoded, and shows it.
package avro

import (
	"encoding/base64"
	"errors"
	"fmt"
)

// Codec is the name of the encoding in payload envelopes.
const Codec = "avro"

// SchemaName is the full name of the one schema.
const SchemaName = "durable_workflow.protocol.Value"

// Fingerprint is the schema's CRC-64-AVRO fingerprint as it stands in a frame, in hexadecimal.
const Fingerprint = "e2a33dff55802237"

// MagicHex is the marker of single-object encoding that starts every frame.
const MagicHex = "c301"

// MaxDepth is the deepest nesting of arrays and maps that is read or written; the same as for JSON.
const MaxDepth = 512

// frameHead is the magic followed by the fingerprint.
const frameHead = "\xC3\x01\xE2\xA3\x3D\xFF\x55\x80\x22\x37"

// Branches of the union, in schema order.
const (
	branchNull = iota
	branchBoolean
	branchLong
	branchDouble
	branchBytes
	branchString
	branchArray
	branchMap
)

var (
	// ErrFraming: not a well-formed frame holding exactly one value.
	ErrFraming = errors.New("invalid payload framing")
	// ErrSchema: a frame of another schema.
	ErrSchema = errors.New("unsupported payload schema")
	// ErrNotList: a well-formed frame whose value is not a list.
	ErrNotList = errors.New("not a list")
)

// errDepth is a value nested deeper than MaxDepth.
var errDepth = fmt.Errorf("%w: nested deeper than %d levels", ErrFraming, MaxDepth)

func broken(why string) error { return fmt.Errorf("%w: %s", ErrFraming, why) }

// Frame is a payload's bytes: magic, fingerprint and one encoded value.
type Frame []byte

// Blob is the frame in base64, as envelopes carry it.
func (f Frame) Blob() string { return base64.StdEncoding.EncodeToString(f) }

// Envelope is the frame as the JSON text of a payload envelope.
func (f Frame) Envelope() []byte {
	out := make([]byte, 0, len(`{"codec":"avro","blob":""}`)+base64.StdEncoding.EncodedLen(len(f)))
	out = append(out, `{"codec":"avro","blob":"`...)
	out = base64.StdEncoding.AppendEncode(out, f)
	return append(out, `"}`...)
}

// ParseBlob reads an envelope's blob: strict base64 around a frame of the one schema. The value inside
// is not looked at; Check does that. Errors wrap ErrFraming or ErrSchema.
func ParseBlob(blob string) (Frame, error) {
	raw, err := base64.StdEncoding.Strict().DecodeString(blob)
	if err != nil || containsBreak(blob) {
		return nil, broken("the blob is not strict base64")
	}
	if len(raw) < len(frameHead) || string(raw[:2]) != frameHead[:2] {
		return nil, broken("no Avro single-object marker")
	}
	if string(raw[2:len(frameHead)]) != frameHead[2:] {
		return nil, fmt.Errorf("%w: fingerprint %x", ErrSchema, raw[2:len(frameHead)])
	}
	return raw, nil
}

// containsBreak finds the line breaks that Go's base64 decoder ignores even when strict.
func containsBreak(blob string) bool {
	for i := range len(blob) {
		if blob[i] == '\n' || blob[i] == '\r' {
			return true
		}
	}
	return false
}
