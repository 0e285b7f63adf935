package schema_test

import (
	"net/url"
	"strings"
	"testing"

	"dwserver/handlers/jsondoc"
	"dwserver/handlers/schema"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"
)

const document = `
openapi: 3.0.3
info: {title: t, version: "1"}
paths: {}
components:
  schemas:
    Request:
      type: object
      required: [name, kind]
      properties:
        name: {type: string, minLength: 1, maxLength: 5, x-dw-trim: true}
        kind: {type: string, enum: [a, b]}
        note: {type: string, minLength: 1, nullable: true, x-dw-trim: true}
        id: {type: string, maxLength: 255, x-dw-id: true}
        bytes: {type: string, x-dw-max-bytes: 4}
        word: {type: string, pattern: '^[a-z]+$', minLength: 2}
        at: {type: string, format: date-time}
        count: {type: integer, minimum: 0, maximum: 10}
        small: {type: integer, format: int32}
        level: {type: integer, enum: [1, 2]}
        big: {type: integer}
        ratio: {type: number, minimum: 0.5, maximum: 2}
        flag: {type: boolean}
        map: {type: object, additionalProperties: {type: string, maxLength: 3}}
        empty: {type: object, nullable: true, maxProperties: 0}
        full: {type: object, minProperties: 1}
        closed: {type: object, additionalProperties: false, required: [x], properties: {x: {type: integer}}}
        tags: {type: array, minItems: 1, maxItems: 3, uniqueItems: true, items: {type: string}}
        commands: {type: array, items: {$ref: '#/components/schemas/Command'}}
        free: {nullable: true}
        old: {nullable: true, x-dw-refused: true}
        payload: {nullable: true, x-dw-payload: true}
        either: {anyOf: [{type: integer, minimum: 3}, {type: string, maxLength: 2}]}
    Command:
      type: object
      required: [type]
      properties:
        type: {type: string, minLength: 1}
        result: {nullable: true, x-dw-payload: true}
        next: {$ref: '#/components/schemas/Command'}
`

func compile(t *testing.T, name string) *schema.Schema {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData([]byte(document))
	require.NoError(t, err)
	compiled, err := schema.NewCompiler().Compile(doc.Components.Schemas[name])
	require.NoError(t, err)
	return compiled
}

func check(t *testing.T, s *schema.Schema, text string) (*jsondoc.Doc, *schema.Problems) {
	t.Helper()
	doc, err := jsondoc.Parse([]byte(text), jsondoc.MaxDepth)
	require.NoError(t, err, text)
	return doc, s.Check(doc)
}

