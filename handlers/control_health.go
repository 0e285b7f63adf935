package handlers

import (
	"context"
	"errors"
	"net/http"
	"time"

	"dwserver/gen/control"
	"dwserver/runtime"
	"dwserver/runtime/rules"

	"github.com/labstack/echo/v4"
)

// healthTimeout bounds how long a probe waits for the database.
const healthTimeout = 2 * time.Second

// GetHealth handles GET /health: whether the process serves and its database answers.
func (s *Server) GetHealth(c echo.Context) error {
	x := exchangeOf(c)
	ctx, cancel := context.WithTimeout(x.context(), healthTimeout)
	defer cancel()
	reply := control.HealthReply{Status: control.Serving, Timestamp: s.now(),
		Checks: control.HealthChecks{Database: control.Ok}}
	if err := s.engine.Ping(ctx); err != nil {
		s.log.Warn("the database does not answer a health check", "error", err)
		reply.Status, reply.Checks.Database = control.Degraded, control.Unavailable
		return x.reply(http.StatusServiceUnavailable, &reply)
	}
	return x.reply(http.StatusOK, &reply)
}

// GetReady handles GET /ready: whether the server takes work now.
func (s *Server) GetReady(c echo.Context) error {
	x := exchangeOf(c)
	ctx, cancel := context.WithTimeout(x.context(), healthTimeout)
	defer cancel()
	checks := control.ReadyChecks{
		Process: s.processCheck(), Migrations: s.migrationsCheck(), Database: s.databaseCheck(ctx),
		DefaultNamespace: s.namespaceCheck(ctx), Cache: ready, Auth: s.authCheck(),
	}
	reply := control.ReadyReply{Status: control.Ready, Timestamp: ptr(s.now()), Checks: checks}
	for _, check := range []control.ReadyCheck{checks.Process, checks.Migrations, checks.Database, checks.DefaultNamespace, checks.Auth} {
		if check.Status != ready.Status {
			reply.Status = control.NotReady
			return x.reply(http.StatusServiceUnavailable, &reply)
		}
	}
	return x.reply(http.StatusOK, &reply)
}

// now is the engine's time in wire form.
func (s *Server) now() string { return rules.FormatTime(s.engine.Options().Clock.Now().UnixMicro()) }

// ready is a check that found nothing. The cache lives in the process, so its check is always this.
var ready = control.ReadyCheck{Status: "ok"}

func notReady(status, message, remediation string) control.ReadyCheck {
	return control.ReadyCheck{Status: status, Message: &message, Remediation: orNil(remediation)}
}

func (s *Server) processCheck() control.ReadyCheck {
	if s.engine.Draining() {
		return notReady("draining", "The server is going down.", "")
	}
	return ready
}

func (s *Server) migrationsCheck() control.ReadyCheck {
	if s.options.Blocked != nil && len(s.options.Blocked()) > 0 {
		return notReady("upgrade_required", "The database schema is not the one this server needs.", "Run dwserver migrate up.")
	}
	return ready
}

func (s *Server) databaseCheck(ctx context.Context) control.ReadyCheck {
	if err := s.engine.Ping(ctx); err != nil {
		s.log.Warn("the database does not answer a readiness check", "error", err)
		return notReady("unavailable", "The database does not answer.", "Check the database and DW_DATABASE_URL.")
	}
	return ready
}

func (s *Server) namespaceCheck(ctx context.Context) control.ReadyCheck {
	_, err := s.engine.Namespace(ctx, s.config.DefaultNamespace)
	var refused *runtime.Refusal
	switch {
	case err == nil:
		return ready
	case errors.As(err, &refused):
		return notReady("missing", "The default namespace does not exist.", "Start the server again: it creates the namespace.")
	}
	s.log.Warn("the default namespace cannot be read", "error", err)
	return notReady("unavailable", "The default namespace cannot be read.", "Check the database.")
}

func (s *Server) authCheck() control.ReadyCheck {
	if s.auth.misconfigured() {
		return notReady("missing", "Authentication needs a token and none is configured.", "Set DW_AUTH_TOKEN or a role token.")
	}
	return ready
}
