package cluster_test

import (
	"context"
	"os"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"dwserver/runtime/store/storetest/cluster"
)

func TestMain(m *testing.M) { os.Exit(cluster.Run(m)) }

func TestDatabasesAreSeparate(t *testing.T) {
	urls := map[string]bool{}
	cluster.Each(t, func(t *testing.T, engine string) {
		for range 2 {
			u := cluster.URL(t, engine)
			require.False(t, urls[u])
			urls[u] = true
		}
	})
}

func TestDatabaseIsDropped(t *testing.T) {
	var url string
	t.Run("use", func(t *testing.T) {
		url = cluster.URL(t, cluster.Postgres)
		conn, err := pgx.Connect(t.Context(), url)
		require.NoError(t, err)
		require.NoError(t, conn.Close(context.WithoutCancel(t.Context())))
	})
	if url == "" {
		t.Skip("no PostgreSQL")
	}
	_, err := pgx.Connect(t.Context(), url)
	require.ErrorContains(t, err, "does not exist")
}