func TestCheckFindsEveryBrokenRule(t *testing.T) {
	s := compile(t, "Request")
	for member, want := range map[string]string{
		`"count":11`:                   "count: The count field must not be greater than 10.",
		`"count":-1`:                   "count: The count field must be at least 0.",
		`"count":1.5`:                  "count: The count field must be an integer.",
		`"count":"1x"`:                 "count: The count field must be an integer.",
		`"count":""`:                   "count: The count field must be an integer.",
		`"count":true`:                 "count: The count field must be an integer.",
		`"small":2147483648`:           "small: The small field must not be greater than 2147483647.",
		`"level":3`:                    "level: The level field must be one of: 1, 2.",
		`"big":9223372036854775808`:    "big: The big field must fit in 64 bits.",
		`"big":"92233720368547758080"`: "big: The big field must fit in 64 bits.",
		`"ratio":"1"`:                  "ratio: The ratio field must be a number.",
		`"ratio":0.25`:                 "ratio: The ratio field must be at least 0.5.",
		`"ratio":3`:                    "ratio: The ratio field must not be greater than 2.",
		`"ratio":1e999`:                "ratio: The ratio field must fit in 64 bits.",
		`"flag":"true"`:                "flag: The flag field must be true or false.",
		`"old":0`:                      "old: The old field is not supported.",
		`"flag":1`:                     "flag: The flag field must be true or false.",
		`"id":" x"`:                    "id: The id field must not start or end with blanks or contain control characters.",
		`"id":"a\tb"`:                  "id: The id field must not start or end with blanks or contain control characters.",
		`"note":"a\u0000b"`:            "note: The note field must not contain NUL characters.",
		`"id":7`:                       "id: The id field must be a string.",
		`"bytes":"ééé"`:                "bytes: The bytes field must not be longer than 4 bytes.",
		`"word":"AB"`:                  "word: The word field has an invalid format.",
		`"word":"a"`:                   "word: The word field must be at least 2 characters long.",
		`"at":"yesterday"`:             "at: The at field must be an RFC 3339 instant.",
		`"map":{"k":"long"}`:           "map.k: The map.k field must not be longer than 3 characters.",
		`"map":{"k":null}`:             "map.k: The map.k field is required.",
		`"map":[1]`:                    "map: The map field must be an object.",
		`"empty":{"a":1}`:              "empty: The empty field must not have more than 0 members.",
		`"full":{}`:                    "full: The full field must have at least 1 member.",
		`"closed":{"x":1,"y":2}`:       "closed.y: The closed.y field is not allowed here.",
		`"closed":{}`:                  "closed.x: The closed.x field is required.",
		`"tags":[]`:                    "tags: The tags field must have at least 1 element.",
		`"tags":["a","b","c","d"]`:     "tags: The tags field must not have more than 3 elements.",
		`"tags":["a","a"]`:             "tags.1: The tags.1 field repeats an earlier element.",
		`"tags":[1]`:                   "tags.0: The tags.0 field must be a string.",
		`"tags":{}`:                    "tags: The tags field must be a list.",
		`"tags":[null]`:                "tags.0: The tags.0 field is required.",
		`"commands":[{"type":"x"},{"result":1}]`: "commands.1.type: The commands.1.type field is required.|" +
			"commands.1.result: The commands.1.result field must be a payload: a string, or an object with codec and blob.",
		`"commands":[{"type":"x","next":{"type":"y","next":{}}}]`: "commands.0.next.next.type: The commands.0.next.next.type field is required.",
		`"payload":"no base64!"`:                                  "payload: The payload field must be strict base64.",
		`"payload":"abc"`:                                         "payload: The payload field must be strict base64.",
		`"payload":[]`:                                            "payload: The payload field must be a payload: a string, or an object with codec and blob.",
		`"payload":{"codec":"avro"}`:                              "payload.blob: The payload.blob field is required.",
		`"payload":{"codec":"avro","blob":""}`:                    "payload.blob: The payload.blob field must be strict base64.",
		`"payload":{"codec":"avro","blob":1}`:                     "payload.blob: The payload.blob field must be a string.",
		`"payload":{"blob":"AAAA"}`:                               "payload.codec: The payload.codec field is required.",
		`"payload":{"codec":"avro","external_storage":1}`:         "payload.external_storage: The payload.external_storage field must be an object.",
		`"either":2`:                                              "either: The either field must be at least 3.",
		`"either":"abc"`:                                          "either: The either field must not be longer than 2 characters.",
		`"free":{"deep":["\u0000"]}`:                              "free.deep.0: The free.deep.0 field must not contain NUL characters.",
		`"x":18446744073709551615`:                                "x: The x field must fit in 64 bits.",
	} {
		_, problems := check(t, s, `{"name":"n","kind":"a",`+member+`}`)
		require.NotNil(t, problems, member)
		wants := strings.Split(want, "|")
		require.Len(t, problems.Fields, len(wants), "%s: %v", member, problems.Fields)
		for _, one := range wants {
			path, message, _ := strings.Cut(one, ": ")
			require.Equal(t, []string{message}, problems.Fields[path], member)
		}
		_, first, _ := strings.Cut(wants[0], ": ")
		require.Equal(t, first, problems.First, member)
		require.False(t, problems.OnlyCodec())
	}
}

func TestCheckAcceptsAndNormalises(t *testing.T) {
	s := compile(t, "Request")
	for member, want := range map[string]string{
		`"count":"7"`:                              `"count":7`,
		`"count":"007"`:                            `"count":7`,
		`"big":9223372036854775807`:                `"big":9223372036854775807`,
		`"big":"-9223372036854775808"`:             `"big":-9223372036854775808`,
		`"map":[]`:                                 `"map":{}`,
		`"note":"  "`:                              `"note":null`,
		`"note":" a b "`:                           `"note":"a b"`,
		`"old":null`:                               `"old":null`,
		`"note":null,"id":null`:                    `"note":null,"id":null`,
		`"id":"emoji 😀/%"`:                         `"id":"emoji 😀/%"`,
		`"word":"ab"`:                              `"word":"ab"`,
		`"at":"2026-08-22T02:48:33.000000Z"`:       `"at":"2026-08-22T02:48:33.000000Z"`,
		`"free":{"a":[1.0,{"b":[]}]}`:              `"free":{"a":[1.0,{"b":[]}]}`,
		`"payload":"AAA="`:                         `"payload":"AAA="`,
		`"payload":"","tags":["a"]`:                `"payload":"","tags":["a"]`,
		`"payload":{"codec":"avro","blob":"AA+/"}`: `"payload":{"codec":"avro","blob":"AA+/"}`,
		`"payload":{"codec":"avro","external_storage":{}}`: `"payload":{"codec":"avro","external_storage":{}}`,
		`"either":3`:    `"either":3`,
		`"either":"ab"`: `"either":"ab"`,
		`"Count":"x"`:   `"Count":"x"`, // unknown: names are matched by case
		`"empty":{}`:    `"empty":{}`,
	} {
		doc, problems := check(t, s, `{"name":" n ","kind":"a",`+member+`}`)
		require.Nil(t, problems, member)
		require.Equal(t, `{"name":"n","kind":"a",`+want+`}`, string(doc.Root().Raw()))
	}
}

