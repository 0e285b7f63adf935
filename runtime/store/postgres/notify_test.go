package postgres

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"dwserver/runtime/rules"
	"dwserver/runtime/store"
	"dwserver/runtime/store/storetest/cluster"
)

const (
	wakeLimit = 20 * time.Second
	tickEvery = 10 * time.Millisecond
)

// TestScanWithoutListener: what no notification told, the scan finds.
func TestScanWithoutListener(t *testing.T) {
	clock := func() int64 { return 10_000_000 }
	s, err := Open(t.Context(), cluster.URL(t, cluster.Postgres), store.Options{Clock: clock})
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	s.notifier.close() // neither listens nor scans by itself
	var heard []store.Wake
	s.Notify(func(w store.Wake) { heard = append(heard, w) })
	var tasks []rules.Task
	for queue, at := range map[string]int64{"now": clock(), "lately": clock() - 4_000_000, "long ago": 1, "later": clock() + 1} {
		tasks = append(tasks, rules.Task{TaskID: queue, TaskQueue: queue, Status: rules.TaskReady, AvailableAt: at},
			rules.Task{TaskID: queue + "2", TaskQueue: queue, Status: rules.TaskReady, AvailableAt: at})
	}
	require.NoError(t, s.Transition(t.Context(), func(ctx context.Context, tx store.Tx) error {
		return tx.Apply(ctx, &rules.Effects{NewTasks: tasks})
	}))
	require.NoError(t, s.notifier.look(t.Context()))
	require.ElementsMatch(t, []store.Wake{{TaskQueue: "now", AvailableAt: clock()}, {TaskQueue: "lately", AvailableAt: clock()}}, heard)
}

// TestListenerReconnects: a listener whose session is ended by the server listens again.
func TestListenerReconnects(t *testing.T) {
	url := cluster.URL(t, cluster.Postgres)
	s, err := Open(t.Context(), url, store.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	admin, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	defer func() { require.NoError(t, admin.Close(context.WithoutCancel(t.Context()))) }()
	listener := func() (pid int) {
		require.Eventually(t, func() bool {
			return admin.QueryRow(t.Context(), "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND query = 'LISTEN "+channel+"'").Scan(&pid) == nil
		}, wakeLimit, tickEvery)
		return pid
	}
	first := listener()
	_, err = admin.Exec(t.Context(), "SELECT pg_terminate_backend($1)", first)
	require.NoError(t, err)
	require.Eventually(t, func() bool { return listener() != first }, wakeLimit, tickEvery)
}

// TestLongQueueNames: notifications are cut so that each fits, and what cannot fit is left to the scan.
func TestLongQueueNames(t *testing.T) {
	n := &notifier{self: "self"}
	long := strings.Repeat("😀", 255)
	var wakes []store.Wake
	for range 40 {
		wakes = append(wakes, store.Wake{Namespace: "default", TaskQueue: long, Kind: rules.KindWorkflow, TypeName: long})
	}
	wakes = append(wakes, store.Wake{TaskQueue: strings.Repeat("x", 9000)}, store.Wake{TaskQueue: "short"})
	list, err := n.payloads(wakes)
	require.NoError(t, err)
	total := 0
	for _, text := range list {
		require.LessOrEqual(t, len(text), 7999)
		total += strings.Count(text, "TaskQueue")
	}
	require.Equal(t, 41, total)
}

// TestNotificationsGather: the first wake is sent at once, those that follow together, and none is lost when
// the store is closed meanwhile.
func TestNotificationsGather(t *testing.T) {
	sent, pause, paused := make(chan []store.Wake), make(chan struct{}), make(chan struct{})
	n := &notifier{more: make(chan struct{}, 1), pending: map[store.Wake]struct{}{}}
	n.publish = func(_ context.Context, wakes []store.Wake) error {
		sent <- wakes
		return nil
	}
	n.gather = func(ctx context.Context) {
		paused <- struct{}{}
		select {
		case <-pause:
		case <-ctx.Done():
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	n.group.Go(func() { n.send(ctx) })
	wake := func(queue string) store.Wake { return store.Wake{TaskQueue: queue} }
	n.add([]store.Wake{wake("first")})
	require.Equal(t, []store.Wake{wake("first")}, <-sent)
	<-paused
	n.add([]store.Wake{wake("second")})
	n.add([]store.Wake{wake("third"), wake("second")})
	pause <- struct{}{}
	require.ElementsMatch(t, []store.Wake{wake("second"), wake("third")}, <-sent)
	<-paused
	n.add([]store.Wake{wake("last")})
	stop()
	require.Equal(t, []store.Wake{wake("last")}, <-sent)
	n.group.Wait()
}
