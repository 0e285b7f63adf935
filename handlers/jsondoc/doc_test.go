package jsondoc_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"dwserver/handlers/jsondoc"

	"github.com/stretchr/testify/require"
)

func TestParseRefusesWhatIsNotJSON(t *testing.T) {
	for name, tc := range map[string]struct {
		text  string
		cause error
	}{
		"empty":                 {"", jsondoc.ErrSyntax},
		"blank":                 {"  ", jsondoc.ErrSyntax},
		"trailing text":         {`{} x`, jsondoc.ErrSyntax},
		"trailing comma":        {`{"a":1,}`, jsondoc.ErrSyntax},
		"missing colon":         {`{"a" 1}`, jsondoc.ErrSyntax},
		"unquoted name":         {`{a:1}`, jsondoc.ErrSyntax},
		"unfinished object":     {`{"a":1`, jsondoc.ErrSyntax},
		"unfinished array":      {`[1`, jsondoc.ErrSyntax},
		"unfinished string":     {`"abc`, jsondoc.ErrSyntax},
		"unfinished escape":     {`"abc\`, jsondoc.ErrSyntax},
		"unknown escape":        {`"\x41"`, jsondoc.ErrSyntax},
		"short unicode escape":  {`"\u12"`, jsondoc.ErrSyntax},
		"bad unicode escape":    {`"\u12g4"`, jsondoc.ErrSyntax},
		"leading zero":          {`01`, jsondoc.ErrSyntax},
		"leading plus":          {`+1`, jsondoc.ErrSyntax},
		"bare minus":            {`-`, jsondoc.ErrSyntax},
		"no digits after point": {`1.`, jsondoc.ErrSyntax},
		"no exponent":           {`1e`, jsondoc.ErrSyntax},
		"NaN":                   {`NaN`, jsondoc.ErrSyntax},
		"broken literal":        {`tru`, jsondoc.ErrSyntax},
		"raw control character": {"\"a\nb\"", jsondoc.ErrControl},
		"raw NUL":               {"\"a\x00b\"", jsondoc.ErrControl},
		"raw control, long":     {"\"aaaaaaaaaaaaaaaaaaa\x1fb\"", jsondoc.ErrControl},
		"invalid UTF-8":         {"\"a\xffb\"", jsondoc.ErrUTF8},
		"overlong UTF-8":        {"\"\xc0\xaf\"", jsondoc.ErrUTF8},
		"encoded surrogate":     {"\"\xed\xa0\x80\"", jsondoc.ErrUTF8},
		"lone high surrogate":   {`"\ud800"`, jsondoc.ErrSurrogate},
		"lone low surrogate":    {`"\udc00"`, jsondoc.ErrSurrogate},
		"two high surrogates":   {`"\ud800\ud800"`, jsondoc.ErrSurrogate},
		"high then letter":      {`"\ud800A"`, jsondoc.ErrSurrogate},
		"too deep":              {strings.Repeat("[", 513) + strings.Repeat("]", 513), jsondoc.ErrDepth},
		"far too deep":          {strings.Repeat(`{"a":`, 10_000), jsondoc.ErrDepth},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := jsondoc.Parse([]byte(tc.text), jsondoc.MaxDepth)
			require.ErrorIs(t, err, tc.cause)
			var syntax *jsondoc.SyntaxError
			require.True(t, errors.As(err, &syntax))
			require.LessOrEqual(t, syntax.Offset, len(tc.text))
			require.ErrorIs(t, jsondoc.Check([]byte(tc.text)), tc.cause)
		})
	}
}

func TestParseAgreesWithTheStandardDecoder(t *testing.T) {
	for _, text := range []string{
		`null`, `true`, `false`, `0`, `-0.5e+10`, `9223372036854775807`, `""`, `"plain"`, `"tab\tquote\"slash\/uA😀"`,
		`[]`, `{}`, ` [ 1 , [ ] , { "a" : null } ] `, `{"a":{"b":[1,2,{"c":"d"}]},"e":"f"}`,
		`"` + strings.Repeat("0123456789abcdef", 100) + `\n"`,
		strings.Repeat("[", 512) + strings.Repeat("]", 512),
	} {
		doc, err := jsondoc.Parse([]byte(text), jsondoc.MaxDepth)
		require.NoError(t, err, text)
		require.NoError(t, jsondoc.Check([]byte(text)))
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.UseNumber()
		var want any
		require.NoError(t, decoder.Decode(&want))
		require.Equal(t, want, doc.Root().Any(), text)
		doc.Release()
	}
}

func TestRawKeepsTheBytesThatArrived(t *testing.T) {
	text := `{ "x": {"b":1.0, "a":-0.0,"a":1e2 , "u":"é\/"}, "n": 9007199254740993 }`
	doc, err := jsondoc.Parse([]byte(text), jsondoc.MaxDepth)
	require.NoError(t, err)
	root := doc.Root()
	require.Equal(t, `{"b":1.0, "a":-0.0,"a":1e2 , "u":"é\/"}`, string(root.Member("x").Raw()))
	require.Equal(t, `9007199254740993`, string(root.Member("n").Raw()))
	require.Equal(t, `"é\/"`, string(root.Member("x").Member("u").Raw()))
	require.Equal(t, "é/", root.Member("x").Member("u").Text())
	require.Equal(t, "1e2", root.Member("x").Member("a").Text(), "the last of repeated names counts")
	require.True(t, root.Member("X").IsZero(), "names match by case")
}

func TestValuesBelowTheRecordedDepthStayRaw(t *testing.T) {
	doc, err := jsondoc.Parse([]byte(`{"a":{"b":[1, 2]},"c":{ },"d":[]}`), 1)
	require.NoError(t, err)
	a := doc.Root().Member("a")
	require.Equal(t, jsondoc.Object, a.Kind())
	require.False(t, a.Empty())
	require.Equal(t, `{"b":[1, 2]}`, string(a.Raw()))
	require.True(t, doc.Root().Member("c").Empty())
	require.True(t, doc.Root().Member("d").Empty())
}

func TestIssuesNameThePath(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":"x\u0000y"}`:                           "a 1",
		`{"a":[{"b":1},{"b":["","\u0000"]}]}`:        "a.1.b.1 1",
		`{"a":1,"k\u0000":{"z":1}}`:                  "k\x00 1",
		`"\u0000"`:                                   " 1",
		`{"n":9223372036854775808}`:                  "n 2",
		`{"n":[-9223372036854775809]}`:               "n.0 2",
		`{"a":{"n":1e400}}`:                          "a.n 2",
		`{"n":9223372036854775807,"m":-1e-400}`:      "",
		`{"n":-9223372036854775808,"m":"\\u0000"}`:   "",
		`{"n":0.1234567890123456789012345678901234}`: "",
	} {
		doc, err := jsondoc.Parse([]byte(text), jsondoc.MaxDepth)
		require.NoError(t, err, text)
		got := ""
		doc.Issues(func(path string, kind jsondoc.IssueKind) {
			got += path + " " + string('0'+rune(kind))
		})
		require.Equal(t, want, got, text)
	}
}

func TestIssuesOfMembersThatStandApart(t *testing.T) {
	left := func(text string) (paths []string) {
		doc, err := jsondoc.Parse([]byte(text), jsondoc.MaxDepth)
		require.NoError(t, err, text)
		root := doc.Root()
		doc.Issues(func(path string, _ jsondoc.IssueKind) { paths = append(paths, path) }, root.Member("a"), root.Member("absent"))
		return paths
	}
	require.Empty(t, left(`{"a":{"b":["\u0000",1e400],"\u0000":1}}`))
	require.Equal(t, []string{"b", "a\x00", "c.a"}, left(`{"b":"\u0000","a":"\u0000","a\u0000":1,"c":{"a":"\u0000"}}`))
	many := `{"a":[` + strings.Repeat(`"\u0000",`, 30) + `1],"b":"\u0000"}`
	require.NotEmpty(t, left(many), "what a full list hides is not let through")
}

func TestChangedValuesAreWrittenAnew(t *testing.T) {
	doc, err := jsondoc.Parse([]byte(`{ "a" : [ ], "n":"007", "s":" x\n", "keep" : [1, 2] }`), jsondoc.MaxDepth)
	require.NoError(t, err)
	root := doc.Root()
	root.Member("a").ToObject()
	root.Member("n").ToNumber()
	root.Member("s").SetText(`"x"`)
	require.Equal(t, `{"a":{},"n":7,"s":"\"x\"","keep":[1,2]}`, string(root.Raw()))
	require.Equal(t, `[1, 2]`, string(root.Member("keep").Raw()))
	require.Equal(t, `"x"`, root.Member("s").Text())
	var into struct {
		N int64           `json:"n"`
		A json.RawMessage `json:"a"`
		S string          `json:"s"`
	}
	require.NoError(t, root.Decode(&into))
	require.Equal(t, int64(7), into.N)
	require.Equal(t, `{}`, string(into.A))
	require.Equal(t, `"x"`, into.S)
}

func TestDigestSeesContentAndNothingElse(t *testing.T) {
	digest := func(text string) string {
		doc, err := jsondoc.Parse([]byte(text), 4)
		require.NoError(t, err, text)
		defer doc.Release()
		return string(doc.Root().Digest("carried"))
	}
	base := digest(`{"a":[1,"x/y"],"b":{"c":null,"d":"é"}}`)
	for _, same := range []string{
		`{ "b" : { "d" : "\u00e9", "c" : null }, "a" : [ 1, "x\/y" ] }`,
		`{"a":[1,"x/y"],"carried":{"z":1},"b":{"c":null,"d":"é"}}`,
	} {
		require.Equal(t, base, digest(same), same)
	}
	for _, other := range []string{
		`{"a":["x/y",1],"b":{"c":null,"d":"é"}}`, `{"a":[1,"x/y"],"b":{"d":"é"}}`, `{"a":[1,"x/y"],"b":{"c":"null","d":"é"}}`,
		`{"a":[1,"x","y"],"b":{"c":null,"d":"é"}}`, `{"a":["1","x/y"],"b":{"c":null,"d":"é"}}`, `{}`,
		`{"a":[1,"x/y"],"b":{"c":null,"d":"é"},"e":{"carried":1}}`,
	} {
		require.NotEqual(t, base, digest(other), other)
	}
	require.NotEqual(t, digest(`{"a":[["x"],"y"]}`), digest(`{"a":[["x","y"]]}`))
	require.NotEqual(t, digest(`{"a":{"b":"c"}}`), digest(`{"a":"b","c":""}`))
}