func TestCheckReadsAnEmptyBodyAsAnEmptyObject(t *testing.T) {
	s := compile(t, "Request")
	for _, text := range []string{`{}`, `[]`, `null`, ` [ ] `} {
		_, problems := check(t, s, text)
		require.NotNil(t, problems, text)
		require.Equal(t, map[string][]string{
			"name": {"The name field is required."}, "kind": {"The kind field is required."},
		}, problems.Fields, text)
		require.Equal(t, "The name field is required.", problems.First)
	}
	for _, text := range []string{`1`, `"x"`, `[1]`, `true`} {
		_, problems := check(t, s, text)
		require.Equal(t, map[string][]string{"body": {"The request body must be a JSON object."}}, problems.Fields, text)
	}
	_, problems := check(t, s, `{"name":"","kind":null}`)
	require.Len(t, problems.Fields, 2, "empty and null are missing too: %v", problems.Fields)
}

func TestAnUnknownCodecIsToldApart(t *testing.T) {
	s := compile(t, "Request")
	_, problems := check(t, s, `{"name":"n","kind":"a","payload":{"codec":"json","blob":"AAAA"}}`)
	require.True(t, problems.OnlyCodec())
	require.Equal(t, []string{"The payload.codec field must be avro."}, problems.Fields["payload.codec"])
	_, problems = check(t, s, `{"name":"n","payload":{"codec":"json","blob":"AAAA"}}`)
	require.False(t, problems.OnlyCodec())
}

func TestProblemsAreBounded(t *testing.T) {
	s := compile(t, "Request")
	_, problems := check(t, s, `{"name":"n","kind":"a","commands":[`+strings.Repeat("{},", 500)+`{}]}`)
	require.Len(t, problems.Fields, 50)
}

func TestCompileRefusesKeywordsItWouldIgnore(t *testing.T) {
	for _, fragment := range []string{
		`{not: {type: string}}`, `{type: integer, multipleOf: 2}`, `{allOf: [{type: object}]}`,
		`{type: integer, minimum: 1, exclusiveMinimum: true}`,
		`{type: object, properties: {a: {type: array, items: {not: {}}}}}`,
		`{type: object, additionalProperties: {not: {}}}`, `{anyOf: [{not: {}}]}`,
	} {
		text := strings.Replace(document, "    Request:", "    Odd: "+fragment+"\n    Request:", 1)
		doc, err := openapi3.NewLoader().LoadFromData([]byte(text))
		require.NoError(t, err)
		_, err = schema.NewCompiler().Compile(doc.Components.Schemas["Odd"])
		require.Error(t, err, fragment)
	}
}

const parameters = `
openapi: 3.0.3
info: {title: t, version: "1"}
paths:
  /things/{thing_id}:
    parameters:
      - {name: thing_id, in: path, required: true, schema: {type: string, x-dw-id: true}}
    get:
      parameters:
        - {name: page_size, in: query, schema: {type: integer, minimum: 1, maximum: 1000}}
        - {name: wait, in: query, schema: {type: boolean}}
        - {name: status, in: query, schema: {type: string, enum: [open, closed]}}
        - {name: keys, in: query, schema: {type: array, items: {type: string, maxLength: 3}}}
        - {name: need, in: query, required: true, schema: {type: string}}
      responses: {"200": {description: ok}}
`

func TestParamsAreCheckedAndNormalised(t *testing.T) {
	doc, err := openapi3.NewLoader().LoadFromData([]byte(parameters))
	require.NoError(t, err)
	item := doc.Paths.Value("/things/{thing_id}")
	params, err := schema.NewCompiler().CompileParams(item.Parameters, item.Get.Parameters)
	require.NoError(t, err)

	values := url.Values{"page_size": {"007"}, "wait": {"1"}, "status": {"open"}, "keys": {"abc", "d"}, "need": {"x"}, "other": {"\x00"}}
	found := &schema.Problems{}
	params.CheckQuery(values, found)
	require.Nil(t, found.OrNil())
	require.Equal(t, url.Values{"page_size": {"7"}, "wait": {"true"}, "status": {"open"}, "keys": {"abc", "d"}, "need": {"x"}, "other": {"\x00"}}, values)

	values = url.Values{"page_size": {"0"}, "wait": {"yes"}, "status": {"half"}, "keys": {"abcd"}, "need": {""}}
	params.CheckQuery(values, found)
	require.Equal(t, map[string][]string{
		"page_size": {"The page_size parameter must be at least 1."},
		"wait":      {"The wait parameter must be true or false."},
		"status":    {"The status parameter must be one of: open, closed."},
		"keys":      {"The keys parameter must not be longer than 3 characters."},
		"need":      {"The need parameter is required."},
	}, found.Fields)
	require.Empty(t, values)

	for value, ok := range map[string]bool{"a/b😀": true, " a": false, "a\tb": false, "\xff": false, "a\x00": false, strings.Repeat("x", 300): true} {
		found := &schema.Problems{}
		params.CheckPath("thing_id", value, found)
		require.Equal(t, ok, found.OrNil() == nil, "%q", value)
	}
}
