package main

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"dwserver/runtime"
	"dwserver/runtime/store"
)

// meteredStore counts and times transitions. It stands between engine and store only when metrics are served.
type meteredStore struct {
	store.Store
	took     prometheus.Histogram
	outcomes *prometheus.CounterVec
}

func newMeteredStore(s store.Store, r prometheus.Registerer) *meteredStore {
	m := &meteredStore{
		Store: s,
		took: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "dwserver_transition_seconds",
			Help:    "Time of a transition from its start to its commit, waiting for the writer or a lock included.",
			Buckets: prometheus.ExponentialBuckets(0.0001, 2.5, 12)}),
		outcomes: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "dwserver_transitions_total",
			Help: "Transitions by outcome."}, []string{"outcome"}),
	}
	r.MustRegister(m.took, m.outcomes)
	return m
}

// Transition implements store.Store.
func (m *meteredStore) Transition(ctx context.Context, fn func(context.Context, store.Tx) error) error {
	began := time.Now()
	err := m.Store.Transition(ctx, fn)
	m.took.Observe(time.Since(began).Seconds())
	m.outcomes.WithLabelValues(transitionOutcome(err)).Inc()
	return err
}

// outcomeClasses name the errors of a transition, the first that matches.
var outcomeClasses = []struct {
	err  error
	name string
}{
	{store.ErrNotFound, "not_found"},
	{store.ErrConflict, "conflict"},
	{store.ErrContention, "contention"},
	{store.ErrOutcomeUnknown, "unknown"},
	{store.ErrUnavailable, "unavailable"},
	{context.Canceled, "cancelled"},
	{context.DeadlineExceeded, "cancelled"},
}

func transitionOutcome(err error) string {
	if err == nil {
		return "committed"
	}
	if _, refused := errors.AsType[*runtime.Refusal](err); refused {
		return "refused"
	}
	for _, c := range outcomeClasses {
		if errors.Is(err, c.err) {
			return c.name
		}
	}
	return "broken"
}
