package storetest

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"dwserver/runtime/rules"
	"dwserver/runtime/store"
	"dwserver/runtime/store/storetest/cluster"
	"dwserver/runtime/store/storetest/proxy"
)

// OpenURL opens the database of a URL.
type OpenURL func(ctx context.Context, url string, opt store.Options) (store.Store, error)

// Faults runs the cases of a database that is reached over a network, with real faults.
func Faults(t *testing.T, engine string, open OpenURL) {
	for _, c := range []struct {
		name string
		run  func(*testing.T, *faults)
	}{
		{"CutBeforeCommit", testCutBeforeCommit}, {"AnswerToCommitLost", testAnswerLost}, {"CommitLost", testCommitLost},
		{"CutAfterCommit", testCutAfterCommit}, {"CutBeforeRollback", testCutBeforeRollback}, {"Unreachable", testUnreachable}, {"LockTimeout", testLockTimeout},
		{"PoolExhausted", testPoolExhausted}, {"ServerRestart", testServerRestart}, {"TwoProcesses", testTwoProcesses},
		{"ClaimsOfTwoProcesses", testClaimsOfTwo}, {"Wakes", testWakes},
		{"WakesAfterOutage", testWakesAfterOutage},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, &faults{engine: engine, open: open}) })
	}
}

type faults struct {
	engine string
	open   OpenURL
}

