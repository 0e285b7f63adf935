package wire

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMembersAndElements(t *testing.T) {
	text := ` {"a" : "x\"}y" ,"n":-12,"o":{"deep":["]}",{"k":1}]},"z":null,"t":true,"e":"\\"} `
	got := map[string]string{}
	require.NoError(t, Members([]byte(text), func(name, value []byte) bool {
		got[string(name)] = string(value)
		return true
	}))
	require.Equal(t, map[string]string{"a": `"x\"}y"`, "n": "-12", "o": `{"deep":["]}",{"k":1}]}`, "z": "null",
		"t": "true", "e": `"\\"`}, got)
	require.Equal(t, `x"}y`, Text([]byte(got["a"])))
	require.Equal(t, int64(-12), Integer([]byte(got["n"])))
	require.True(t, Null([]byte(got["z"])))
	require.True(t, True([]byte(got["t"])))

	var elements []string
	require.NoError(t, Elements([]byte(`[1, "a,b", [], {"x":[1]}]`), func(value []byte) bool {
		elements = append(elements, string(value))
		return true
	}))
	require.Equal(t, []string{"1", `"a,b"`, "[]", `{"x":[1]}`}, elements)
}

func TestMalformed(t *testing.T) {
	for _, text := range []string{"", "[]", `{"a"}`, `{"a":}`, `{"a":1`, `{"a":1 "b":2}`, `{a:1}`, `{"a":"x`} {
		err := Members([]byte(text), func(_, _ []byte) bool { return true })
		require.ErrorIs(t, err, ErrMalformed, "%q", text)
	}
	for _, text := range []string{"", "{}", "[1", "[1 2]", `["x`} {
		err := Elements([]byte(text), func([]byte) bool { return true })
		require.ErrorIs(t, err, ErrMalformed, "%q", text)
	}
}

func TestObject(t *testing.T) {
	var o Object
	require.Equal(t, "{}", string(o.Bytes()))
	o.Reset()
	o.Text("a", "x")
	o.Integer("n", 7)
	o.Bool("b", false)
	o.Raw("r", []byte(`[1]`))
	require.Equal(t, `{"a":"x","n":7,"b":false,"r":[1]}`, string(o.Bytes()))
}
