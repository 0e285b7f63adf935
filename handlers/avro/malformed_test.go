package avro_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dwserver/handlers/avro"
)

// frame is magic and fingerprint followed by the given bytes.
func frame(datum string) avro.Frame {
	return avro.Frame("\xC3\x01\xE2\xA3\x3D\xFF\x55\x80\x22\x37" + datum)
}

func TestMalformedValuesAreRefused(t *testing.T) {
	for name, datum := range map[string]string{
		"nothing":                "",
		"bytes left over":        "\x00\x00",
		"branch 8":               "\x10",
		"branch -1":              "\x01",
		"no boolean":             "\x02",
		"boolean 2":              "\x02\x02",
		"no long":                "\x04",
		"unfinished long":        "\x04\x80",
		"long of 65 bits":        "\x04\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02",
		"long of 11 bytes":       "\x04\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00",
		"short double":           "\x06\x00\x00\x00\x00\x00\x00\x00",
		"NaN":                    "\x06\x00\x00\x00\x00\x00\x00\xf8\x7f",
		"infinity":               "\x06\x00\x00\x00\x00\x00\x00\xf0\x7f",
		"negative infinity":      "\x06\x00\x00\x00\x00\x00\x00\xf0\xff",
		"no bytes":               "\x08",
		"bytes beyond the frame": "\x08\x04a",
		"negative length":        "\x08\x01",
		"text beyond the frame":  "\x0a\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01",
		"text not UTF-8":         "\x0a\x02\xff",
		"surrogate in text":      "\x0a\x06\xed\xa0\x80",
		"overlong text":          "\x0a\x04\xc0\x80",
		"no array":               "\x0c",
		"unfinished array":       "\x0c\x02\x00",
		"huge count":             "\x0c\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01",
		"lowest count":           "\x0c\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00",
		"wrong block size":       "\x0c\x01\x04\x00\x00",
		"block size too large":   "\x0c\x01\x40\x00\x00",
		"negative block size":    "\x0c\x01\x01\x00\x00",
		"no map":                 "\x0e",
		"key without value":      "\x0e\x02\x02a",
		"key not UTF-8":          "\x0e\x02\x02\xff\x00\x00",
		"NaN inside":             "\x0c\x02\x0e\x02\x02x\x06\x00\x00\x00\x00\x00\x00\xf8\x7f\x00\x00",
	} {
		f := frame(datum)
		require.ErrorIs(t, f.Check(), avro.ErrFraming, name)
		assert.Nil(t, f.Preview(), name)
		_, err := f.CountArguments()
		assert.ErrorIs(t, err, avro.ErrFraming, name)
	}
}

// Other encoders may split lists into blocks and give the blocks' sizes.
func TestOtherFormsOfTheSameValueAreRead(t *testing.T) {
	for datum, want := range map[string]string{
		"\x0c\x02\x04\x02\x02\x04\x04\x00":       `[1,2]`, // two blocks
		"\x0c\x03\x08\x04\x02\x04\x04\x00":       `[1,2]`, // a block with its size
		"\x0e\x01\x06\x02a\x00\x02\x02b\x00\x00": `{"a":null,"b":null}`,
		"\x0e\x04\x02a\x00\x02a\x02\x01\x00":     `{"a":null,"a":true}`, // a doubled key
		"\x04\x82\x00":                           `1`,                   // longer than need be
		"\x0a\x02\x00":                           `"\u0000"`,
	} {
		f := frame(datum)
		require.NoError(t, f.Check(), want)
		assert.Equal(t, want, string(f.Preview()))
	}
}
