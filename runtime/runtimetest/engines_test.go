package runtimetest_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"dwserver/runtime/runtimetest"
	"dwserver/runtime/store"
	"dwserver/runtime/store/open"
	"dwserver/runtime/store/storetest/cluster"
)

func TestMain(m *testing.M) { os.Exit(cluster.Run(m)) }

func TestEngine(t *testing.T) {
	cluster.Each(t, func(t *testing.T, engine string) {
		runtimetest.Exercise(t, func(t *testing.T) func(store.Options) store.Store {
			url := cluster.URL(t, engine)
			return func(opt store.Options) store.Store {
				t.Helper()
				st, err := open.Store(t.Context(), url, opt)
				require.NoError(t, err)
				return st
			}
		})
	})
}
