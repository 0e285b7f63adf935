package handlers

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"dwserver/handlers/schema"
	"dwserver/runtime"
	"dwserver/runtime/rules"
)

// Namespaces reads namespaces. A missing one is a *runtime.Refusal namespace_not_found.
type Namespaces interface {
	Namespace(ctx context.Context, name string) (rules.Namespace, error)
}

const (
	// maxNamespace is the longest namespace name; a longer one cannot exist.
	maxNamespace = 128
	// namespaceMemory is how long a namespace that was seen needs no second look. Every request names
	// one; a namespace deleted elsewhere is noticed this late.
	namespaceMemory = 2 * time.Second
)

// knownNamespaces remembers which namespaces were seen lately.
type knownNamespaces struct {
	source Namespaces
	now    func() time.Time
	seen   sync.Map // name -> time.Time of the last look
}

func (k *knownNamespaces) exists(ctx context.Context, name string) (bool, error) {
	if at, ok := k.seen.Load(name); ok && k.now().Sub(at.(time.Time)) < namespaceMemory {
		return true, nil
	}
	_, err := k.source.Namespace(ctx, name)
	var missing *runtime.Refusal
	if errors.As(err, &missing) {
		k.seen.Delete(name)
		return false, nil
	}
	if err != nil {
		return false, err
	}
	k.seen.Store(name, k.now())
	return true, nil
}

// resolveNamespace takes the header, then the query, then the default, and checks that the namespace
// exists where the operation wants one.
func (x *exchange) resolveNamespace(r *http.Request) error {
	name := r.Header.Get("X-Namespace")
	if name == "" && r.URL.RawQuery != "" {
		name = r.URL.Query().Get("namespace")
	}
	if name == "" {
		name = x.s.config.DefaultNamespace
	}
	x.namespace = strings.ToLower(name)
	if !x.op.namespaced {
		return nil
	}
	exists := false
	if len(x.namespace) <= maxNamespace && schema.Printable(x.namespace) {
		var err error
		if exists, err = x.s.namespaces.exists(r.Context(), x.namespace); err != nil {
			return err
		}
	}
	if !exists {
		return rules.Refuse("namespace_not_found", "The namespace does not exist.").
			With("namespace", strings.ToValidUTF8(x.namespace, "\uFFFD")).
			With("remediation", "Create the namespace, or name one that exists in X-Namespace.")
	}
	return nil
}
