package avro

import (
	"encoding/binary"
	"math"
	"unicode/utf8"
)

// Check reads the whole frame and reports what is wrong with it. Errors wrap ErrFraming: anything
// truncated or left over, an unknown union branch, a boolean other than 0 or 1, a number that is not
// finite, text that is not UTF-8, counts or lengths beyond the frame, nesting beyond MaxDepth.
func (f Frame) Check() error {
	r := reader{data: f, at: len(frameHead)}
	return r.whole(discard{})
}

// CountArguments is the number of elements of a frame that holds a list, as arguments must. Errors:
// those of Check, and ErrNotList for any other value.
func (f Frame) CountArguments() (int, error) {
	c := counter{}
	r := reader{data: f, at: len(frameHead)}
	if err := r.whole(&c); err != nil {
		return 0, err
	}
	if !c.list {
		return 0, ErrNotList
	}
	return c.elements, nil
}

// sink receives a value's parts in order. An error ends the reading.
type sink interface {
	null() error
	boolean(bool) error
	long(int64) error
	double(float64) error
	bytes([]byte) error
	text([]byte) error
	open(branch int64, depth int) error // array or map, depth 1 is the outermost
	element(depth int) error            // before each element of an array
	key(name []byte, depth int) error   // before each value of a map
	end(branch int64) error
}

type reader struct {
	data []byte
	at   int
}

func (r *reader) whole(s sink) error {
	if err := r.value(s, 0); err != nil {
		return err
	}
	if r.at != len(r.data) {
		return broken("bytes after the value")
	}
	return nil
}

func (r *reader) value(s sink, depth int) error {
	branch, err := r.long()
	if err != nil {
		return err
	}
	switch branch {
	case branchNull:
		return s.null()
	case branchBoolean:
		return r.boolean(s)
	case branchLong:
		n, err := r.long()
		if err != nil {
			return err
		}
		return s.long(n)
	case branchDouble:
		return r.double(s)
	case branchBytes:
		b, err := r.sized()
		if err != nil {
			return err
		}
		return s.bytes(b)
	case branchString:
		b, err := r.text()
		if err != nil {
			return err
		}
		return s.text(b)
	case branchArray, branchMap:
		return r.container(s, branch, depth+1)
	}
	return broken("unknown union branch")
}

func (r *reader) boolean(s sink) error {
	if r.at >= len(r.data) || r.data[r.at] > 1 {
		return broken("not a boolean")
	}
	r.at++
	return s.boolean(r.data[r.at-1] == 1)
}

func (r *reader) double(s sink) error {
	if len(r.data)-r.at < 8 {
		return broken("truncated double")
	}
	f := math.Float64frombits(binary.LittleEndian.Uint64(r.data[r.at:]))
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return broken("double is not finite")
	}
	r.at += 8
	return s.double(f)
}

// container reads blocks of elements up to the empty block.
func (r *reader) container(s sink, branch int64, depth int) error {
	if depth > MaxDepth {
		return errDepth
	}
	if err := s.open(branch, depth); err != nil {
		return err
	}
	for {
		count, end, err := r.block()
		if err != nil {
			return err
		}
		if count == 0 {
			return s.end(branch)
		}
		for range count {
			if err := r.child(s, branch, depth); err != nil {
				return err
			}
		}
		if end >= 0 && r.at != end {
			return broken("block size does not match")
		}
	}
}

func (r *reader) child(s sink, branch int64, depth int) error {
	if branch == branchArray {
		if err := s.element(depth); err != nil {
			return err
		}
		return r.value(s, depth)
	}
	name, err := r.text()
	if err != nil {
		return err
	}
	if err := s.key(name, depth); err != nil {
		return err
	}
	return r.value(s, depth)
}

// block reads a block's element count. A negative count is followed by the block's size in bytes; end
// is where it must stop, -1 when it does not say. An element takes at least a byte, which bounds counts.
func (r *reader) block() (count int64, end int, err error) {
	count, err = r.long()
	if err != nil {
		return 0, 0, err
	}
	end = -1
	if count < 0 {
		count = -count
		size, err := r.long()
		if err != nil {
			return 0, 0, err
		}
		if size < 0 || size > int64(len(r.data)-r.at) {
			return 0, 0, broken("block size beyond the frame")
		}
		end = r.at + int(size)
	}
	if count < 0 || count > int64(len(r.data)-r.at) { // -(-2^63) stays negative
		return 0, 0, broken("element count beyond the frame")
	}
	return count, end, nil
}

// long reads a zig-zag variable-length integer of at most 64 bits.
func (r *reader) long() (int64, error) {
	n, size := binary.Varint(r.data[r.at:])
	if size <= 0 {
		return 0, broken("truncated or oversized integer")
	}
	r.at += size
	return n, nil
}

func (r *reader) sized() ([]byte, error) {
	n, err := r.long()
	if err != nil {
		return nil, err
	}
	if n < 0 || n > int64(len(r.data)-r.at) {
		return nil, broken("length beyond the frame")
	}
	b := r.data[r.at : r.at+int(n)]
	r.at += int(n)
	return b, nil
}

func (r *reader) text() ([]byte, error) {
	b, err := r.sized()
	if err == nil && !utf8.Valid(b) {
		err = broken("text is not UTF-8")
	}
	return b, err
}
