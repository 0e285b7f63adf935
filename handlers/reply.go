package handlers

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
)

// marshal encodes a reply. Unlike json.Marshal it leaves <, > and & alone: payload text goes out as it
// was stored.
func marshal(v any) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return out.Bytes()[:out.Len()-1], nil
}

// reply answers with the members of body, which is a struct or map without the members the edge adds.
func (x *exchange) reply(status int, body any) error {
	text, err := marshal(body)
	if err != nil {
		return err
	}
	return x.replyJSON(status, text)
}

// replyJSON answers with a JSON object that is already encoded. The edge adds the worker envelope or the
// control_plane object.
func (x *exchange) replyJSON(status int, text []byte) error {
	head := x.s.plain
	if x.op.plane == workerPlane {
		head = x.s.envelope
	} else if x.op.command != "" {
		var err error
		if text, err = x.withControlPlane(status, text); err != nil {
			return err
		}
	}
	return x.write(status, "application/json", head, text)
}

// replyText answers with something that is no JSON object of the API, as it is.
func (x *exchange) replyText(status int, contentType string, text []byte) error {
	return x.write(status, contentType, nil, text)
}

// write sends a reply: an object without its opening brace after the prefix that every reply of the
// plane starts with, or the whole text when there is no prefix.
func (x *exchange) write(status int, contentType string, head *prefix, text []byte) error {
	header := x.c.Response().Header()
	header.Set("Content-Type", contentType)
	header.Set(x.op.plane.header, x.op.plane.version)
	header.Add("Vary", "Accept-Encoding")
	var start []byte
	if head != nil {
		start, text = head.text, text[1:]
	}
	size := len(start) + len(text)
	if encoding := acceptedEncoding(x.c.Request().Header); encoding != "" && size >= compressFrom {
		header.Set("Content-Encoding", encoding)
		if head == nil {
			head = noPrefix
		}
		start, text = nil, head.compress(encoding, text)
		size = len(text)
	}
	header.Set("Content-Length", strconv.Itoa(size))
	response := x.c.Response()
	response.WriteHeader(status)
	if x.c.Request().Method == http.MethodHead {
		return nil
	}
	if len(start) > 0 {
		if _, err := response.Write(start); err != nil {
			return nil //nolint:nilerr // the caller is gone; there is nobody to tell
		}
	}
	_, _ = response.Write(text) // as above
	return nil
}
