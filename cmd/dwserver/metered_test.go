package main

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dwserver/runtime/rules"
	"dwserver/runtime/store"
)

// failingStore ends every transition with its error.
type failingStore struct {
	store.Store
	err error
}

func (f failingStore) Transition(context.Context, func(context.Context, store.Tx) error) error {
	return f.err
}

func TestTransitionsAreCountedByOutcome(t *testing.T) {
	r := prometheus.NewRegistry()
	m := newMeteredStore(nil, r)
	for _, err := range []error{nil, nil, rules.Refuse("stale_attempt", "no"), fmt.Errorf("x: %w", store.ErrContention),
		store.ErrOutcomeUnknown, context.Canceled, errors.New("disk on fire")} {
		m.Store = failingStore{err: err}
		assert.Equal(t, err, m.Transition(t.Context(), nil))
	}
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
	assert.Equal(t, map[string]float64{"committed": 2, "refused": 1, "contention": 1, "unknown": 1, "cancelled": 1, "broken": 1}, counts)
	assert.EqualValues(t, 7, timed)
}
