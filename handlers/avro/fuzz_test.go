package avro_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"testing"

	"dwserver/handlers/avro"
)

// Any bytes: reading ends without a panic, and what Check accepts is shown as JSON that encodes to a
// value with the same preview.
func FuzzRead(f *testing.F) {
	for _, c := range golden {
		raw, err := base64.StdEncoding.DecodeString(c.blob)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw[10:])
	}
	f.Fuzz(func(t *testing.T, datum []byte) {
		fr := frame(string(datum))
		shown := fr.Preview()
		if err := fr.Check(); err != nil {
			if shown != nil {
				t.Fatalf("a refused frame is shown as %s", shown)
			}
			return
		}
		if shown == nil {
			return
		}
		if !json.Valid(shown) {
			t.Fatalf("not JSON: %s", shown)
		}
		again, err := avro.EncodeJSON(shown)
		if err != nil {
			t.Fatalf("%s: %v", shown, err)
		}
		if back := again.Preview(); !bytes.Equal(back, shown) {
			t.Fatalf("%s became %s", shown, back)
		}
	})
}

// Any text: what is encoded is accepted, and holds the same value as the text.
func FuzzEncode(f *testing.F) {
	for _, c := range golden {
		f.Add([]byte(c.json))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		fr, err := avro.EncodeJSON(text)
		if err != nil || bytes.Contains(text, []byte("-0")) { // an integer has no negative zero
			return
		}
		if err := fr.Check(); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		shown := fr.Preview()
		if shown == nil {
			return
		}
		var want, got any
		if json.Unmarshal(text, &want) != nil || json.Unmarshal(shown, &got) != nil {
			t.Fatalf("%q shown as %q", text, shown)
		}
		a, _ := json.Marshal(want)
		b, _ := json.Marshal(got)
		if !bytes.Equal(a, b) {
			t.Fatalf("%s shown as %s", a, b)
		}
	})
}
