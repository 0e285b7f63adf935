package storetest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"dwserver/runtime/rules"
	"dwserver/runtime/store"
)

// testUpserts: rows that are written whole under a key of their own.
func testUpserts(t *testing.T, x *suite) {
	t.Run("Namespace", func(t *testing.T) {
		first, second := fill[rules.Namespace](x.last.Add(1)), fill[rules.Namespace](x.last.Add(1))
		second.Name = first.Name
		for _, n := range []rules.Namespace{first, second} {
			x.apply(t, &rules.Effects{Namespaces: []rules.Namespace{n}})
			got, err := x.ReadNamespace(t.Context(), n.Name)
			require.NoError(t, err)
			require.Equal(t, n, got)
		}
		list, err := x.ListNamespaces(t.Context())
		require.NoError(t, err)
		require.Contains(t, list, second)
		require.NotContains(t, list, first)
		_, err = x.ReadNamespace(t.Context(), "absent")
		require.ErrorIs(t, err, store.ErrNotFound)
	})
	t.Run("Registration", func(t *testing.T) {
		first, second := fill[rules.Registration](x.last.Add(1)), fill[rules.Registration](x.last.Add(1))
		second.Token = first.Token
		for _, r := range []rules.Registration{first, second} {
			x.apply(t, &rules.Effects{Registrations: []rules.Registration{r}})
			x.inside(t, func(ctx context.Context, tx store.Tx) {
				got, err := tx.GetRegistration(ctx, r.Token)
				require.NoError(t, err)
				require.Equal(t, r, got)
				_, err = tx.GetRegistration(ctx, "absent")
				require.ErrorIs(t, err, store.ErrNotFound)
			})
		}
	})
	t.Run("Definition", func(t *testing.T) {
		first, second := fill[rules.Definition](x.last.Add(1)), fill[rules.Definition](x.last.Add(1))
		second.Namespace, second.WorkflowType = first.Namespace, first.WorkflowType
		for _, d := range []rules.Definition{first, second} {
			x.apply(t, &rules.Effects{Definitions: []rules.Definition{d}})
			got, err := x.ReadDefinition(t.Context(), d.Namespace, d.WorkflowType)
			require.NoError(t, err)
			require.Equal(t, d, got)
		}
		x.inside(t, func(ctx context.Context, tx store.Tx) {
			got, err := tx.GetDefinition(ctx, first.Namespace, first.WorkflowType)
			require.NoError(t, err)
			require.Equal(t, second, got)
			_, err = tx.GetDefinition(ctx, first.Namespace, "absent")
			require.ErrorIs(t, err, store.ErrNotFound)
		})
	})
	t.Run("PollReceipt", func(t *testing.T) {
		first, second := fill[rules.PollReceipt](x.last.Add(1)), fill[rules.PollReceipt](x.last.Add(1))
		second.Namespace, second.WorkerID = first.Namespace, first.WorkerID
		second.Kind, second.PollRequestID = first.Kind, first.PollRequestID
		for i, p := range []rules.PollReceipt{first, second} {
			e := &rules.Effects{PollReceipts: []rules.PollReceipt{p}}
			if i > 0 {
				require.ErrorIs(t, x.try(t, e), store.ErrConflict, "taken")
				e.DropReceipts = []rules.PollReceipt{p}
				require.ErrorIs(t, x.try(t, e), store.ErrConflict, "not as it was read")
				e.DropReceipts = []rules.PollReceipt{first}
			}
			x.apply(t, e)
			got, err := x.ReadPollReceipt(t.Context(), p.Namespace, p.WorkerID, p.Kind, p.PollRequestID)
			require.NoError(t, err)
			require.Equal(t, p, got)
		}
		x.inside(t, func(ctx context.Context, tx store.Tx) {
			got, err := tx.GetPollReceipt(ctx, first.Namespace, first.WorkerID, first.Kind, first.PollRequestID)
			require.NoError(t, err)
			require.Equal(t, second, got)
			_, err = tx.GetPollReceipt(ctx, first.Namespace, first.WorkerID, "other", first.PollRequestID)
			require.ErrorIs(t, err, store.ErrNotFound)
		})
	})
}

