package carriertest_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"dwserver/runtime/carriertest"
	"dwserver/runtime/store"
	"dwserver/runtime/store/open"
)

func TestSQLite(t *testing.T) {
	carriertest.Exercise(t, func(t *testing.T, opt store.Options) store.Store {
		t.Helper()
		s, err := open.Store(t.Context(), "sqlite://"+filepath.Join(t.TempDir(), "dw.db"), opt)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, s.Close()) })
		return s
	})
}
