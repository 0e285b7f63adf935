package sqlite_test

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"dwserver/runtime/rules"
	"dwserver/runtime/store"
)

// TestRegistrationsAsCommitted: whoever was told of a change of a registration reads it, however many read the
// registration meanwhile.
func TestRegistrationsAsCommitted(t *testing.T) {
	s := open(t, store.Options{})
	ctx, stop := context.WithCancel(t.Context())
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for last := int64(0); ctx.Err() == nil; {
				if w, err := s.ReadWorker(ctx, "default", "w"); err == nil {
					if w.Generation < last {
						t.Errorf("generation %d after %d", w.Generation, last)
					}
					last = w.Generation
				}
			}
		})
	}
	change := func(e rules.Effects) {
		require.NoError(t, s.Transition(t.Context(), func(ctx context.Context, tx store.Tx) error { return tx.Apply(ctx, &e) }))
	}
	worker := rules.Worker{Namespace: "default", WorkerID: "w"}
	for worker.Generation = 1; worker.Generation <= 300; worker.Generation++ {
		change(rules.Effects{Worker: &worker})
		got, err := s.ReadWorker(t.Context(), "default", "w")
		require.NoError(t, err)
		require.Equal(t, worker.Generation, got.Generation)
	}
	change(rules.Effects{Seen: &rules.WorkerSeen{Namespace: "default", WorkerID: "w", At: 7}})
	got, err := s.ReadWorker(t.Context(), "default", "w")
	require.NoError(t, err)
	require.Equal(t, int64(7), got.LastSeenAt)
	stop()
	readers.Wait()
	change(rules.Effects{RemoveWorker: &got})
	_, err = s.ReadWorker(t.Context(), "default", "w")
	require.ErrorIs(t, err, store.ErrNotFound)
}
