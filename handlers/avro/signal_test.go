package avro_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dwserver/handlers/avro"
)

func TestASignalsValue(t *testing.T) {
	envelope := func(text string) []byte {
		frame, err := avro.EncodeJSON([]byte(text))
		require.NoError(t, err)
		return frame.Envelope()
	}
	for arguments, want := range map[string]string{
		`["Ada"]`:                  `"Ada"`,
		`[3.0]`:                    `3.0`,
		`[{"b":1,"a":[{}],"b":2}]`: `{"b":1,"a":[{}],"b":2}`,
		`[1,2]`:                    `[1,2]`,
		`"no list"`:                `"no list"`,
	} {
		assert.Equal(t, string(envelope(want)), string(avro.SignalValue(envelope(arguments))), arguments)
	}
	for _, arguments := range []string{`[]`, `[null]`, `[[1,2]]`, `[[]]`} {
		assert.Nil(t, avro.SignalValue(envelope(arguments)), "%s has no value that stands for it", arguments)
	}
	for _, other := range []string{`{"codec":"avro","external_storage":{}}`, `{"codec":"avro","blob":"%"}`, `nonsense`} {
		assert.Equal(t, other, string(avro.SignalValue([]byte(other))))
	}
}

func TestASignalsValueKeepsItsBytes(t *testing.T) {
	// A list in a block with its size, its element a map in two blocks.
	arguments := frame("\x0c\x01\x18\x0e\x02\x02a\x04\x02\x02\x02b\x04\x04\x00\x00")
	value := frame("\x0e\x02\x02a\x04\x02\x02\x02b\x04\x04\x00")
	assert.Equal(t, string(value.Envelope()), string(avro.SignalValue(arguments.Envelope())))
}
