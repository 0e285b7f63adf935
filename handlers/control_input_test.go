package handlers

import (
	"strings"
	"testing"

	"dwserver/handlers/avro"
	"dwserver/runtime"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// listOfAda is ["Ada"] as the published Python SDK encodes it.
const listOfAda = "wwHioz3/VYAiNwwCCgZBZGEA"

func TestArgumentsAreReadInAllShapes(t *testing.T) {
	for input, want := range map[string]struct {
		shown string
		count int
	}{
		``:                                       {`[]`, 0},
		`null`:                                   {`[]`, 0},
		`[]`:                                     {`[]`, 0},
		`{}`:                                     {`[]`, 0},
		`["Ada"]`:                                {`["Ada"]`, 1},
		`[3.0,3,-0.0,{"b":1,"a":2,"b":3},{},[]]`: {`[3.0,3,-0.0,{"b":1,"a":2,"b":3},{},[]]`, 6},
		`[9007199254740993,9223372036854775807]`: {`[9007199254740993,9223372036854775807]`, 2},
		`{"name":"Ada","age":36}`:                {`["Ada",36]`, 2},
		`{"codec":"avro"}`:                       {`["avro"]`, 1}, // not exactly codec and blob: arguments
		`{"codec":"avro","blob":"x","more":1}`:   {`["avro","x",1]`, 3},
		`{"codec":"avro","blob":"` + listOfAda + `"}`:                                {`["Ada"]`, 1},
		`{"blob":"` + strings.ReplaceAll(listOfAda, "/", `\/`) + `","codec":"avro"}`: {`["Ada"]`, 1},
	} {
		got, err := readArguments([]byte(input), 1<<20)
		require.NoError(t, err, input)
		shown, envelope, err := shownPayload(got.envelope)
		require.NoError(t, err, input)
		assert.Equal(t, want.shown, string(shown), input)
		assert.Equal(t, want.count, got.count, input)
		assert.True(t, strings.HasPrefix(string(envelope), `{"codec":"avro","blob":"wwHioz3/VYAiN`), input)
	}
}

func TestABlobIsKeptAsItCame(t *testing.T) {
	// Two blocks: the same value in another form than this server would write.
	blob := avro.Frame("\xC3\x01\xE2\xA3\x3D\xFF\x55\x80\x22\x37\x0c\x02\x04\x02\x02\x04\x04\x00").Blob()
	got, err := readArguments([]byte(`{"codec":"avro","blob":"`+blob+`"}`), 0)
	require.NoError(t, err)
	assert.Equal(t, `{"codec":"avro","blob":"`+blob+`"}`, string(got.envelope))
	assert.Equal(t, 2, got.count)
}

func TestBadArgumentsAreRefused(t *testing.T) {
	for input, reason := range map[string]string{
		`"text"`: "validation_failed",
		`7`:      "validation_failed",
		`true`:   "validation_failed",
		`{"codec":"json","blob":"` + listOfAda + `"}`:     "validation_failed",
		`{"codec":null,"blob":"` + listOfAda + `"}`:       "validation_failed",
		`{"codec":"avro","blob":null}`:                    "validation_failed",
		`{"codec":"avro","blob":7}`:                       "validation_failed",
		`{"codec":"avro","blob":""}`:                      "validation_failed",
		`{"codec":"avro","blob":"%%%"}`:                   "validation_failed",
		`{"codec":"avro","blob":"wwEdoz3/VYAiNwA="}`:      "validation_failed", // another schema
		`{"codec":"avro","blob":"wwHioz3/VYAiNwA="}`:      "validation_failed", // null is no list
		`{"codec":"avro","blob":"wwHioz3/VYAiNw4A"}`:      "validation_failed", // nor is a map
		`{"codec":"avro","external_storage":{}}`:          "validation_failed",
		`[18446744073709551615]`:                          "validation_failed",
		`[1e400]`:                                         "validation_failed",
		`["` + strings.Repeat("x", 100) + `"]`:            "structural_limit_exceeded",
		`{"codec":"avro","blob":"` + avroText(100) + `"}`: "structural_limit_exceeded",
	} {
		_, err := readArguments([]byte(input), 100)
		var refused *runtime.Refusal
		require.ErrorAs(t, err, &refused, input)
		assert.Equal(t, reason, refused.Reason, input)
		if reason == "validation_failed" {
			assert.Contains(t, refused.Errors, "input", input)
			continue
		}
		assert.Equal(t, "payload_size", refused.Fields["limit_kind"])
		assert.EqualValues(t, 100, refused.Fields["configured_limit"])
		assert.Greater(t, refused.Fields["current_value"], int64(100))
	}
}

// avroText is the blob of a list with one text of n bytes.
func avroText(n int) string {
	frame, err := avro.EncodeJSON([]byte(`["` + strings.Repeat("x", n) + `"]`))
	if err != nil {
		panic(err)
	}
	return frame.Blob()
}

func TestTheLimitItselfIsAllowed(t *testing.T) {
	size := int64(len(avro.EmptyList())) + 1 + 1 + 2 + 80 // count, branch, length, text
	_, err := readArguments([]byte(`["`+strings.Repeat("x", 80)+`"]`), size)
	require.NoError(t, err)
	_, err = readArguments([]byte(`["`+strings.Repeat("x", 80)+`"]`), size-1)
	require.Error(t, err)
}
