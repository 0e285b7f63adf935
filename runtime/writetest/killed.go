package writetest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"dwserver/runtime/store"
	"dwserver/runtime/store/open"
)

// testKilled: two processes, one run. The second never sees what the first has written and not committed; killed
// before COMMIT the first leaves nothing, killed after it everything (write-path.md 6).
func testKilled(t *testing.T, empty Empty) {
	for _, c := range []struct {
		name  string
		after bool  // killed after COMMIT
		left  int64 // events
	}{{"before COMMIT", false, 0}, {"after COMMIT", true, childEvents}} {
		t.Run(c.name, func(t *testing.T) {
			url := empty(t)
			if engineOf(url) == sqliteEngine {
				killedAlone(t, url, c.after, c.left)
			} else {
				killedBeside(t, url, c.after, c.left)
			}
		})
	}
}

// killedBeside is two processes that have one database open.
func killedBeside(t *testing.T, url string, after bool, left int64) {
	p := &probe{}
	s := openStore(t, url, store.Options{Probe: p.see})
	runID := makeRun(t, s)
	child := startChild(t, url, runID)
	requireEvents(t, s, runID, 0) // the other's are written, and nobody's business yet

	locking := make(chan struct{})
	p.on(func(name string) error {
		if name == "RunLock" && !isClosed(locking) {
			close(locking)
		}
		return nil
	})
	var seen int64
	second := make(chan error, 1)
	go func() { second <- appendEvents(t.Context(), s, runID, 2, &seen) }()
	await(t, locking, "the second transition asks for the lock")
	child.goOn()
	child.expect(commit)
	if after {
		child.goOn()
		child.expect(committed)
	}
	requireWaiting(t, second, after)
	child.kill()
	require.NoError(t, <-second)
	require.Equal(t, left, seen)
	requireEvents(t, s, runID, left+2)
}

// requireWaiting holds a transition to waiting as long as the other has not committed.
func requireWaiting(t *testing.T, outcome <-chan error, mayEnd bool) {
	t.Helper()
	if mayEnd {
		return
	}
	select {
	case err := <-outcome:
		require.FailNow(t, "the second transition did not wait for the first", "%v", err)
	default:
	}
}

// killedAlone is a process that has a file to itself, and one that opens it afterwards.
func killedAlone(t *testing.T, url string, after bool, left int64) {
	s, err := open.Store(t.Context(), url, store.Options{})
	require.NoError(t, err)
	runID := makeRun(t, s)
	require.NoError(t, s.Close())
	child := startChild(t, url, runID)
	_, err = open.Store(t.Context(), url, store.Options{})
	require.ErrorIs(t, err, store.ErrInUse)
	child.goOn()
	child.expect(commit)
	if after {
		child.goOn()
		child.expect(committed)
	}
	child.kill()
	s = openStore(t, url, store.Options{})
	requireEvents(t, s, runID, left)
	require.NoError(t, appendEvents(t.Context(), s, runID, 2, nil))
	requireEvents(t, s, runID, left+2)
}