func testWorkers(t *testing.T, x *suite) {
	w := fill[rules.Worker](x.last.Add(1))
	other := fill[rules.Worker](x.last.Add(1))
	other.Namespace = w.Namespace
	x.apply(t, &rules.Effects{Worker: &w})
	x.apply(t, &rules.Effects{Worker: &other})
	again := fill[rules.Worker](x.last.Add(1))
	again.Namespace, again.WorkerID = w.Namespace, w.WorkerID
	x.apply(t, &rules.Effects{Worker: &again})
	requireWorker := func(want rules.Worker) {
		t.Helper()
		got, err := x.ReadWorker(t.Context(), want.Namespace, want.WorkerID)
		require.NoError(t, err)
		require.Equal(t, want, got)
		x.inside(t, func(ctx context.Context, tx store.Tx) {
			got, err := tx.LockWorker(ctx, want.Namespace, want.WorkerID)
			require.NoError(t, err)
			require.Equal(t, want, got)
			got, err = tx.ShareWorker(ctx, want.Namespace, want.WorkerID)
			require.NoError(t, err)
			require.Equal(t, want, got)
		})
	}
	requireWorker(again)
	requireWorker(other)

	at := again.LastSeenAt
	for _, step := range []struct{ seen, want int64 }{{at + 10, at + 10}, {at + 5, at + 10}, {at + 11, at + 11}} {
		x.apply(t, &rules.Effects{Seen: &rules.WorkerSeen{Namespace: w.Namespace, WorkerID: w.WorkerID, At: step.seen}})
		again.LastSeenAt = step.want
		requireWorker(again)
	}
	x.apply(t, &rules.Effects{Seen: &rules.WorkerSeen{Namespace: w.Namespace, WorkerID: "absent", At: 1}})

	older := again
	older.Generation--
	require.ErrorIs(t, x.try(t, &rules.Effects{RemoveWorker: &older}), store.ErrConflict, "another registration")
	requireWorker(again)
	x.apply(t, &rules.Effects{RemoveWorker: &again})
	_, err := x.ReadWorker(t.Context(), w.Namespace, w.WorkerID)
	require.ErrorIs(t, err, store.ErrNotFound)
	x.inside(t, func(ctx context.Context, tx store.Tx) {
		_, err := tx.LockWorker(ctx, w.Namespace, w.WorkerID)
		require.ErrorIs(t, err, store.ErrNotFound)
		_, err = tx.ShareWorker(ctx, w.Namespace, w.WorkerID)
		require.ErrorIs(t, err, store.ErrNotFound)
	})
	requireWorker(other)
}

func testCommands(t *testing.T, x *suite) {
	run := x.newRun(t)
	var list []rules.Command
	for i := range int64(5) {
		c := fill[rules.Command](x.last.Add(1))
		c.RunID, c.Sequence = run.RunID, 5-i
		list = append([]rules.Command{c}, list...)
		x.apply(t, &rules.Effects{NewCommands: []rules.Command{c}})
	}
	got, err := x.ListCommands(t.Context(), run.RunID)
	require.NoError(t, err)
	require.Equal(t, list, got, "ascending sequence")

	key := fill[rules.CommandRequest](x.last.Add(1))
	x.apply(t, &rules.Effects{NewRequests: []rules.CommandRequest{key}})
	require.ErrorIs(t, x.try(t, &rules.Effects{NewRequests: []rules.CommandRequest{key}}), store.ErrConflict)
	x.inside(t, func(ctx context.Context, tx store.Tx) {
		found, err := tx.GetCommandRequest(ctx, rules.CommandRequest{WorkflowID: key.WorkflowID,
			CommandType: key.CommandType, TargetName: key.TargetName, RequestID: key.RequestID})
		require.NoError(t, err)
		require.Equal(t, key, found)
		for _, field := range []string{"WorkflowID", "CommandType", "TargetName", "RequestID"} {
			_, err = tx.GetCommandRequest(ctx, set(key, field, "absent"))
			require.ErrorIs(t, err, store.ErrNotFound, field)
		}
	})
}
