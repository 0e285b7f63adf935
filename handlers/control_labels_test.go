package handlers

import (
	"fmt"
	"strings"
	"testing"

	"dwserver/runtime"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMemoIsCompactedAndBounded(t *testing.T) {
	for memo, want := range map[string]string{
		``: ``, `null`: ``, `{}`: ``, `[]`: ``,
		"{ \"b\" : 1.0,\n \"a\": 12345678901234567890.5, \"b\": \"<&>\" }": `{"b":1.0,"a":12345678901234567890.5,"b":"<&>"}`,
	} {
		got, err := readMemo([]byte(memo), 100)
		require.NoError(t, err, memo)
		assert.Equal(t, want, string(got), memo)
	}
	memo := []byte(`{"k":"` + strings.Repeat("x", 92) + `"}`)
	_, err := readMemo(memo, 100)
	require.NoError(t, err)
	_, err = readMemo(append([]byte(" "), memo...), 100)
	require.NoError(t, err, "blanks are not counted")
	_, err = readMemo([]byte(`{"k":"`+strings.Repeat("x", 93)+`"}`), 100)
	assertLimit(t, err, "memo_size")
}

func assertLimit(t *testing.T, err error, kind string) {
	t.Helper()
	var refused *runtime.Refusal
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, "structural_limit_exceeded", refused.Reason)
	assert.Equal(t, kind, refused.Fields["limit_kind"])
}

func TestSearchAttributesAreChecked(t *testing.T) {
	good := `{"Tier":"gold","Count":9007199254740993,"Ratio":1.50,"On":true,"Tags":["a","b"],"A_1":"0","gone":null}`
	got, err := readAttributes([]byte(good), 1<<20)
	require.NoError(t, err)
	assert.Equal(t, good, string(got))

	long, text := strings.Repeat("n", 129), strings.Repeat("é", 1025)
	for attributes, path := range map[string]string{
		`{"1a":1}`:                      "search_attributes.1a",
		`{"a-b":1}`:                     "search_attributes.a-b",
		`{"":1}`:                        "search_attributes.",
		`{"ä":1}`:                       "search_attributes.ä",
		`{"a":{}}`:                      "search_attributes.a",
		`{"a":[1]}`:                     "search_attributes.a",
		`{"a":["x",null]}`:              "search_attributes.a",
		`{"` + long + `":1}`:            "search_attributes",
		`{"a":"` + text + `"}`:          "search_attributes.a",
		`{"a":["x","` + text + `"]}`:    "search_attributes.a",
		`{` + manyAttributes(101) + `}`: "search_attributes",
	} {
		_, err := readAttributes([]byte(attributes), 1<<20)
		var refused *runtime.Refusal
		require.ErrorAs(t, err, &refused, attributes)
		assert.Equal(t, "validation_failed", refused.Reason)
		assert.Len(t, refused.Errors, 1, attributes)
		assert.Contains(t, refused.Errors, path)
	}
	_, err = readAttributes([]byte(`{`+manyAttributes(100)+`}`), 1<<20)
	require.NoError(t, err)
	_, err = readAttributes([]byte(`{"a":"`+strings.Repeat("x", 2048)+`"}`), 1<<20)
	require.NoError(t, err)
	_, err = readAttributes([]byte(`{"a":"`+strings.Repeat("x", 100)+`"}`), 100)
	assertLimit(t, err, "search_attribute_size")
}

func manyAttributes(n int) string {
	pairs := make([]string, n)
	for i := range pairs {
		pairs[i] = fmt.Sprintf(`"k%d":%d`, i, i)
	}
	return strings.Join(pairs, ",")
}
