package storetest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"dwserver/runtime/rules"
	"dwserver/runtime/store"
)

// SetCounter moves a run's history counter, as no transition does.
func SetCounter(t testing.TB, s store.Store, runID string, value int64) {
	t.Helper()
	require.NoError(t, s.Transition(context.WithoutCancel(t.Context()), func(ctx context.Context, tx store.Tx) error {
		l, err := tx.LockRun(ctx, runID)
		if err != nil {
			return err
		}
		base := l.Run.LastHistorySequence
		l.Run.LastHistorySequence = value
		return tx.Apply(ctx, &rules.Effects{Run: &l.Run, RunBase: base})
	}))
}
