package mysql_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"dwserver/runtime/store"
	"dwserver/runtime/store/mysql"
	"dwserver/runtime/store/storetest"
	"dwserver/runtime/store/storetest/cluster"
)

func open(t *testing.T, opt store.Options) store.Store {
	t.Helper()
	s, err := mysql.Open(t.Context(), cluster.URL(t, cluster.MySQL), opt)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func TestConformance(t *testing.T) { storetest.Exercise(t, open) }

func TestEveryQuery(t *testing.T) { storetest.Every(t, "../../../queries/mysql", open) }

func TestFaults(t *testing.T) {
	storetest.Faults(t, cluster.MySQL, func(ctx context.Context, url string, opt store.Options) (store.Store, error) {
		return mysql.Open(ctx, url, opt)
	})
}
