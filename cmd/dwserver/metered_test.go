package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dwserver/runtime/rules"
	"dwserver/runtime/store"
	opener "dwserver/runtime/store/open"
)

// failingStore ends every transition with its error.
type failingStore struct {
	store.Store
	err error
}

func (f failingStore) Transition(ctx context.Context, fn func(context.Context, store.Tx) error) error {
	if err := fn(ctx, failingTx{}); err != nil {
		return err
	}
	return f.err
}

type failingTx struct{ store.Tx }

func (failingTx) Apply(context.Context, *rules.Effects) error { return nil }

func writes(ctx context.Context, tx store.Tx) error {
	return tx.Apply(ctx, &rules.Effects{Events: []rules.Event{{}}})
}

func reads(ctx context.Context, tx store.Tx) error { return tx.Apply(ctx, &rules.Effects{}) }

func TestTransitionsAreCountedByOutcome(t *testing.T) {
	r := prometheus.NewRegistry()
	m := newMeteredStore(nil, r)
	for _, err := range []error{nil, nil, rules.Refuse("stale_attempt", "no"), fmt.Errorf("x: %w", store.ErrContention),
		store.ErrOutcomeUnknown, context.Canceled, errors.New("disk on fire")} {
		m.Store = failingStore{err: err}
		assert.Equal(t, err, m.Transition(t.Context(), writes))
	}
	m.Store = failingStore{}
	require.NoError(t, m.Transition(t.Context(), reads))
	families, err := r.Gather()
	require.NoError(t, err)
	counts, timed := map[string]float64{}, uint64(0)
	for _, f := range families {
		for _, metric := range f.GetMetric() {
			for _, label := range metric.GetLabel() {
				counts[label.GetValue()] = metric.GetCounter().GetValue()
			}
			timed += metric.GetHistogram().GetSampleCount()
		}
	}
	assert.Equal(t, map[string]float64{"committed": 2, "read": 1, "refused": 1, "contention": 1, "unknown": 1, "cancelled": 1, "broken": 1}, counts)
	assert.EqualValues(t, 8, timed)
}

func TestStatementsAreCountedByName(t *testing.T) {
	r := prometheus.NewRegistry()
	count := statementCounter(r)
	st, err := opener.Store(t.Context(), "sqlite://"+filepath.ToSlash(filepath.Join(t.TempDir(), "db")), store.Options{Count: count})
	require.NoError(t, err)
	defer st.Close()
	for range 3 {
		require.NoError(t, st.Transition(t.Context(), func(ctx context.Context, tx store.Tx) error {
			return tx.Apply(ctx, &rules.Effects{Namespaces: []rules.Namespace{{Name: "a"}}})
		}))
		_, err := st.ReadNamespace(t.Context(), "a")
		require.NoError(t, err)
	}
	require.NoError(t, st.Transition(t.Context(), func(context.Context, store.Tx) error { return nil }), "commits nothing")
	families, err := r.Gather()
	require.NoError(t, err)
	counts := map[string]float64{}
	for _, f := range families {
		for _, metric := range f.GetMetric() {
			name := f.GetName()
			for _, label := range metric.GetLabel() {
				name = label.GetValue()
			}
			counts[name] = metric.GetCounter().GetValue()
		}
	}
	assert.Equal(t, map[string]float64{"dwserver_commits_total": 3, "BEGIN IMMEDIATE": 4, "NamespaceUpsert": 3, "NamespaceGet": 3,
		"COMMIT": 3, "ROLLBACK": 1}, counts)
}
