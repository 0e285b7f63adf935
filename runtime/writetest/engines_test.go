package writetest_test

import (
	"os"
	"testing"

	"dwserver/runtime/store/storetest/cluster"
	"dwserver/runtime/writetest"
)

func TestMain(m *testing.M) {
	if code, child := writetest.Child(); child {
		os.Exit(code)
	}
	os.Exit(cluster.Run(m))
}

func TestWritePath(t *testing.T) {
	cluster.Each(t, func(t *testing.T, engine string) {
		writetest.Exercise(t, func(t testing.TB) string { return cluster.URL(t, engine) })
	})
}
