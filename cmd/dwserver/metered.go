package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"dwserver/runtime"
	"dwserver/runtime/rules"
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
	var last meteredTx
	err := m.Store.Transition(ctx, func(ctx context.Context, tx store.Tx) error {
		last = meteredTx{Tx: tx}
		return fn(ctx, &last)
	})
	m.took.Observe(time.Since(began).Seconds())
	m.outcomes.WithLabelValues(transitionOutcome(err, last.wrote)).Inc()
	return err
}

// meteredTx notices whether anything is written.
type meteredTx struct {
	store.Tx
	wrote bool
}

// Apply implements store.Tx.
func (t *meteredTx) Apply(ctx context.Context, e *rules.Effects) error {
	t.wrote = t.wrote || !e.Empty()
	return t.Tx.Apply(ctx, e)
}

// statementCounter counts statements by name, and the commits among them.
func statementCounter(r prometheus.Registerer) func(statement string) {
	statements := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "dwserver_statements_total",
		Help: "Statements sent to the database, by the name of the query."}, []string{"statement"})
	commits := prometheus.NewCounter(prometheus.CounterOpts{Name: "dwserver_commits_total",
		Help: "Commits of the database: on SQLite one for a group of transitions."})
	r.MustRegister(statements, commits)
	var known sync.Map // statement to its counter: finding it by label costs more than many a statement
	return func(statement string) {
		if statement == "COMMIT" {
			commits.Inc()
		}
		counter, ok := known.Load(statement)
		if !ok {
			counter, _ = known.LoadOrStore(statement, statements.WithLabelValues(statement))
		}
		counter.(prometheus.Counter).Inc()
	}
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

func transitionOutcome(err error, wrote bool) string {
	switch {
	case err == nil && wrote:
		return "committed"
	case err == nil:
		return "read"
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
