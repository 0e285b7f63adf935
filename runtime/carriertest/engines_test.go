package carriertest_test

import (
	"os"
	"testing"

	"dwserver/runtime/carriertest"
	"dwserver/runtime/store/storetest/cluster"
)

func TestMain(m *testing.M) { os.Exit(cluster.Run(m)) }

func TestCarried(t *testing.T) {
	cluster.Each(t, func(t *testing.T, engine string) {
		carriertest.Exercise(t, func(t testing.TB) string { return cluster.URL(t, engine) })
	})
}
