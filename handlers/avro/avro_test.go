package avro_test

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dwserver/handlers/avro"
	"dwserver/handlers/jsondoc"
)

func TestEncodingEqualsTheSDKs(t *testing.T) {
	for _, c := range golden {
		frame, err := avro.EncodeJSON([]byte(c.json))
		require.NoError(t, err, c.json)
		assert.Equal(t, c.blob, frame.Blob(), c.json)
		assert.NoError(t, frame.Check(), c.json)
	}
}

func TestPreviewShowsTheText(t *testing.T) {
	for _, c := range golden {
		want := c.json
		if other, differs := shown[c.json]; differs {
			want = other
		}
		assert.Equal(t, want, string(avro.PreviewBlob(c.blob)), c.json)
	}
	for _, c := range goldenBytes {
		assert.Equal(t, c.preview, string(avro.PreviewBlob(c.blob)), c.blob)
	}
}

func TestEnvelopeIsJSONWithTheBlobAsItIs(t *testing.T) {
	frame, err := avro.EncodeJSON([]byte(`[7]`))
	require.NoError(t, err)
	assert.Equal(t, `{"codec":"avro","blob":"`+frame.Blob()+`"}`, string(frame.Envelope()))
	assert.Equal(t, "wwHioz3/VYAiNwwA", avro.EmptyList().Blob())
}

// Preview of what was encoded is the text that was encoded, doubled names and order included.
func TestTextSurvivesEncodingAndPreview(t *testing.T) {
	for _, text := range []string{
		`{"b":1,"a":2,"b":3}`, `[{"":null},[[]],{}]`, `"\u0001\u001f"`, `"\r\n\t"`, `-0.0`, `[3,3.0]`,
		`" "`, `1e-07`, `123456789012345680000.0`, `"` + strings.Repeat("a", 1000) + `"`,
	} {
		frame, err := avro.EncodeJSON([]byte(text))
		require.NoError(t, err, text)
		assert.Equal(t, text, string(frame.Preview()))
	}
}

func TestArgumentsOfAnObjectAreItsValues(t *testing.T) {
	for text, want := range map[string]string{
		`{"name":"Ada","age":36}`: `["Ada",36]`,
		`["Ada",36]`:              `["Ada",36]`,
		`{}`:                      `[]`,
		`[]`:                      `[]`,
		`[{"a":1}]`:               `[{"a":1}]`,
		`"Ada"`:                   `"Ada"`,
	} {
		doc, err := jsondoc.Parse([]byte(text), jsondoc.MaxDepth)
		require.NoError(t, err)
		frame, err := avro.EncodeArguments(doc.Root())
		require.NoError(t, err)
		assert.Equal(t, want, string(frame.Preview()), text)
	}
}

func TestNumbersBeyond64BitsAreRefused(t *testing.T) {
	for _, text := range []string{
		`18446744073709551615`, `9223372036854775808`, `-9223372036854775809`, `1e400`, `[{"a":-1e309}]`,
		strings.Repeat("9", 5000),
	} {
		_, err := avro.EncodeJSON([]byte(text))
		require.ErrorIs(t, err, avro.ErrRange)
		assert.Less(t, len(err.Error()), 200)
	}
}

func TestTextThatIsNotJSONIsRefused(t *testing.T) {
	for _, text := range []string{``, `[`, `nul`, `NaN`, `"\ud800"`, "\"\xff\"", `1 2`} {
		_, err := avro.EncodeJSON([]byte(text))
		var syntax *jsondoc.SyntaxError
		require.ErrorAs(t, err, &syntax, text)
	}
}

func TestDepthIsBounded(t *testing.T) {
	nest := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	frame, err := avro.EncodeJSON([]byte(nest(avro.MaxDepth)))
	require.NoError(t, err)
	require.NoError(t, frame.Check())
	_, err = avro.EncodeJSON([]byte(nest(avro.MaxDepth + 1)))
	require.Error(t, err)

	deep := append(avro.Frame{}, avro.EmptyList()[:10]...)
	for range 100_000 {
		deep = append(deep, 12, 2)
	}
	require.ErrorIs(t, deep.Check(), avro.ErrFraming)
}

func TestPreviewIsBounded(t *testing.T) {
	nest := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	show := func(text string) []byte {
		frame, err := avro.EncodeJSON([]byte(text))
		require.NoError(t, err)
		return frame.Preview()
	}
	assert.Equal(t, nest(64), string(show(nest(64))))
	assert.Nil(t, show(nest(65)))
	longest := `"` + strings.Repeat("x", avro.PreviewBytes-2) + `"`
	assert.Equal(t, longest, string(show(longest)))
	assert.Nil(t, show(`"`+strings.Repeat("x", avro.PreviewBytes-1)+`"`))
	assert.Nil(t, show(`[`+strings.Repeat("null,", 20_000)+`null]`))
	assert.Nil(t, show(`"`+strings.Repeat(`\n`, avro.PreviewBytes/2)+`"`))
}

func TestCountArguments(t *testing.T) {
	count := func(text string) (int, error) {
		frame, err := avro.EncodeJSON([]byte(text))
		require.NoError(t, err)
		return frame.CountArguments()
	}
	for text, want := range map[string]int{`[]`: 0, `[1]`: 1, `[[1,2],{"a":[3,4]},"5"]`: 3} {
		n, err := count(text)
		require.NoError(t, err)
		assert.Equal(t, want, n, text)
	}
	for _, text := range []string{`null`, `{}`, `{"a":[1]}`, `"x"`, `7`} {
		_, err := count(text)
		assert.ErrorIs(t, err, avro.ErrNotList, text)
	}
	_, err := (avro.EmptyList()[:11]).CountArguments()
	assert.ErrorIs(t, err, avro.ErrFraming)
}

func TestBlobsThatAreNoFrame(t *testing.T) {
	for name, blob := range map[string]string{
		"empty":              "",
		"not base64":         "%%%",
		"json":               `{"a":1}`,
		"magic only":         "wwE=",
		"other magic":        base64.StdEncoding.EncodeToString([]byte("\xC3\x02\xE2\xA3\x3D\xFF\x55\x80\x22\x37\x00")),
		"no padding":         "wwHioz3/VYAiNwA",
		"line break":         "wwHioz3/VYAi\nNwA=",
		"url alphabet":       "wwHioz3_VYAiNwA=",
		"bits after padding": "wwHioz3/VYAiNwB=",
		"space":              "wwHioz3/VYAiNwA= ",
	} {
		_, err := avro.ParseBlob(blob)
		require.ErrorIs(t, err, avro.ErrFraming, name)
		assert.Nil(t, avro.PreviewBlob(blob), name)
	}
	_, err := avro.ParseBlob("wwEdoz3/VYAiNwA=")
	assert.ErrorIs(t, err, avro.ErrSchema)
	assert.False(t, errors.Is(err, avro.ErrFraming))
}
