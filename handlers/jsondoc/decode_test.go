package jsondoc_test

import (
	"encoding/json"
	"testing"
	"time"

	"dwserver/handlers/jsondoc"

	"github.com/stretchr/testify/require"
)

type colour string

type inner struct {
	ID   string  `json:"id"`
	Note *string `json:"note,omitempty"`
}

type outer struct {
	Name    string            `json:"name"`
	Colour  colour            `json:"colour"`
	Count   int               `json:"count"`
	Big     *int64            `json:"big"`
	Ratio   float32           `json:"ratio"`
	On      *bool             `json:"on"`
	Tags    []string          `json:"tags"`
	Inner   *inner            `json:"inner"`
	List    []inner           `json:"list"`
	Map     map[string]inner  `json:"map"`
	Labels  map[string]string `json:"labels"`
	Raw     json.RawMessage   `json:"raw"`
	Any     any               `json:"any"`
	At      time.Time         `json:"at"`
	Ignored string            `json:"-"`
	hidden  string
}

func TestDecodeFillsEveryKindOfField(t *testing.T) {
	text := `{"name":"n","colour":"red","count":-3,"big":9223372036854775807,"ratio":0.5,"on":false,"tags":["a","b"],
	 "inner":{"id":"1","note":"x"},"list":[{"id":"2"}],"map":{"k":{"id":"3"}},"labels":{"l":"m"},
	 "raw":{"z":1.0, "a":2},"any":[1,{"b":null}],"at":"2026-08-22T02:48:33Z","Ignored":"no","hidden":"no","unknown":1}`
	doc, err := jsondoc.Parse([]byte(text), jsondoc.MaxDepth)
	require.NoError(t, err)
	var got outer
	require.NoError(t, doc.Root().Decode(&got))
	doc.Release()

	big, on, note := int64(9223372036854775807), false, "x"
	require.Equal(t, outer{
		Name: "n", Colour: "red", Count: -3, Big: &big, Ratio: 0.5, On: &on, Tags: []string{"a", "b"},
		Inner: &inner{ID: "1", Note: &note}, List: []inner{{ID: "2"}}, Map: map[string]inner{"k": {ID: "3"}},
		Labels: map[string]string{"l": "m"}, Raw: json.RawMessage(`{"z":1.0, "a":2}`),
		Any: []any{json.Number("1"), map[string]any{"b": nil}},
		At:  time.Date(2026, 8, 22, 2, 48, 33, 0, time.UTC), hidden: "",
	}, got)
}

func TestDecodeMatchesNamesByCaseAndNullIsAbsent(t *testing.T) {
	doc, err := jsondoc.Parse([]byte(`{"NAME":"wrong","name":null,"big":null,"raw":null,"tags":null}`), jsondoc.MaxDepth)
	require.NoError(t, err)
	var got outer
	require.NoError(t, doc.Root().Decode(&got))
	require.Equal(t, outer{Raw: json.RawMessage("null")}, got)
}

func TestDecodeReportsATypeThatDoesNotFit(t *testing.T) {
	for _, text := range []string{
		`{"name":1}`, `{"count":"1"}`, `{"count":1.5}`, `{"on":"yes"}`, `{"tags":{}}`, `{"inner":[]}`, `{"map":[]}`,
		`{"ratio":true}`, `[]`, `{"list":[1]}`,
	} {
		doc, err := jsondoc.Parse([]byte(text), jsondoc.MaxDepth)
		require.NoError(t, err)
		require.Error(t, doc.Root().Decode(&outer{}), text)
	}
	doc, _ := jsondoc.Parse([]byte(`{}`), jsondoc.MaxDepth)
	require.Error(t, doc.Root().Decode(outer{}), "not a pointer")
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{`{"a":[1,"\u00e9",null]}`, `"\ud800"`, `[[[]]]`, `1e5`, `{"a":1,"a":2}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		doc, err := jsondoc.Parse(text, jsondoc.MaxDepth)
		if err != nil {
			return // stricter than encoding/json: surrogates, depth
		}
		require.True(t, json.Valid(text))
		require.True(t, json.Valid(doc.Root().Raw()))
		doc.Root().Any()
		doc.Release()
	})
}
