package storetest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"dwserver/runtime/rules"
	"dwserver/runtime/store"
)

// testReadPoll: a poll's registration and receipt come together, either by itself where the other is missing.
func testReadPoll(t *testing.T, x *suite) {
	worker, receipt := fill[rules.Worker](x.last.Add(1)), fill[rules.PollReceipt](x.last.Add(1))
	receipt.Namespace, receipt.WorkerID = worker.Namespace, worker.WorkerID
	key := store.PollKey{Namespace: receipt.Namespace, WorkerID: receipt.WorkerID, Kind: receipt.Kind, PollRequestID: receipt.PollRequestID}
	x.apply(t, &rules.Effects{PollReceipts: []rules.PollReceipt{receipt}})
	_, got, err := x.ReadPoll(t.Context(), key)
	require.ErrorIs(t, err, store.ErrNotFound, "no worker, whatever receipts there are")
	require.Nil(t, got)
	x.apply(t, &rules.Effects{Worker: &worker})
	row, got, err := x.ReadPoll(t.Context(), key)
	require.NoError(t, err)
	require.Equal(t, worker, row)
	require.Equal(t, &receipt, got)
	for _, other := range []store.PollKey{
		{Namespace: key.Namespace, WorkerID: key.WorkerID, Kind: "other", PollRequestID: key.PollRequestID},
		{Namespace: key.Namespace, WorkerID: key.WorkerID, Kind: key.Kind, PollRequestID: "other"},
	} {
		row, got, err = x.ReadPoll(t.Context(), other)
		require.NoError(t, err)
		require.Equal(t, worker, row)
		require.Nil(t, got)
	}
}

// testStartedDefinition: a definition that was announced is the one that is asked for, whether the workflow id is
// taken or not.
func testStartedDefinition(t *testing.T, x *suite) {
	run := x.newRun(t)
	d := fill[rules.Definition](x.last.Add(1))
	x.apply(t, &rules.Effects{Definitions: []rules.Definition{d}})
	for _, id := range []string{run.WorkflowID, "free"} {
		for _, name := range []string{d.WorkflowType, "absent"} {
			x.inside(t, func(ctx context.Context, tx store.Tx) {
				tx.Expect(store.Expected{Namespace: d.Namespace, Starts: name})
				inst, err := tx.LockInstance(ctx, id)
				if id == "free" {
					require.ErrorIs(t, err, store.ErrNotFound)
				} else {
					require.NoError(t, err)
					require.Equal(t, id, inst.WorkflowID)
				}
				_, err = tx.GetDefinition(ctx, d.Namespace, "other")
				require.ErrorIs(t, err, store.ErrNotFound)
				got, err := tx.GetDefinition(ctx, d.Namespace, name)
				if name == "absent" {
					require.ErrorIs(t, err, store.ErrNotFound)
					return
				}
				require.NoError(t, err)
				require.Equal(t, d, got)
			})
		}
	}
}
