package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"time"
)

var namespaceName = regexp.MustCompile(`^[a-z0-9._-]{1,128}$`)

// Verify refuses a configuration that must not be served: settings out of their range, or a mix
// that would open the server to strangers. It returns every problem at once, joined.
func (c Config) Verify() error {
	return errors.Join(c.verifyListen(), c.verifyAuth(), c.VerifyDatabase(), c.verifyNames(), c.verifyTimes(), c.Limits.verify())
}

// Warnings are the sentences an operator should read at start: legal, but worth a second look.
func (c Config) Warnings() []string {
	var w []string
	if !c.Auth.TokenAuth() {
		w = append(w, "no authentication: everyone who can reach "+c.Listen+" may do everything")
		if c.Auth.anyToken() {
			w = append(w, "tokens are configured but DW_AUTH_DRIVER=none ignores them")
		}
	}
	if c.MetricsListen != "" && !loopback(c.MetricsListen) {
		w = append(w, "the metrics listener has no authentication and is not on loopback")
	}
	return w
}

func (c Config) verifyListen() error {
	var problems []error
	for _, a := range []struct{ env, addr string }{{"DW_LISTEN", c.Listen}, {"DW_METRICS_LISTEN", c.MetricsListen}} {
		if a.addr == "" && a.env == "DW_METRICS_LISTEN" {
			continue
		}
		if _, _, err := net.SplitHostPort(a.addr); err != nil {
			problems = append(problems, fmt.Errorf("%s: %q is not host:port: %w", a.env, a.addr, err))
		}
	}
	return errors.Join(problems...)
}

func (c Config) verifyAuth() error {
	if c.Auth.TokenAuth() {
		if !c.Auth.anyToken() {
			return errors.New("DW_AUTH_DRIVER=token needs at least one of DW_AUTH_TOKEN, DW_WORKER_TOKEN, DW_OPERATOR_TOKEN, DW_ADMIN_TOKEN")
		}
		return c.Auth.verifyTokens()
	}
	if c.Auth.Driver != DriverNone && !loopback(c.Listen) {
		return fmt.Errorf("DW_LISTEN=%s is not a loopback address and no token is set: set a token, or DW_AUTH_DRIVER=none to serve everyone on purpose", c.Listen)
	}
	return nil
}

// verifyTokens refuses one secret for two roles (which role it grants would be chance), and tokens that
// cannot stand in a header.
func (a Auth) verifyTokens() error {
	var problems []error
	owner := map[string]string{}
	for _, t := range []struct{ env, token string }{
		{"DW_AUTH_TOKEN", a.Token}, {"DW_WORKER_TOKEN", a.WorkerToken},
		{"DW_OPERATOR_TOKEN", a.OperatorToken}, {"DW_ADMIN_TOKEN", a.AdminToken},
	} {
		if t.token == "" {
			continue
		}
		if strings.ContainsFunc(t.token, func(r rune) bool { return r <= ' ' || r > '~' }) {
			problems = append(problems, fmt.Errorf("%s holds a blank or a character outside printable ASCII", t.env))
		}
		if other := owner[t.token]; other != "" {
			problems = append(problems, fmt.Errorf("%s and %s are the same token", other, t.env))
		}
		owner[t.token] = t.env
	}
	return errors.Join(problems...)
}

// VerifyDatabase is the part of Verify that is about the database URL.
func (c Config) VerifyDatabase() error {
	u, err := url.Parse(c.DatabaseURL)
	if err != nil {
		// The parser's error quotes the URL, which may hold a password.
		return errors.New("DW_DATABASE_URL is not a URL")
	}
	switch u.Scheme {
	case "sqlite":
		if strings.Trim(u.Opaque+u.Host+u.Path, "/") == "" {
			return errors.New("DW_DATABASE_URL names no file: write sqlite:///absolute/path or sqlite:///./relative/path")
		}
	case "postgres", "postgresql", "mysql":
		if u.Host == "" {
			return fmt.Errorf("DW_DATABASE_URL: %s:// without a host", u.Scheme)
		}
	default:
		return fmt.Errorf("DW_DATABASE_URL: scheme %q is not one of sqlite, postgres, mysql", u.Scheme)
	}
	return c.verifyConnections()
}

func (c Config) verifyConnections() error {
	// Two are needed to serve: one for work, one for readiness beside it.
	if c.MaxConnections < 2 || c.MaxConnections > 1000 {
		return fmt.Errorf("DW_DATABASE_MAX_CONNECTIONS: %d is not between 2 and 1000", c.MaxConnections)
	}
	return nil
}

func (c Config) verifyNames() error {
	if !namespaceName.MatchString(c.DefaultNamespace) {
		return fmt.Errorf("DW_DEFAULT_NAMESPACE: %q is not 1 to 128 of a-z, 0-9, dot, underscore, dash", c.DefaultNamespace)
	}
	return nil
}

func (c Config) verifyTimes() error {
	var problems []error
	within := func(env string, d, low, high time.Duration) {
		if d < low || d > high {
			problems = append(problems, fmt.Errorf("%s: %s is not between %s and %s", env, d, low, high))
		}
	}
	within("DW_WORKER_POLL_TIMEOUT", c.Worker.PollTimeout, time.Second, time.Minute)
	within("DW_WORKFLOW_TASK_TIMEOUT", c.Worker.WorkflowTaskTimeout, time.Second, 24*time.Hour)
	within("DW_ACTIVITY_TASK_TIMEOUT", c.Worker.ActivityTaskTimeout, time.Second, 24*time.Hour)
	within("DW_SHUTDOWN_TIMEOUT", c.ShutdownTimeout, 0, time.Hour)
	if c.Worker.StaleAfter != 0 {
		within("DW_WORKER_STALE_AFTER_SECONDS", c.Worker.StaleAfter, time.Second, 24*time.Hour)
	}
	return errors.Join(problems...)
}

// verify checks the limits that cannot be switched off: without them one request could take all memory.
func (l Limits) verify() error {
	var problems []error
	atLeast := func(env string, n, low int64) {
		if n < low {
			problems = append(problems, fmt.Errorf("%s: %d is less than %d", env, n, low))
		}
	}
	atLeast("DW_MAX_REQUEST_BYTES", l.RequestBytes, 1024)
	atLeast("DW_MAX_COMPLETION_BYTES", l.CompletionBytes, l.RequestBytes)
	return errors.Join(problems...)
}

// loopback reports whether a host:port can only be reached from this machine.
func loopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}
