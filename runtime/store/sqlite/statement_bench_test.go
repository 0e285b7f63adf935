package sqlite_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"dwserver/runtime/rules"
	"dwserver/runtime/store"
	"dwserver/runtime/store/sqlite"
)

// BenchmarkStatement measures one statement, without the commit: what the layer on SQLite costs.
func BenchmarkStatement(b *testing.B) {
	s, err := sqlite.Open(b.Context(), "sqlite://"+filepath.Join(b.TempDir(), "dw.db"), store.Options{})
	require.NoError(b, err)
	defer func() { require.NoError(b, s.Close()) }()
	const rows = 1000
	require.NoError(b, s.Transition(b.Context(), func(ctx context.Context, tx store.Tx) error {
		for i := range rows {
			if err := tx.Apply(ctx, &rules.Effects{NewTasks: []rules.Task{benchTask(i)}}); err != nil {
				return err
			}
		}
		return nil
	}))
	b.Run("insert", func(b *testing.B) {
		undone := fmt.Errorf("undone")
		inside(b, s, undone, func(ctx context.Context, tx store.Tx) error {
			for i := range b.N {
				if err := tx.Apply(ctx, &rules.Effects{NewTasks: []rules.Task{benchTask(rows + i)}}); err != nil {
					return err
				}
			}
			return undone
		})
	})
	b.Run("read", func(b *testing.B) {
		b.ReportAllocs()
		cpu := cpuTime()
		for i := range b.N {
			if _, err := s.ReadTask(b.Context(), benchTask(i%rows).TaskID); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64((cpuTime()-cpu).Nanoseconds())/float64(b.N), "cpu-ns/op")
	})
	b.Run("list", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			list, err := s.DueLeases(b.Context(), rules.Never-1, 50)
			if err != nil || len(list) != 50 {
				b.Fatal(len(list), err)
			}
		}
	})
}

// inside measures fn in one transition.
func inside(b *testing.B, s store.Store, want error, fn func(context.Context, store.Tx) error) {
	b.ReportAllocs()
	cpu := cpuTime()
	require.ErrorIs(b, s.Transition(b.Context(), fn), want)
	b.ReportMetric(float64((cpuTime()-cpu).Nanoseconds())/float64(b.N), "cpu-ns/op")
}

func benchTask(n int) rules.Task {
	return rules.Task{TaskID: fmt.Sprintf("01JAAAAAAAAAAAAAAAAA%06d", n), RunID: "01JBBBBBBBBBBBBBBBBBBBBBBB", WorkflowID: "order-4711",
		Namespace: "default", Kind: rules.KindActivity, TaskQueue: "queue", TypeName: "charge", Status: rules.TaskLeased,
		ActivityExecutionID: "01JCCCCCCCCCCCCCCCCCCCCCCC", ActivityAttemptID: "01JDDDDDDDDDDDDDDDDDDDDDDD",
		LeaseOwner: "worker-1", LeaseExpiresAt: 1_000_000 + int64(n), Payload: payload[:100]}
}
