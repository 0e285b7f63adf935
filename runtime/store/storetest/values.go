package storetest

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"dwserver/runtime/rules"
	"dwserver/runtime/store"
)

// testText: identifiers compare byte for byte and come back as they went in.
func testText(t *testing.T, x *suite) {
	base := x.id("Wf")
	forms := []string{
		base, strings.ToUpper(base), strings.ToLower(base), base + " ", base + "  ", " " + base, base + "\t",
		base + "é", base + "e\u0301", base + "😀", base + "😁", base + "ß", base + "ss", base + "\u00a0", base + "/%_\\'\"`",
		base + strings.Repeat("😀", 200), "0", "false", "null",
	}
	for i, id := range forms {
		x.apply(t, &rules.Effects{NewInstance: &rules.Instance{WorkflowID: id, CurrentRunID: fmt.Sprintf("%s-%d", base, i)}})
	}
	for i, id := range forms {
		got, err := x.ReadInstance(t.Context(), id)
		require.NoError(t, err, "%q", id)
		require.Equal(t, id, got.WorkflowID)
		require.Equal(t, fmt.Sprintf("%s-%d", base, i), got.CurrentRunID, "%q found another's row", id)
	}
	run := x.newRun(t)
	queue := x.id("Queue")
	for _, q := range []string{queue, strings.ToUpper(queue), queue + " ", queue + "😀"} {
		x.apply(t, &rules.Effects{NewTasks: []rules.Task{x.ready(run, q)}})
	}
	for _, q := range []string{queue + " ", queue + "😀", strings.ToUpper(queue), queue} {
		task := x.claim(t, store.Claim{Namespace: "default", TaskQueue: q, Kind: rules.KindWorkflow, TypeNames: []string{"type"}})
		require.Equal(t, q, task.TaskQueue)
	}
	x.claimNone(t, store.Claim{Namespace: "default", TaskQueue: strings.ToLower(queue), Kind: rules.KindWorkflow, TypeNames: []string{"type"}})
	x.claimNone(t, store.Claim{Namespace: "default", TaskQueue: queue, Kind: rules.KindWorkflow, TypeNames: []string{"Type", "type "}})
}

// testNumbers: every 64-bit value is kept.
func testNumbers(t *testing.T, x *suite) {
	for _, n := range []int64{math.MinInt64, math.MinInt64 + 1, -1, 0, 1, 1 << 53, 1<<53 + 1, math.MaxInt64 - 1, math.MaxInt64} {
		task := fill[rules.Task](x.last.Add(1))
		task.TaskID, task.Priority, task.OrderAt, task.AvailableAt = x.id("task"), n, n, n
		task.LeaseExpiresAt, task.AttemptCount, task.ClosedAt = n, n, n
		x.apply(t, &rules.Effects{NewTasks: []rules.Task{task}})
		got, err := x.ReadTask(t.Context(), task.TaskID)
		require.NoError(t, err)
		same(t, task, got)
	}
}

// testBlobs: documents up to the limit of a payload and beyond, empty ones, and any bytes.
func testBlobs(t *testing.T, x *suite) {
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	for _, doc := range [][]byte{nil, {}, []byte("{}"), every, bytes.Repeat([]byte{0}, 65535), bytes.Repeat([]byte("\\"), 65536),
		bytes.Repeat([]byte("'x"), 1<<19), bytes.Repeat(every, 3<<20/256)} {
		run := x.newRun(t)
		x.apply(t, &rules.Effects{
			NewInputs:  []rules.RunInput{{RunID: run.RunID, Arguments: doc, Memo: doc, SearchAttributes: doc}},
			Events:     []rules.Event{{RunID: run.RunID, Sequence: 1, Payload: doc}, {RunID: run.RunID, Sequence: 2}},
			NewSignals: []rules.Signal{{SignalID: x.id("sig"), RunID: run.RunID, Arguments: doc, Status: rules.SignalReceived}},
		})
		in, err := x.ReadRunInput(t.Context(), run.RunID)
		require.NoError(t, err)
		requireBytes(t, doc, in.Arguments, in.Memo, in.SearchAttributes)
		ev, err := x.ReadEvent(t.Context(), run.RunID, 1)
		require.NoError(t, err)
		requireBytes(t, doc, ev.Payload)
		x.inside(t, func(ctx context.Context, tx store.Tx) {
			signals, err := tx.ListReceivedSignals(ctx, run.RunID)
			require.NoError(t, err)
			require.Len(t, signals, 1)
			requireBytes(t, doc, signals[0].Arguments)
		})
	}
}

// requireBytes compares without printing megabytes. Empty and absent are the same.
func requireBytes(t *testing.T, want []byte, got ...[]byte) {
	t.Helper()
	for _, g := range got {
		require.True(t, bytes.Equal(want, g), "%d bytes went in, other %d came out", len(want), len(g))
	}
}

// testBatches: many rows of one transition, among them one larger than a statement may be.
func testBatches(t *testing.T, x *suite) {
	run := x.newRun(t)
	e := &rules.Effects{}
	for i := range int64(350) {
		size := 8 << 10
		if i == 120 {
			size = 3 << 20
		}
		e.Events = append(e.Events, rules.Event{RunID: run.RunID, Sequence: i + 1, EventID: x.id("event"), EventType: "Some",
			Payload: bytes.Repeat([]byte{byte('a' + i%26)}, size), RecordedAt: i})
		act, task := x.activity(run, "batch")
		act.Sequence = i
		e.NewActs, e.NewTasks = append(e.NewActs, act), append(e.NewTasks, task)
	}
	x.apply(t, e)
	got, err := x.ListEvents(t.Context(), run.RunID, 0, math.MaxInt64, 1000)
	require.NoError(t, err)
	require.Len(t, got, len(e.Events))
	for i := range got {
		require.Equal(t, e.Events[i].EventID, got[i].EventID)
		requireBytes(t, e.Events[i].Payload, got[i].Payload)
	}
	open, err := x.ListOpenActivitiesOf(t.Context(), run.RunID)
	require.NoError(t, err)
	require.Equal(t, ids(e.NewActs, func(a rules.Activity) string { return a.ExecutionID }),
		ids(open, func(a rules.Activity) string { return a.ExecutionID }))
	for i := range open {
		open[i].Status = rules.ActivityCancelled
	}
	x.apply(t, &rules.Effects{Acts: open})
	open, err = x.ListOpenActivitiesOf(t.Context(), run.RunID)
	require.NoError(t, err)
	require.Empty(t, open)
}
