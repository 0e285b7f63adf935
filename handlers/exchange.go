package handlers

import (
	"context"
	"net/url"
	"strings"

	"dwserver/handlers/jsondoc"
	"dwserver/handlers/schema"

	"github.com/labstack/echo/v4"
)

// exchange is one request and its reply: what the edge found out about the request before the
// operation's handler runs, and the ways to answer it.
type exchange struct {
	s  *Server
	op *operation
	c  echo.Context

	namespace string
	minor     int64             // worker protocol minor of the request
	path      map[string]string // decoded path parameters
	doc       *jsondoc.Doc      // the body; {} when there was none
	found     schema.Problems   // broken query parameters, reported by bind and valid

	admitted   bool     // the request passed the edge
	known      []member // ids of the request that errors repeat
	leaseOwner string   // of a workflow task: faults repeat it too, so that the request can be sent again
}

// member is one member of a JSON object, kept in order.
type member struct {
	name  string
	value any
}

const exchangeKey = "dwserver.exchange"

// exchangeOf is the exchange of a request that passed the edge.
func exchangeOf(c echo.Context) *exchange { return c.Get(exchangeKey).(*exchange) }

func (x *exchange) context() context.Context { return x.c.Request().Context() }

// valid reports broken query parameters and a body that breaks the operation's schema as a refusal.
func (x *exchange) valid() error {
	found := &x.found
	if x.op.body != nil {
		if body := x.op.body.Check(x.doc); body != nil {
			for path, messages := range found.Fields {
				for _, message := range messages {
					body.Add(path, message)
				}
			}
			found = body
		}
	}
	if found.OrNil() != nil {
		return invalid(x.op.plane, found)
	}
	return nil
}

// bind checks the request against the operation's schema and decodes its body. Control-plane handlers
// look the path's object up before they call it: a missing object is answered before a bad body.
func (x *exchange) bind(into any) error {
	if err := x.valid(); err != nil {
		return err
	}
	return x.doc.Root().Decode(into)
}

// know records an id of the request that an error has to repeat.
func (x *exchange) know(name string, value any) { x.known = append(x.known, member{name, value}) }

func (x *exchange) release() {
	if x.doc != nil {
		x.doc.Release()
		x.doc = nil
	}
}

// readPath decodes the path parameters, once: echo routes on the encoded path when the two differ.
func (x *exchange) readPath() error {
	names, values := x.c.ParamNames(), x.c.ParamValues()
	if len(names) == 0 {
		return nil
	}
	encoded := x.c.Request().URL.RawPath != ""
	x.path = make(map[string]string, len(names))
	var found schema.Problems
	for i, name := range names {
		value := values[i]
		if encoded {
			var err error
			if value, err = url.PathUnescape(value); err != nil {
				found.Add(name, "The "+name+" is not percent-encoded.")
			}
		}
		x.op.params.CheckPath(name, value, &found)
		x.path[name] = strings.ToValidUTF8(value, "\uFFFD") // errors repeat it
	}
	if found.OrNil() != nil {
		return invalid(x.op.plane, &found)
	}
	return nil
}

// readQuery checks the query parameters and rewrites the query so that typed binding cannot fail.
func (x *exchange) readQuery() {
	r := x.c.Request()
	if r.URL.RawQuery == "" && !x.op.params.NeedsQuery() {
		return
	}
	values := r.URL.Query()
	x.op.params.CheckQuery(values, &x.found)
	r.URL.RawQuery = values.Encode()
}