// store opens a database, closed when t ends.
func (f *faults) store(t *testing.T, url string, opt store.Options) store.Store {
	t.Helper()
	s, err := f.open(t.Context(), url, opt)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// proxied opens an empty database through a proxy; onCommit is called when a COMMIT is about to be sent.
func (f *faults) proxied(t *testing.T, opt store.Options) (s store.Store, p *proxy.Proxy, onCommit *atomic.Value) {
	t.Helper()
	p, url := proxy.New(t, cluster.URL(t, f.engine))
	onCommit = &atomic.Value{}
	onCommit.Store(func() {})
	opt.Probe = func(_ context.Context, statement string) error {
		if statement == "COMMIT" {
			onCommit.Load().(func())()
		}
		return nil
	}
	return f.store(t, url, opt), p, onCommit
}

func putInput(id string) func(context.Context, store.Tx) error {
	return func(ctx context.Context, tx store.Tx) error {
		if _, err := tx.GetRunInput(ctx, id); !errors.Is(err, store.ErrNotFound) {
			return err
		}
		return tx.Apply(ctx, &rules.Effects{NewInputs: []rules.RunInput{{RunID: id}}})
	}
}

func requireInput(t *testing.T, s store.Store, id string, there bool) {
	t.Helper()
	_, err := s.ReadRunInput(t.Context(), id)
	if there {
		require.NoError(t, err)
	} else {
		require.ErrorIs(t, err, store.ErrNotFound)
	}
}

// A connection cut before COMMIT was sent: nothing happened, and the transition runs again on another.
func testCutBeforeCommit(t *testing.T, f *faults) {
	s, p, _ := f.proxied(t, store.Options{})
	tries := 0
	err := s.Transition(t.Context(), func(ctx context.Context, tx store.Tx) error {
		if err := putInput("a")(ctx, tx); err != nil {
			return err
		}
		if tries++; tries == 1 {
			p.Cut()
		}
		_, err := tx.GetRunInput(ctx, "a")
		return err
	})
	require.NoError(t, err)
	require.Equal(t, 2, tries)
	requireInput(t, s, "a", true)
}

// A connection cut before a part that was given up is undone: that is what ends the transaction, and not why the
// part was given up, so the transition runs again on another.
func testCutBeforeRollback(t *testing.T, f *faults) {
	s, p, _ := f.proxied(t, store.Options{})
	declined := errors.New("declined")
	tries := 0
	err := s.Transition(t.Context(), func(ctx context.Context, tx store.Tx) error {
		tries++
		if err := putInput("a")(ctx, tx); err != nil {
			return err
		}
		err := tx.Savepoint(ctx, func() error {
			if err := putInput("b")(ctx, tx); err != nil {
				return err
			}
			if _, err := tx.GetRunInput(ctx, "b"); err != nil {
				return err
			}
			if tries == 1 {
				p.Cut()
			}
			return declined
		})
		require.ErrorIs(t, err, declined)
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, 2, tries)
	requireInput(t, s, "a", true)
	requireInput(t, s, "b", false)
}

// COMMIT arrives and its answer does not: the outcome is unknown, and the transition stands.
func testAnswerLost(t *testing.T, f *faults) {
	s, p, onCommit := f.proxied(t, store.Options{MaxConns: 1})
	require.NoError(t, s.Transition(t.Context(), putInput("first")), "prepares the statements")
	tries := 0
	onCommit.Store(p.LoseAnswers)
	err := s.Transition(t.Context(), func(ctx context.Context, tx store.Tx) error {
		tries++
		return putInput("a")(ctx, tx)
	})
	require.ErrorIs(t, err, store.ErrOutcomeUnknown)
	require.Equal(t, 1, tries, "never tried again blindly")
	onCommit.Store(func() {})
	p.Pass()
	p.Cut()
	requireInput(t, s, "a", true)
}

// COMMIT does not arrive: the caller cannot know, and the transition left nothing.
func testCommitLost(t *testing.T, f *faults) {
	s, p, onCommit := f.proxied(t, store.Options{MaxConns: 1})
	require.NoError(t, s.Transition(t.Context(), putInput("first")), "prepares the statements")
	onCommit.Store(p.LoseRequests)
	err := s.Transition(t.Context(), putInput("a"))
	require.ErrorIs(t, err, store.ErrOutcomeUnknown)
	onCommit.Store(func() {})
	p.Pass()
	p.Cut()
	requireInput(t, s, "a", false)
	require.NoError(t, s.Transition(t.Context(), putInput("a")))
	requireInput(t, s, "a", true)
}

// Connections cut while they are idle are not noticed by a caller.
func testCutAfterCommit(t *testing.T, f *faults) {
	s, p, _ := f.proxied(t, store.Options{})
	for _, id := range []string{"a", "b", "c"} {
		require.NoError(t, s.Transition(t.Context(), putInput(id)))
		p.Cut()
		requireInput(t, s, id, true)
		p.Cut()
	}
}

// A database that cannot be reached is unavailable, at once and for every method, and works again
// without a restart.
func testUnreachable(t *testing.T, f *faults) {
	s, p, _ := f.proxied(t, store.Options{})
	require.NoError(t, s.Transition(t.Context(), putInput("a")))
	p.Refuse()
	require.ErrorIs(t, s.Transition(t.Context(), putInput("b")), store.ErrUnavailable)
	_, err := s.ReadRunInput(t.Context(), "a")
	require.ErrorIs(t, err, store.ErrUnavailable)
	require.ErrorIs(t, s.Ping(t.Context()), store.ErrUnavailable)
	_, err = s.PrunePollReceipts(t.Context(), 1, 1)
	require.ErrorIs(t, err, store.ErrUnavailable)
	p.Pass()
	require.NoError(t, s.Ping(t.Context()))
	require.NoError(t, s.Transition(t.Context(), putInput("b")))
}

// A lock that another process keeps: contention, after a bounded time.
func testLockTimeout(t *testing.T, f *faults) {
	url := cluster.URL(t, f.engine)
	holder, s := f.store(t, url, store.Options{}), f.store(t, url, store.Options{LockTimeout: time.Second})
	x := &suite{Store: holder}
	run := x.newRun(t)
	x.inside(t, func(ctx context.Context, tx store.Tx) {
		_, err := tx.LockRun(ctx, run.RunID)
		require.NoError(t, err)
		err = s.Transition(ctx, func(ctx context.Context, tx store.Tx) error {
			_, err := tx.LockRun(ctx, run.RunID)
			return err
		})
		require.ErrorIs(t, err, store.ErrContention)
	})
}

// A pool whose connections are all in use: unavailable, after a bounded time.
func testPoolExhausted(t *testing.T, f *faults) {
	s := f.store(t, cluster.URL(t, f.engine), store.Options{MaxConns: 1, LockTimeout: 200 * time.Millisecond})
	err := s.Transition(t.Context(), func(ctx context.Context, tx store.Tx) error {
		if _, err := tx.GetRun(ctx, "any"); !errors.Is(err, store.ErrNotFound) {
			return err
		}
		err := s.Transition(ctx, putInput("a"))
		require.ErrorIs(t, err, store.ErrUnavailable)
		return nil
	})
	require.NoError(t, err)
	require.NoError(t, s.Transition(t.Context(), putInput("a")))
}

// The server crashes and comes back: what was acknowledged is there, and the store goes on.
func testServerRestart(t *testing.T, f *faults) {
	server := cluster.Own(t, f.engine)
	s := f.store(t, server.URL(t), store.Options{})
	require.NoError(t, s.Transition(t.Context(), putInput("before")))
	var wg sync.WaitGroup
	var acknowledged sync.Map
	stop := make(chan struct{})
	for w := range 4 {
		wg.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				id := string(rune('a'+w)) + "-" + time.Duration(i).String()
				if s.Transition(t.Context(), putInput(id)) == nil {
					acknowledged.Store(id, true)
				}
			}
		})
	}
	require.Eventually(t, func() bool { return count(&acknowledged) > 20 }, 20*time.Second, 5*time.Millisecond)
	server.Crash()
	require.ErrorIs(t, s.Transition(t.Context(), putInput("down")), store.ErrUnavailable)
	require.ErrorIs(t, s.Ping(t.Context()), store.ErrUnavailable)
	n := count(&acknowledged)
	require.NoError(t, server.Start())
	require.Eventually(t, func() bool { return count(&acknowledged) > n+20 }, 30*time.Second, 5*time.Millisecond, "it goes on by itself")
	close(stop)
	wg.Wait()
	acknowledged.Range(func(id, _ any) bool {
		requireInput(t, s, id.(string), true)
		return true
	})
}

func count(m *sync.Map) (n int) {
	m.Range(func(any, any) bool { n++; return true })
	return n
}
