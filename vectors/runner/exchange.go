package runner

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// exchange is a request as it was sent and the answer to it.
type exchange struct {
	method, url  string
	header       http.Header
	sent         []byte
	ids          map[string]string
	outside      bool
	status       int
	answerHeader http.Header
	received     []byte
	body         any // received, read as JSON; nil when it is none
	err          error
}

// exchange sends a request and judges the answer by the contract.
func (p *player) exchange(ctx context.Context, r Request) *exchange {
	x, op, err := p.prepare(r)
	if err != nil {
		return &exchange{err: err}
	}
	if x.err = p.send(ctx, x); x.err != nil {
		return x
	}
	if op != nil {
		x.err = op.judge(ctx, x)
	} else if x.body == nil {
		x.err = fmt.Errorf("the answer is no JSON: %.200s", x.received)
	}
	if x.err != nil {
		x.err = fmt.Errorf("%s %s: %w; status %d: %.600s", x.method, x.url, x.err, x.status, x.received)
	}
	return x
}

func (p *player) prepare(r Request) (*exchange, *operation, error) {
	x := &exchange{method: r.Method, header: http.Header{}, ids: map[string]string{}, outside: r.Outside}
	address, op, err := p.address(r, x)
	if err != nil {
		return nil, nil, err
	}
	query, err := p.scope.expand(asAny(r.Query))
	if err != nil {
		return nil, nil, err
	}
	values := url.Values{}
	for name, value := range query.(map[string]any) {
		values.Set(name, fmt.Sprint(value))
	}
	x.url = p.target + "/api" + address
	if len(values) > 0 {
		x.url += "?" + values.Encode()
	}
	if x.sent, err = p.bodyOf(r); err != nil {
		return nil, nil, err
	}
	worker := op != nil && op.worker || strings.HasPrefix(address, "/worker/")
	return x, op, p.headers(r, x, worker)
}

func (p *player) address(r Request, x *exchange) (string, *operation, error) {
	if r.Call == "" {
		route, err := p.scope.expandText(r.Route)
		return fmt.Sprint(route), nil, err
	}
	op, known := p.contract.operations[r.Call]
	if !known {
		return "", nil, fmt.Errorf("no operation %q", r.Call)
	}
	ids, err := p.scope.expand(asAny(r.Path))
	if err != nil {
		return "", nil, err
	}
	for name, id := range ids.(map[string]any) {
		x.ids[name] = fmt.Sprint(id)
	}
	x.method = op.route.Method
	address, err := op.address(ids.(map[string]any))
	return address, &op, err
}

// bodyOf is the body to send: a document, pieces of text, or none.
func (p *player) bodyOf(r Request) ([]byte, error) {
	if r.Raw == nil {
		if r.Body == nil {
			return nil, nil
		}
		return p.scope.expandJSON(r.Body)
	}
	var out bytes.Buffer
	for _, piece := range r.Raw {
		if err := p.appendPiece(&out, piece); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), nil
}

// appendPiece adds a text with variables, or {"repeat": text, "times": n}, or {"bytes": [n, …]}.
func (p *player) appendPiece(out *bytes.Buffer, piece json.RawMessage) error {
	if piece[0] == '"' {
		text, err := parse(piece)
		if err != nil {
			return err
		}
		expanded, err := p.scope.expandText(text.(string))
		fmt.Fprint(out, expanded)
		return err
	}
	var special struct {
		Repeat string `json:"repeat"`
		Times  int    `json:"times"`
		Bytes  []int  `json:"bytes"`
	}
	if err := decodeStrict(piece, &special); err != nil {
		return err
	}
	out.WriteString(strings.Repeat(special.Repeat, special.Times))
	for _, b := range special.Bytes {
		out.WriteByte(byte(b))
	}
	return nil
}

func (p *player) headers(r Request, x *exchange, worker bool) error {
	role := "operator"
	if worker {
		role = "worker"
		x.header.Set(workerVersionHeader, p.contract.workerVersion())
	} else {
		x.header.Set(controlVersionHeader, "2")
	}
	if r.Role != "" {
		role = r.Role
	}
	if token := p.tokens.of(role); token != "" {
		x.header.Set("Authorization", "Bearer "+token)
	}
	if x.sent != nil {
		x.header.Set("Content-Type", "application/json")
	}
	given, err := p.scope.expand(asAny(r.Headers))
	if err != nil {
		return err
	}
	for name, value := range given.(map[string]any) {
		x.header.Del(name)
		if value != nil {
			x.header.Set(name, fmt.Sprint(value))
		}
	}
	return nil
}

func (p *player) send(ctx context.Context, x *exchange) error {
	request, err := http.NewRequestWithContext(ctx, x.method, x.url, bytes.NewReader(x.sent))
	if err != nil {
		return err
	}
	request.Header = x.header.Clone()
	answer, err := p.client.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if x.received, err = io.ReadAll(answer.Body); err != nil {
		return err
	}
	x.status, x.answerHeader = answer.StatusCode, answer.Header
	if body, err := parse(x.received); err == nil {
		x.body = body
	}
	return nil
}

func asAny(m map[string]any) any {
	if m == nil {
		return map[string]any{}
	}
	return m
}

// workerVersion is the newest protocol version, without the document's revision.
func (c *contract) workerVersion() string {
	parts := strings.SplitN(c.versions["worker-protocol"], ".", 3)
	return strings.Join(parts[:2], ".")
}
