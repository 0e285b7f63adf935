package runner

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func document(t *testing.T, text string) any {
	t.Helper()
	value, err := parse([]byte(text))
	require.NoError(t, err)
	return value
}

func TestPatterns(t *testing.T) {
	for _, c := range []struct{ pattern, good, bad string }{
		{`{"a":1}`, `{"a":1,"b":2}`, `{"a":2}`},
		{`{"a":1}`, `{"a":1.0}`, `{"b":1}`},
		{`{"a":9007199254740993}`, `{"a":9007199254740993}`, `{"a":9007199254740992}`},
		{`{"a":null}`, `{"a":null}`, `{}`},
		{`{"a":"x"}`, `{"a":"x"}`, `{"a":1}`},
		{`{"a":true}`, `{"a":true}`, `{"a":"true"}`},
		{`[1,{"$type":"string"}]`, `[1,"x"]`, `[1,"x",2]`},
		{`[1]`, `[1]`, `{"0":1}`},
		{`{"a":{}}`, `{"a":{"b":1}}`, `{"a":[]}`},
		{`{"a":{"$absent":true}}`, `{}`, `{"a":null}`},
		{`{"a":{"$present":true}}`, `{"a":null}`, `{}`},
		{`{"a":{"$one_of":[{"$absent":true},null]}}`, `{}`, `{"a":1}`},
		{`{"a":{"$one_of":[1,2]}}`, `{"a":2}`, `{}`},
		{`{"a":{"$type":"number"}}`, `{"a":1}`, `{"a":"1"}`},
		{`{"a":{"$type":"null"}}`, `{"a":null}`, `{"a":0}`},
		{`{"a":{"$type":"list"}}`, `{"a":[]}`, `{"a":{}}`},
		{`{"a":{"$match":"^x+$"}}`, `{"a":"xx"}`, `{"a":"xy"}`},
		{`{"a":{"$match":"1"}}`, `{"a":"1"}`, `{"a":1}`},
		{`{"a":{"$gte":2,"$lte":4}}`, `{"a":3}`, `{"a":5}`},
		{`{"a":{"$gte":"2026-01-02"}}`, `{"a":"2026-01-03"}`, `{"a":"2026-01-01"}`},
		{`{"a":{"$gte":2}}`, `{"a":2}`, `{"a":"2"}`},
		{`{"a":{"$not":1}}`, `{"a":2}`, `{"a":1}`},
		{`{"a":{"$length":2}}`, `{"a":[1,2]}`, `{"a":[1]}`},
		{`{"a":{"$each":{"b":1}}}`, `{"a":[{"b":1},{"b":1}]}`, `{"a":[{"b":1},{}]}`},
		{`{"a":{"$contains":[1,3]}}`, `{"a":[1,2,3]}`, `{"a":[3,1]}`},
		{`{"a":{"$only":{"b":1}}}`, `{"a":{"b":1}}`, `{"a":{"b":1,"c":2}}`},
	} {
		s := newScope("s", nil)
		pattern := document(t, c.pattern)
		require.NoError(t, s.match(pattern, document(t, c.good), "body"), "%s against %s", c.pattern, c.good)
		require.Error(t, s.match(pattern, document(t, c.bad), "body"), "%s against %s", c.pattern, c.bad)
	}
}

func TestUnknownRulesFail(t *testing.T) {
	err := newScope("s", nil).match(document(t, `{"a":{"$like":1}}`), document(t, `{"a":1}`), "body")
	require.ErrorContains(t, err, "no rule $like")
}

// A member that saves is matched before one that uses what it saved, whatever their names are.
func TestSavedBeforeUsed(t *testing.T) {
	s := newScope("s", nil)
	pattern := document(t, `{"a":"id:{{x}}","z":{"$save":"x","$type":"number"}}`)
	require.NoError(t, s.match(pattern, document(t, `{"a":"id:7","z":7}`), "body"))
	require.NoError(t, s.match(document(t, `{"n":"{{x}}"}`), document(t, `{"n":7}`), "body"))
	require.Error(t, s.match(document(t, `{"n":"{{x}}"}`), document(t, `{"n":"7"}`), "body"))
}

func TestVariables(t *testing.T) {
	s := newScope("s", map[string]Payload{"ada": {Blob: "AAAA"}})
	s.set("n", document(t, `12345678901234567890`))
	text, err := s.expandJSON([]byte(`{"{{new.key}}":["{{n}}","n={{n}}","{{payload.ada}}","{{worker}}"]}`))
	require.NoError(t, err)
	require.JSONEq(t, `{"v-s-key":[12345678901234567890,"n=12345678901234567890",{"codec":"avro","blob":"AAAA"},"v-s-worker"]}`, string(text))
	for _, bad := range []string{`"{{nobody}}"`, `"{{payload.none}}"`, `"{{open"`} {
		_, err := s.expandJSON([]byte(bad))
		require.Error(t, err, bad)
	}
}

func TestDefaultsFillWhatIsNotSet(t *testing.T) {
	s := newScope("s", nil)
	s.set("a", "mine")
	require.NoError(t, s.use(map[string]any{"a": "default", "b": "default"}, map[string]any{"c": "{{a}}!"}))
	got, err := s.expandText("{{a}} {{b}} {{c}}")
	require.NoError(t, err)
	require.Equal(t, "mine default mine!", got)
}
