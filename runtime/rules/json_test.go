package rules

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestStringsAreAlwaysJSON(t *testing.T) {
	texts := []string{"", "plain", `"quoted" \back`, "line\nreturn\rtab\t", "nul\x00 esc\x1b us\x1f del\x7f", "ünïcödé 🙂", "\u2028\u2029",
		"bad \xff byte", "\xc3", "half \xe2\x82", "\xed\xa0\x80 surrogate", "overlong \xc0\xaf", strings.Repeat("\xf0", 5)}
	for c := range 256 {
		texts = append(texts, "x"+string([]byte{byte(c)})+"y")
	}
	for _, text := range texts {
		doc := AppendString(nil, text)
		require.True(t, utf8.Valid(doc), "%q", text)
		var back string
		require.NoError(t, json.Unmarshal(doc, &back), "%q", text)
		want := strings.ToValidUTF8(text, "\ufffd")
		require.Equal(t, want, back)
	}
}

func FuzzAppendString(f *testing.F) {
	f.Add("a\x00\xff\"\\")
	f.Fuzz(func(t *testing.T, text string) {
		doc := AppendString(nil, text)
		var back string
		if !utf8.Valid(doc) || json.Unmarshal(doc, &back) != nil || back != strings.ToValidUTF8(text, "\ufffd") {
			t.Fatalf("%q became %s", text, doc)
		}
	})
}

func TestObjectDropsWhatIsAbsent(t *testing.T) {
	code := int64(-7)
	doc := NewObject(0).Str("a", "").Str("b", "x").Text("c", "").Int("d", 0).IntPtr("e", nil).IntPtr("f", &code).
		Bool("g", false).Time("h", 0).Time("i", Never).Time("j", 1).Raw("k", nil).Raw("l", []byte("[1]")).
		Members(nil).Members([]byte("{}")).Members([]byte(`{"m":{"n":1}}`)).Bytes()
	require.Equal(t, `{"b":"x","c":"","d":0,"f":-7,"g":false,"j":"1970-01-01T00:00:00.000001Z","l":[1],"m":{"n":1}}`, string(doc))
	require.Equal(t, `{"m":1}`, string(NewObject(0).Members([]byte(`{"m":1}`)).Bytes()))
	require.Equal(t, `{}`, string(NewObject(0).Bytes()))
}

func TestIntegersKeepTheirValue(t *testing.T) {
	require.Equal(t, `{"n":9223372036854775807,"m":-9223372036854775808}`,
		string(NewObject(0).Int("n", 9223372036854775807).Int("m", -9223372036854775808).Bytes()))
}

func TestInstantsOnTheWire(t *testing.T) {
	require.Equal(t, "2026-09-21T14:13:20.000000Z", FormatTime(epoch))
	require.Equal(t, "2026-09-21T14:13:20.000042Z", FormatTime(epoch+42))
	require.Equal(t, "9999-12-31T23:59:59.999999Z", FormatTime(lastInstant))
}

func TestTruncateKeepsCharactersWhole(t *testing.T) {
	require.Equal(t, "abc", truncate("abc", 3))
	require.Equal(t, "ab", truncate("abc", 2))
	require.Equal(t, "a", truncate("aä", 2))
	require.Equal(t, "", truncate("🙂", 3))
}

func TestTextMember(t *testing.T) {
	doc := []byte(`{"a":"x","b":7,"c":null}`)
	require.Equal(t, "x", Text(doc, "a"))
	for _, name := range []string{"b", "c", "d"} {
		require.Empty(t, Text(doc, name))
	}
	require.Empty(t, Text([]byte("[]"), "a"))
	require.Empty(t, Text(nil, "a"))
}
