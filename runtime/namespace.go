package runtime

import (
	"context"

	"dwserver/runtime/rules"
	"dwserver/runtime/store"
)

// defaultRetentionDays is a new namespace's retention (control-plane.md 6).
const defaultRetentionDays = 30

// ensureNamespace creates a namespace unless it is there.
func (e *Engine) ensureNamespace(ctx context.Context, name string) error {
	if _, err := e.store.ReadNamespace(ctx, name); !isNotFound(err) {
		return err
	}
	now := e.now()
	return e.transition(ctx, func(context.Context, store.Tx) (*rules.Effects, error) {
		return &rules.Effects{Namespaces: []rules.Namespace{{
			Name: name, RetentionMode: "bounded", RetentionDays: defaultRetentionDays, Status: "active",
			CreatedAt: now, UpdatedAt: now,
		}}}, nil
	})
}

// Namespace reads a namespace. Refusal: namespace_not_found.
func (e *Engine) Namespace(ctx context.Context, name string) (rules.Namespace, error) {
	ns, err := e.store.ReadNamespace(ctx, name)
	if isNotFound(err) {
		return ns, refuse("namespace_not_found", "There is no such namespace.").With("namespace", name)
	}
	return ns, err
}

// ListNamespaces reads all namespaces, by name.
func (e *Engine) ListNamespaces(ctx context.Context) ([]rules.Namespace, error) {
	return e.store.ListNamespaces(ctx)
}
