package sqlite_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"dwserver/runtime/store"
	"dwserver/runtime/store/sqlite"
	"dwserver/runtime/store/storetest"
)

func open(t *testing.T, opt store.Options) store.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), "sqlite://"+filepath.Join(t.TempDir(), "dw.db"), opt)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func TestConformance(t *testing.T) { storetest.Exercise(t, open) }

func TestEveryQuery(t *testing.T) { storetest.Every(t, "../../../queries/sqlite", open) }
