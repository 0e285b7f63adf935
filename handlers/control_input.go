package handlers

import (
	"errors"

	"dwserver/handlers/avro"
	"dwserver/handlers/jsondoc"
	"dwserver/runtime"
	"dwserver/runtime/rules"
)

// arguments are a command's arguments as the engine keeps them: the envelope of a list.
type arguments struct {
	envelope []byte
	count    int
}

// noArguments is the envelope of a command without arguments: a run still has an (empty) list.
var noArguments = avro.EmptyList().Envelope()

// readArguments reads the input member of a command in any of its three shapes (control-plane.md 1.7):
// a plain list or object, which is encoded here, an envelope, whose blob is checked and kept as it
// came, or a reference to external storage, which no namespace has. limit is the payload limit in
// bytes, 0 for none. Refusals: validation_failed, structural_limit_exceeded.
func readArguments(input []byte, limit int64) (arguments, error) {
	if len(input) == 0 {
		return arguments{envelope: noArguments}, nil
	}
	doc, err := jsondoc.Parse(input, jsondoc.MaxDepth)
	if err != nil {
		return arguments{}, err
	}
	defer doc.Release()
	root := doc.Root()
	switch {
	case root.Kind() == jsondoc.Null:
		return arguments{envelope: noArguments}, nil
	case root.Kind() != jsondoc.Array && root.Kind() != jsondoc.Object:
		return arguments{}, rules.Invalid("input", "The input must be a list, an object or a payload envelope.")
	case isEnvelope(root):
		return envelopeArguments(root, limit)
	}
	return plainArguments(root, limit)
}

// isEnvelope tells an envelope from an object of arguments by its members, which must be exactly
// codec and blob, or codec and external_storage.
func isEnvelope(v jsondoc.Value) bool {
	if v.Kind() != jsondoc.Object {
		return false
	}
	codec, body, others := false, 0, false
	v.Each(func(_ int, name string, _ jsondoc.Value) bool {
		switch name {
		case "codec":
			codec = true
		case "blob":
			body |= 1
		case "external_storage":
			body |= 2
		default:
			others = true
		}
		return !others
	})
	return codec && !others && (body == 1 || body == 2)
}

func envelopeArguments(v jsondoc.Value, limit int64) (arguments, error) {
	if codec := v.Member("codec"); codec.Kind() != jsondoc.String || codec.Text() != avro.Codec {
		return arguments{}, rules.Invalid("input", "The input's codec must be avro.")
	}
	blob := v.Member("blob")
	if blob.IsZero() {
		return arguments{}, rules.Invalid("input", "The namespace has no external payload storage: send the input inline.")
	}
	if blob.Kind() != jsondoc.String {
		return arguments{}, rules.Invalid("input", "The input's blob must be a string.")
	}
	frame, err := avro.ParseBlob(blob.Text())
	if err != nil {
		return arguments{}, badBlob(err)
	}
	if err := withinPayloadLimit(frame, limit); err != nil {
		return arguments{}, err
	}
	count, err := frame.CountArguments()
	if err != nil {
		return arguments{}, badBlob(err)
	}
	return arguments{frame.Envelope(), count}, nil
}

func badBlob(err error) *runtime.Refusal {
	message := "The input's blob is not a payload of the Value schema: " + err.Error() + "."
	if errors.Is(err, avro.ErrNotList) {
		message = "The input's blob must hold a list of arguments."
	}
	return rules.Invalid("input", message)
}

func plainArguments(v jsondoc.Value, limit int64) (arguments, error) {
	frame, err := avro.EncodeArguments(v)
	if errors.Is(err, avro.ErrRange) {
		return arguments{}, rules.Invalid("input", "The input holds a "+err.Error()+".")
	}
	if err != nil {
		return arguments{}, err
	}
	if err := withinPayloadLimit(frame, limit); err != nil {
		return arguments{}, err
	}
	count := 0
	v.Each(func(int, string, jsondoc.Value) bool { count++; return true })
	return arguments{frame.Envelope(), count}, nil
}

func withinPayloadLimit(frame avro.Frame, limit int64) error {
	if size := int64(len(frame)); limit > 0 && size > limit {
		return rules.LimitExceeded("payload_size", size, limit)
	}
	return nil
}
