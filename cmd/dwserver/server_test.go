package main

import (
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fixture is a server whose handler tells when a request came in and answers when told.
type fixture struct {
	address string
	signals chan os.Signal
	drained chan struct{}
	arrived chan struct{}
	release chan struct{}
	done    chan error
}

func startServer(t *testing.T, drainTime time.Duration) *fixture {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	f := &fixture{address: l.Addr().String(), signals: make(chan os.Signal, 2), drained: make(chan struct{}),
		arrived: make(chan struct{}, 9), release: make(chan struct{}, 9), done: make(chan error, 1)}
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.arrived <- struct{}{}
		select {
		case <-f.release:
			w.WriteHeader(http.StatusTeapot)
		case <-r.Context().Done():
		}
	})
	s := newServer(l, handler, slog.New(slog.DiscardHandler), drainTime, func() { close(f.drained) })
	go func() { f.done <- s.run(t.Context(), f.signals) }()
	return f
}

type answer struct {
	status int
	close  bool
	err    error
}

func (f *fixture) get(t *testing.T) <-chan answer {
	t.Helper()
	out := make(chan answer, 1)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+f.address, http.NoBody)
	require.NoError(t, err)
	go func() {
		client := &http.Client{Transport: &http.Transport{}}
		resp, err := client.Do(req)
		if err != nil {
			out <- answer{err: err}
			return
		}
		out <- answer{resp.StatusCode, resp.Close, resp.Body.Close()}
	}()
	return out
}

func wait[T any](t *testing.T, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(20 * time.Second):
		require.FailNow(t, "nothing happened in time")
	}
	var none T
	return none
}

func TestSIGTERMServesArrivalsUntilTheDrainTimeEnds(t *testing.T) {
	f := startServer(t, time.Second)
	inFlight := f.get(t)
	wait(t, f.arrived)
	began := time.Now()
	f.signals <- syscall.SIGTERM
	wait(t, f.drained)

	late := f.get(t)
	wait(t, f.arrived)
	f.release <- struct{}{}
	f.release <- struct{}{}
	assert.Equal(t, http.StatusTeapot, wait(t, inFlight).status)
	got := wait(t, late)
	assert.Equal(t, http.StatusTeapot, got.status)
	assert.True(t, got.close, "clients are told to move to another server")

	assert.NoError(t, wait(t, f.done))
	assert.GreaterOrEqual(t, time.Since(began), time.Second)
	assert.ErrorIs(t, wait(t, f.get(t)).err, syscall.ECONNREFUSED)
}

func TestSIGTERMFinishesWhatIsInFlightAtTheEndOfTheDrain(t *testing.T) {
	f := startServer(t, 0)
	inFlight := f.get(t)
	wait(t, f.arrived)
	f.signals <- syscall.SIGTERM
	require.Eventually(t, func() bool { return refusesConnections(t, f.address) }, 20*time.Second, time.Millisecond)
	f.release <- struct{}{}
	assert.Equal(t, http.StatusTeapot, wait(t, inFlight).status)
	assert.NoError(t, wait(t, f.done))
}

func refusesConnections(t *testing.T, address string) bool {
	t.Helper()
	c, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
	if err == nil {
		assert.NoError(t, c.Close())
	}
	return errors.Is(err, syscall.ECONNREFUSED)
}

func TestSIGINTWaitsOnlyForWhatIsInFlight(t *testing.T) {
	f := startServer(t, time.Hour)
	inFlight := f.get(t)
	wait(t, f.arrived)
	f.signals <- syscall.SIGINT
	wait(t, f.drained)
	f.release <- struct{}{}
	assert.Equal(t, http.StatusTeapot, wait(t, inFlight).status)
	assert.NoError(t, wait(t, f.done))
}

func TestSecondSignalForces(t *testing.T) {
	for _, first := range []os.Signal{syscall.SIGTERM, syscall.SIGINT} {
		f := startServer(t, time.Hour)
		inFlight := f.get(t)
		wait(t, f.arrived)
		f.signals <- first
		wait(t, f.drained)
		f.signals <- syscall.SIGINT
		assert.ErrorIs(t, wait(t, f.done), errForced)
		assert.Error(t, wait(t, inFlight).err)
	}
}
