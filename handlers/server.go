// Package handlers is the HTTP edge: one file per operation, which turns a checked request into one
// call of the engine and its answer into a reply.
//
// A handler is a method of Server named after the operation in the OpenAPI document. Before it runs the
// edge (edge.go) has read the body and checked token, version, readiness and namespace. The handler
//
//   - takes its exchange with exchangeOf,
//   - names the ids that errors repeat with know,
//   - decodes the body with bind, or calls valid when it has none,
//   - calls the engine once, and
//   - answers with reply, or returns the error: a *runtime.Refusal becomes the contract's status and
//     body in errors.go, anything else a fault.
//
// The members every reply of the worker plane starts with, and the control_plane object of workflow
// replies, are added by the edge.
package handlers

import (
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"dwserver/gen/control"
	"dwserver/gen/worker"
	"dwserver/runtime"

	"github.com/labstack/echo/v4"
)

// Options are what the edge is built from.
type Options struct {
	Config Config
	Engine *runtime.Engine
	Logger *slog.Logger // nil: slog.Default()
	// Blocked names what keeps the server from running workflows (worker-plane.md 1, readiness); nil or
	// an empty answer: nothing does.
	Blocked func() []string
}

// Server serves both planes.
type Server struct {
	config     Config
	options    Options
	engine     *runtime.Engine
	worker     workerEngine
	namespaces *knownNamespaces
	log        *slog.Logger
	auth       *authenticator

	capabilities []byte  // server_capabilities, as every worker reply and cluster info show them
	envelope     *prefix // what every worker reply starts with
	plain        *prefix // what every other JSON object starts with
	cluster      []byte  // cluster info without the namespace
	carried      carriedSchemas
}

var (
	_ worker.ServerInterface  = (*Server)(nil)
	_ control.ServerInterface = (*Server)(nil)
)

// New builds the handler of the whole API. It fails when an OpenAPI document uses what the edge cannot
// check.
func New(o Options) (http.Handler, error) {
	s, err := newServer(o)
	if err != nil {
		return nil, err
	}
	return s.routes()
}

func newServer(o Options) (*Server, error) {
	s := &Server{config: o.Config.withDefaults(), options: o, engine: o.Engine, log: o.Logger}
	if s.log == nil {
		s.log = slog.Default()
	}
	s.worker = o.Engine
	s.namespaces = &knownNamespaces{source: o.Engine, now: time.Now}
	s.auth = newAuthenticator(s.config)
	var err error
	if s.capabilities, err = capabilitiesDocument(s.config); err != nil {
		return nil, err
	}
	if s.cluster, err = clusterDocument(&s.config, s.capabilities); err != nil {
		return nil, err
	}
	s.envelope = newPrefix(fmt.Appendf(nil, `{"protocol_version":%q,"server_capabilities":%s,`, WorkerProtocolVersion, s.capabilities))
	s.plain = newPrefix([]byte("{"))
	return s, nil
}

// routes puts the edge in front of every operation of both documents.
func (s *Server) routes() (*echo.Echo, error) {
	ops, err := compileOperations(s.config)
	if err != nil {
		return nil, err
	}
	s.carried = ops.carried
	edge := make(map[string][]echo.MiddlewareFunc, len(ops.byID))
	for _, op := range ops.byID {
		edge[op.id] = []echo.MiddlewareFunc{func(next echo.HandlerFunc) echo.HandlerFunc { return s.wrap(op, next) }}
	}
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.HTTPErrorHandler = s.unrouted
	e.Use(s.recovered)
	worker.RegisterHandlersWithOptions(e, s, worker.RegisterHandlersOptions{BaseURL: basePath, OperationMiddlewares: edge})
	control.RegisterHandlersWithOptions(e, s, control.RegisterHandlersOptions{BaseURL: basePath, OperationMiddlewares: edge})
	return e, nil
}

// outside is the exchange of a request that reached no operation: errors still have to have the shape
// of the plane that its path belongs to.
func (s *Server) outside(c echo.Context) *exchange {
	return &exchange{s: s, c: c, op: &operation{plane: planeOf(c.Request().URL.Path)}}
}

// unrouted answers what echo found no operation for.
func (s *Server) unrouted(err error, c echo.Context) {
	if failed := s.outside(c).fail(err); failed != nil {
		s.log.Error("an error could not be answered", "error", failed)
	}
}

// recovered turns a panic into a fault, logged under the id the caller gets.
func (s *Server) recovered(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) (err error) {
		defer func() {
			cause := recover()
			if cause == nil {
				return
			}
			if cause == http.ErrAbortHandler { //nolint:errorlint // net/http compares it like this
				panic(cause) //nolint:forbidigo // net/http's own way of giving up an answer
			}
			x, ok := c.Get(exchangeKey).(*exchange)
			if !ok {
				x = s.outside(c)
			}
			if c.Response().Committed {
				s.log.Error("panic after the answer", "operation", x.op.id, "cause", fmt.Sprint(cause), "stack", string(debug.Stack()))
				return
			}
			err = x.internal(fmt.Errorf("panic: %v", cause), "stack", string(debug.Stack()))
		}()
		return next(c)
	}
}
