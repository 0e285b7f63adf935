package handlers

import (
	"crypto/sha256"
	"crypto/subtle"
	"slices"
	"strings"

	"dwserver/runtime"
	"dwserver/runtime/rules"
)

// Roles of callers (control-plane.md 1.4). They are exact sets, not a hierarchy.
const (
	roleWorker   = "worker"
	roleOperator = "operator"
	roleAdmin    = "admin"
)

// authenticator knows the tokens and what role each of them gives.
type authenticator struct {
	open   bool // no token is needed
	tokens []token
}

type token struct {
	digest [sha256.Size]byte // equal lengths, so that comparing tells nothing about the length
	role   string            // "" may do everything
}

func newAuthenticator(c Config) *authenticator {
	a := &authenticator{open: c.AuthDriver == AuthNone}
	add := func(secret, role string) {
		if secret != "" {
			a.tokens = append(a.tokens, token{sha256.Sum256([]byte(secret)), role})
		}
	}
	add(c.WorkerToken, roleWorker)
	add(c.OperatorToken, roleOperator)
	add(c.AdminToken, roleAdmin)
	switch {
	case len(a.tokens) == 0:
		add(c.AuthToken, "")
	case c.AuthBackwardCompatible:
		add(c.AuthToken, roleAdmin)
	}
	return a
}

// misconfigured reports a driver that wants tokens when there are none: nobody could call anything.
func (a *authenticator) misconfigured() bool { return !a.open && len(a.tokens) == 0 }

// check decides whether the Authorization header may call an operation for the given roles. It
// compares with every token, in constant time.
func (a *authenticator) check(header string, allowed []string) *runtime.Refusal {
	if a.open {
		return nil
	}
	secret, bearer := bearerToken(header)
	digest := sha256.Sum256([]byte(secret))
	known, role, permitted := false, "", false
	for _, t := range a.tokens {
		if subtle.ConstantTimeCompare(digest[:], t.digest[:]) == 1 {
			known, role = true, t.role
			permitted = permitted || t.role == "" || slices.Contains(allowed, t.role)
		}
	}
	if !known || !bearer {
		return rules.Refuse("unauthorized", "A valid bearer token is required.").
			With("remediation", "Send Authorization: Bearer <token>.")
	}
	if !permitted {
		return rules.Refuse("forbidden", "The role "+role+" may not call this.").
			With("role", role).With("allowed_roles", allowed)
	}
	return nil
}

func bearerToken(header string) (secret string, ok bool) {
	scheme, secret, found := strings.Cut(header, " ")
	return strings.TrimSpace(secret), found && strings.EqualFold(scheme, "bearer")
}

// rolesFor are the roles that may call a route (control-plane.md 1.4, worker-plane.md 1).
func rolesFor(p *plane, method, path string) []string {
	everyone := []string{roleWorker, roleOperator, roleAdmin}
	switch {
	case path == "/worker/register", path == "/cluster/info":
		return everyone
	case p == workerPlane:
		return []string{roleWorker}
	case adminOnly(method, path):
		return []string{roleAdmin}
	}
	return []string{roleOperator, roleAdmin}
}

func adminOnly(method, path string) bool {
	reads := method == "GET"
	for _, prefix := range []string{"/system/", "/runtime-credentials", "/storage/test", "/workflows/import/"} {
		if strings.HasPrefix(path, prefix) {
			return true
		}
	}
	switch {
	case strings.HasPrefix(path, "/namespaces"):
		return !reads
	case strings.HasPrefix(path, "/service-endpoints"):
		// Executing an operation and following its calls is an operator's work, the catalogue is not.
		return !strings.HasSuffix(path, "/execute") && !strings.Contains(path, "/service-calls")
	case strings.HasPrefix(path, "/workers/"):
		return method == "DELETE"
	}
	return false
}
