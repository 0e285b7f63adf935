package handlers

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"

	"dwserver/handlers/jsondoc"
	"dwserver/runtime"
	"dwserver/runtime/rules"
)

var (
	acceptedTypes = []string{"application/json", "application/*+json"}
	emptyBody     = []byte("{}")
)

// firstRead bounds the memory a request gets on its word alone, before any byte of it has arrived.
const firstRead = 64 << 10

// lastRead bounds what is read of a body that is refused for its size.
const lastRead = 64 << 20

// readBody reads a request's body up to the limit and checks its media type. A missing body is read
// as {}. The error is a *runtime.Refusal, or that of the connection.
func readBody(r *http.Request, limit int64, limitKind string) ([]byte, error) {
	if r.ContentLength > limit {
		readOut(r)
		return nil, tooLarge(limit, limitKind)
	}
	var body bytes.Buffer
	body.Grow(int(min(max(r.ContentLength, 0), firstRead)) + bytes.MinRead)
	n, err := body.ReadFrom(io.LimitReader(r.Body, limit+1))
	if err != nil {
		return nil, err
	}
	if n > limit {
		readOut(r)
		return nil, tooLarge(limit, limitKind)
	}
	if n == 0 {
		return emptyBody, nil
	}
	if !isJSON(r.Header) {
		return nil, rules.Refuse("unsupported_media_type", "The body must be JSON, unencoded.").
			With("accepted_content_types", acceptedTypes)
	}
	return body.Bytes(), nil
}

// readOut reads the rest of a refused body and drops it: a client that is still sending when the connection is
// closed does not see the answer. One that waits to be told to go on is not, and beyond a bound it is the client's loss.
func readOut(r *http.Request) {
	if r.Header.Get("Expect") == "" {
		_, _ = io.CopyN(io.Discard, r.Body, lastRead) // the refusal is the answer, whatever comes
	}
}

func tooLarge(limit int64, kind string) *runtime.Refusal {
	return rules.Refuse("payload_too_large", "The body is larger than this server accepts.").
		With("limit", limit).With("limit_kind", kind)
}

// isJSON accepts application/json and application/*+json in UTF-8, and no content encoding.
func isJSON(h http.Header) bool {
	if encoding := h.Get("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") {
		return false
	}
	if h.Get("Content-Type") == "application/json" {
		return true
	}
	kind, params, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil {
		return false
	}
	if set := params["charset"]; set != "" && !strings.EqualFold(set, "utf-8") {
		return false
	}
	return kind == "application/json" || (strings.HasPrefix(kind, "application/") && strings.HasSuffix(kind, "+json"))
}

// malformed says why a body is not JSON.
func malformed(p *plane, err error) *runtime.Refusal {
	refused := rules.Refuse("malformed_json", "The body is not valid JSON.")
	var syntax *jsondoc.SyntaxError
	if errors.As(err, &syntax) && p == controlPlane {
		refused.With("json_error", syntax.Error())
	}
	return refused
}
