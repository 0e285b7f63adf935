package handlers

import (
	"bytes"
	"compress/flate"
	"encoding"
	"encoding/binary"
	"hash/adler32"
	"hash/crc32"
	"io"
	"net/http"
	"strings"
	"sync"
)

// compressFrom is the size in bytes from which a reply is compressed when the caller asked for it.
const compressFrom = 1024

// prefix is the constant text a plane's replies start with. It is compressed once: most replies of the
// worker plane are a few hundred bytes behind three kilobytes of capabilities, and deflate streams can
// be continued at a flush.
type prefix struct {
	text    []byte
	deflate []byte // compressed text, ended by a flush
	crc     uint32
	adler   []byte // state of the running sum
}

var noPrefix = newPrefix(nil)

func newPrefix(text []byte) *prefix {
	var out bytes.Buffer
	w, _ := flate.NewWriter(&out, flate.BestCompression) // fails on an unknown level only
	_, _ = w.Write(text)                                 // a bytes.Buffer takes everything
	_ = w.Flush()
	sum := adler32.New()
	_, _ = sum.Write(text)
	state, _ := sum.(encoding.BinaryMarshaler).MarshalBinary()
	return &prefix{text: text, deflate: out.Bytes(), crc: crc32.ChecksumIEEE(text), adler: state}
}

var (
	gzipHeader = []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255}
	zlibHeader = []byte{0x78, 0x9c}
	deflaters  = sync.Pool{New: func() any {
		w, _ := flate.NewWriter(io.Discard, flate.BestSpeed)
		return w
	}}
)

// compress returns the prefix and the rest as one gzip or zlib ("deflate") stream.
func (p *prefix) compress(encoding string, rest []byte) []byte {
	var out bytes.Buffer
	out.Grow(len(p.deflate) + len(rest)/2 + 64)
	if encoding == "gzip" {
		out.Write(gzipHeader)
	} else {
		out.Write(zlibHeader)
	}
	out.Write(p.deflate)
	deflate(&out, rest)
	if encoding == "gzip" {
		trailer := binary.LittleEndian.AppendUint32(nil, crc32.Update(p.crc, crc32.IEEETable, rest))
		out.Write(binary.LittleEndian.AppendUint32(trailer, uint32(len(p.text)+len(rest))))
		return out.Bytes()
	}
	out.Write(binary.BigEndian.AppendUint32(nil, p.sum(rest)))
	return out.Bytes()
}

// storedFrom is the length from which compressing pays; shorter text is stored as it is.
const storedFrom = 512

// deflate appends text as the last part of a deflate stream.
func deflate(out *bytes.Buffer, text []byte) {
	if size := uint16(len(text)); len(text) < storedFrom {
		out.WriteByte(1) // the last block, stored
		out.Write(binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint16(nil, size), ^size))
		out.Write(text)
		return
	}
	w := deflaters.Get().(*flate.Writer)
	w.Reset(out)
	_, _ = w.Write(text) // a bytes.Buffer takes everything
	_ = w.Close()
	deflaters.Put(w)
}

func (p *prefix) sum(rest []byte) uint32 {
	sum := adler32.New()
	_ = sum.(encoding.BinaryUnmarshaler).UnmarshalBinary(p.adler) // a state of the same program
	_, _ = sum.Write(rest)
	return sum.Sum32()
}

// acceptedEncoding is gzip, deflate or "".
func acceptedEncoding(h http.Header) string {
	best := ""
	for _, header := range h.Values("Accept-Encoding") {
		for part := range strings.SplitSeq(header, ",") {
			name, quality, _ := strings.Cut(strings.TrimSpace(part), ";")
			if isZero(quality) {
				continue
			}
			switch strings.ToLower(strings.TrimSpace(name)) {
			case "gzip", "*":
				return "gzip"
			case "deflate":
				best = "deflate"
			}
		}
	}
	return best
}

// isZero reports a "q=0" parameter: not this encoding.
func isZero(quality string) bool {
	value, ok := strings.CutPrefix(strings.ReplaceAll(quality, " ", ""), "q=")
	return ok && strings.Trim(value, "0.") == ""
}
