package postgres_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"dwserver/runtime/store"
	"dwserver/runtime/store/postgres"
	"dwserver/runtime/store/storetest"
	"dwserver/runtime/store/storetest/cluster"
)

func open(t *testing.T, opt store.Options) store.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), cluster.URL(t, cluster.Postgres), opt)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func TestConformance(t *testing.T) { storetest.Exercise(t, open) }

func TestEveryQuery(t *testing.T) { storetest.Every(t, "../../../queries/postgres", open) }

func TestFaults(t *testing.T) {
	storetest.Faults(t, cluster.Postgres, func(ctx context.Context, url string, opt store.Options) (store.Store, error) {
		return postgres.Open(ctx, url, opt)
	})
}
