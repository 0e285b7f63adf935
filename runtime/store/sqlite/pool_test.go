package sqlite

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	sqlite3 "modernc.org/sqlite/lib"

	"dwserver/runtime/store"
	"dwserver/runtime/store/sqlite/raw"
)

func openStore(t *testing.T, opt store.Options) *Store {
	t.Helper()
	s, err := Open(t.Context(), "sqlite://"+filepath.Join(t.TempDir(), "dw.db"), opt)
	require.NoError(t, err)
	return s
}

// TestReadersRunOut: a read waits for a connection until its context ends or the store closes.
func TestReadersRunOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := openStore(t, store.Options{})
		var taken []*reader
		for range readers {
			r, err := s.pool.take(t.Context())
			require.NoError(t, err)
			taken = append(taken, r)
		}
		ctx, cancel := context.WithCancel(t.Context())
		read := func(ctx context.Context) chan error {
			c := make(chan error, 1)
			go func() {
				_, err := s.ReadRun(ctx, "any")
				c <- err
			}()
			synctest.Wait()
			require.Empty(t, c)
			return c
		}
		waits := read(ctx)
		cancel()
		require.ErrorIs(t, <-waits, context.Canceled)
		waits = read(t.Context())
		require.NoError(t, taken[0].back(nil))
		require.ErrorIs(t, <-waits, store.ErrNotFound)
		taken[0] = <-s.pool.idle

		waits = read(t.Context())
		closed := make(chan error, 1)
		go func() { closed <- s.Close() }()
		require.ErrorIs(t, <-waits, store.ErrClosed)
		synctest.Wait()
		require.Empty(t, closed, "it waits for what is being read")
		for _, r := range taken {
			require.NoError(t, r.back(nil))
		}
		require.NoError(t, <-closed)
		_, err := s.ReadRun(t.Context(), "any")
		require.ErrorIs(t, err, store.ErrClosed)
		require.ErrorIs(t, s.Ping(t.Context()), store.ErrClosed)
	})
}

// TestBrokenReaderIsReplaced: a connection whose statement met a fault is not used again, one that only
// met a lock is.
func TestBrokenReaderIsReplaced(t *testing.T) {
	s := openStore(t, store.Options{})
	defer func() { require.NoError(t, s.Close()) }()
	for code, kept := range map[int]bool{sqlite3.SQLITE_IOERR_READ: false, sqlite3.SQLITE_CORRUPT: false, sqlite3.SQLITE_BUSY: true} {
		r, err := s.pool.take(t.Context())
		require.NoError(t, err)
		require.NoError(t, r.back(&raw.Error{Code: code}))
		require.Equal(t, kept, r.session != nil, code)
	}
	for range 2 * readers {
		_, err := s.ReadRun(t.Context(), "any")
		require.ErrorIs(t, err, store.ErrNotFound)
		require.NoError(t, s.Ping(t.Context()))
	}
}

// TestBrokenWriterIsReplaced: the transition that finds the connection broken gets a new one, and one
// that cannot get one tells so and leaves the next to try again.
func TestBrokenWriterIsReplaced(t *testing.T) {
	var fail []error
	s := openStore(t, store.Options{Probe: func(_ context.Context, statement string) (err error) {
		if statement == "BEGIN IMMEDIATE" && len(fail) > 0 {
			err, fail = fail[0], fail[1:]
		}
		return err
	}})
	defer func() { require.NoError(t, s.Close()) }()
	nothing := func(context.Context, store.Tx) error { return nil }
	broken := &raw.Error{Code: sqlite3.SQLITE_IOERR}

	before := s.writer.conn
	fail = []error{broken}
	require.NoError(t, s.Transition(t.Context(), nothing))
	require.NotSame(t, before, s.writer.conn)

	fail = []error{broken, broken}
	require.ErrorIs(t, s.Transition(t.Context(), nothing), store.ErrUnavailable)
	path := s.writer.path
	s.writer.path, fail = filepath.Join(path, "no folder"), []error{broken}
	require.ErrorIs(t, s.Transition(t.Context(), nothing), store.ErrUnavailable)
	require.Nil(t, s.writer.conn)
	s.writer.path = path
	require.NoError(t, s.Transition(t.Context(), nothing))
}

// TestManyReaders: more goroutines than connections, each with rows of its own.
func TestManyReaders(t *testing.T) {
	s := openStore(t, store.Options{})
	defer func() { require.NoError(t, s.Close()) }()
	var wg sync.WaitGroup
	for range 8 * readers {
		wg.Go(func() {
			for range 50 {
				_, err := s.ReadNamespace(t.Context(), "default")
				if err != nil && !errors.Is(err, store.ErrNotFound) {
					t.Error(err)
				}
				if _, err := s.ListNamespaces(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}
