package rules

import (
	"encoding/base64"
	"encoding/json"
)

// Envelope normalises a payload member as a worker sends it: a JSON string is a blob in the run's
// codec (avro), an object is an envelope already. The result is envelope JSON, nil for no payload
// (absent, null, and the empty string, which means null). The blob itself is never touched.
func Envelope(doc []byte) []byte {
	if len(doc) == 0 || string(doc) == "null" || string(doc) == `""` {
		return nil
	}
	if doc[0] == '"' {
		out := make([]byte, 0, len(doc)+26)
		out = append(out, `{"codec":"avro","blob":`...)
		out = append(out, doc...)
		return append(out, '}')
	}
	return doc
}

// CheckPayload reports what is wrong with a payload member, "" when it is fine. codec is the
// command's payload_codec, which must equal the envelope's.
func CheckPayload(doc []byte, codec *string) string {
	if codec != nil && *codec != "avro" {
		return "The payload codec must be avro."
	}
	if len(doc) == 0 || string(doc) == "null" {
		return ""
	}
	switch doc[0] {
	case '"':
		return checkBlob(doc)
	case '{':
		return checkEnvelope(doc)
	}
	return "The payload must be a string or an envelope."
}

func checkEnvelope(doc []byte) string {
	var env struct {
		Codec           *string         `json:"codec"`
		Blob            json.RawMessage `json:"blob"`
		ExternalStorage json.RawMessage `json:"external_storage"`
		ExternalPayload json.RawMessage `json:"external_payload"`
	}
	if err := json.Unmarshal(doc, &env); err != nil {
		return "The payload envelope does not decode."
	}
	if env.Codec == nil || *env.Codec != "avro" {
		return "The payload codec must be avro."
	}
	if len(env.Blob) > 0 && env.Blob[0] == '"' {
		return checkBlob(env.Blob)
	}
	if len(env.Blob) == 0 && (isObject(env.ExternalStorage) || isObject(env.ExternalPayload)) {
		return ""
	}
	return "The payload envelope must hold a blob or a reference to external storage."
}

func isObject(doc []byte) bool { return len(doc) > 0 && doc[0] == '{' }

// checkBlob wants a JSON string of strict base64.
func checkBlob(doc []byte) string {
	body := doc[1 : len(doc)-1]
	for _, c := range body {
		if c == '\\' { // only an escape can hide here; decode the slow way
			var s string
			if json.Unmarshal(doc, &s) != nil {
				return "The payload blob does not decode."
			}
			body = []byte(s)
			break
		}
	}
	buf := make([]byte, base64.StdEncoding.DecodedLen(len(body)))
	if _, err := base64.StdEncoding.Strict().Decode(buf, body); err != nil {
		return "The payload blob must be strict base64."
	}
	return ""
}

// PayloadSize is the decoded size in bytes of a payload member: of the blob, or as declared by a
// reference to external storage.
func PayloadSize(doc []byte) int64 {
	if len(doc) == 0 {
		return 0
	}
	if doc[0] == '"' {
		return base64Size(doc)
	}
	var env struct {
		Blob json.RawMessage `json:"blob"`
	}
	if json.Unmarshal(doc, &env) == nil && len(env.Blob) > 1 {
		return base64Size(env.Blob)
	}
	return int64(len(doc))
}

func base64Size(quoted []byte) int64 {
	n := len(quoted) - 2
	for n > 0 && quoted[n] == '=' {
		n--
	}
	if n < 0 {
		n = 0
	}
	return int64(n) * 3 / 4
}
