package handlers

import (
	"net/http"

	"dwserver/handlers/jsondoc"
	"dwserver/runtime"
	"dwserver/runtime/rules"

	"github.com/labstack/echo/v4"
)

// wrap puts the checks every request passes in front of an operation's handler.
func (s *Server) wrap(op *operation, next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		x := &exchange{s: s, op: op, c: c}
		defer x.release()
		if err := x.admit(); err != nil {
			return x.fail(err)
		}
		x.admitted = true
		c.Set(exchangeKey, x)
		if err := next(c); err != nil {
			return x.fail(err)
		}
		return nil
	}
}

// admit makes the checks in the order of the contract (worker-plane.md 1, control-plane.md 1.3): size,
// media type, JSON, token, role, version, readiness, namespace. Validation is the handler's bind.
func (x *exchange) admit() error {
	r := x.c.Request()
	badPath := x.readPath() // first, since every refusal of a workflow operation repeats the ids of its path
	body, err := readBody(r, x.op.bodyLimit, x.op.limitKind)
	if err != nil {
		return err
	}
	denied := x.authorize(r.Header)
	if err := x.parse(body, denied == nil); err != nil {
		return malformed(x.op.plane, err)
	}
	if denied != nil {
		return denied
	}
	if x.minor, denied = x.op.plane.checkVersion(r.Header, x.op.optionalVersion); denied != nil && !x.op.open {
		return denied
	}
	if blocked := x.s.blocked(x.op); blocked != nil {
		return blocked
	}
	if err := x.resolveNamespace(r); err != nil {
		return err
	}
	x.readQuery()
	return badPath
}

// recordedDepth is how deep a body is taken apart: deeper than any member a schema names. What lies
// below is kept as text.
const recordedDepth = 24

// parse reads the body. Of a caller without access it only says whether it is JSON.
func (x *exchange) parse(body []byte, keep bool) (err error) {
	if !keep {
		return jsondoc.Check(body)
	}
	x.doc, err = jsondoc.Parse(body, recordedDepth)
	return err
}

func (x *exchange) authorize(h http.Header) *runtime.Refusal {
	if x.op.open {
		return nil
	}
	if x.s.auth.misconfigured() {
		reason := x.op.plane.internal
		if x.op.plane == controlPlane {
			reason = "server_error"
		}
		return rules.Refuse(reason, "Authentication is not configured.")
	}
	return x.s.auth.check(h.Get("Authorization"), x.op.roles)
}

// blocked refuses operations that need the database while its schema is not ready.
func (s *Server) blocked(op *operation) *runtime.Refusal {
	if !op.gated || s.options.Blocked == nil {
		return nil
	}
	by := s.options.Blocked()
	if len(by) == 0 {
		return nil
	}
	return rules.Refuse("workflow_v2_blocked", "The server is not ready to run workflows.").
		With("blocked_by", by).
		With("remediation", "Bring the database schema up to date, then try again.")
}
