package wire

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

func serve(t *testing.T, h http.HandlerFunc) (*Client, *atomic.Int64) {
	t.Helper()
	var connections atomic.Int64
	s := httptest.NewUnstartedServer(h)
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	return NewClient(strings.TrimPrefix(s.URL, "http://"), "X-Test: yes\r\n"), &connections
}

func TestOneConnectionForAnswersOfEveryLength(t *testing.T) {
	client, connections := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.Header.Get("X-Test") != "yes" || r.URL.Path != "/api/echo" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write(body)
		if len(body) > 1000 {
			w.(http.Flusher).Flush() // from here on in chunks
			_, _ = w.Write([]byte("!"))
		}
	})
	conn := client.Get()
	for _, n := range []int{0, 1, 999, 1001, 100_000} {
		body := strings.Repeat("x", n)
		r, retried, err := conn.Post("/echo", []byte(body))
		require.NoError(t, err)
		require.False(t, retried)
		require.Equal(t, http.StatusCreated, r.Status)
		require.NoError(t, Check("/echo", r))
		want := body
		if n > 1000 {
			want += "!"
		}
		require.Equal(t, want, string(r.Body))
	}
	require.Equal(t, int64(1), connections.Load())
	client.Put(conn)
	require.Same(t, conn, client.Get())
}

func TestRetriesTheSameBytes(t *testing.T) {
	var bodies []string
	client, connections := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies = append(bodies, string(body))
		switch len(bodies) {
		case 1:
			panic(http.ErrAbortHandler) // the connection breaks without an answer
		case 2:
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	r, retried, err := client.Get().Post("/x", []byte("same"))
	require.NoError(t, err)
	require.True(t, retried)
	require.Equal(t, http.StatusOK, r.Status)
	require.Equal(t, []string{"same", "same", "same"}, bodies)
	require.Equal(t, int64(2), connections.Load())
}

func TestInterrupt(t *testing.T) {
	held, gone := make(chan struct{}), make(chan struct{})
	client, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/hold" {
			close(held)
			<-r.Context().Done()
			close(gone)
		}
	})
	conn := client.Get()
	conn.Interrupt() // nobody waits: nothing happens
	conn.Interruptible(true)
	done := make(chan error)
	go func() {
		_, _, err := conn.Post("/hold", nil)
		done <- err
	}()
	<-held
	conn.Interrupt()
	require.ErrorIs(t, <-done, ErrInterrupted)
	<-gone
	conn.Interruptible(false)
	r, _, err := conn.Post("/after", nil)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, r.Status)
}
