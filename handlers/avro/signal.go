package avro

import "encoding/json"

// SignalValue is the envelope of the value that a signal hands to the workflow that waits for it
// (commands-and-history.md 6.5), made from the envelope of its argument list: the argument itself when
// there is one, the list when there are several. An argument's bytes are kept. It is nil where a reader
// that takes any value but a list for the only argument would read something else: for no argument, and
// for one that is null or a list. Anything that is not the inline envelope of a list comes back as it is.
func SignalValue(arguments []byte) []byte {
	var envelope struct {
		Blob string `json:"blob"`
	}
	if json.Unmarshal(arguments, &envelope) != nil {
		return arguments
	}
	frame, err := ParseBlob(envelope.Blob)
	if err != nil {
		return arguments
	}
	count, err := frame.CountArguments()
	switch {
	case err != nil || count > 1:
		return arguments
	case count == 0:
		return nil
	}
	first := frame.first()
	r := reader{data: first, at: len(frameHead)}
	if branch, _ := r.long(); branch == branchNull || branch == branchArray { // it was read before
		return nil
	}
	return first.Envelope()
}

// first is the frame of the first element of a list that has one.
func (f Frame) first() Frame {
	r := reader{data: f, at: len(frameHead)}
	_, _ = r.long() // the branch and the block were read before
	_, _, _ = r.block()
	from := r.at
	_ = r.value(discard{}, 1)
	return append(Frame(frameHead), f[from:r.at]...)
}
