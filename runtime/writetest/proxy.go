package writetest

import (
	"net"
	"net/url"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// proxy stands between a store and its database server and counts round trips: how often the store said
// something after the server had.
type proxy struct {
	listener net.Listener
	target   string
	wait     sync.WaitGroup
	mu       sync.Mutex
	trips    []int // by connection
	open     map[net.Conn]bool
}

// through is a proxy in front of a database's server, until t ends, and the URL that goes through it.
func through(t *testing.T, databaseURL string) (*proxy, string) {
	t.Helper()
	u, err := url.Parse(databaseURL)
	require.NoError(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &proxy{listener: listener, target: u.Host, open: map[net.Conn]bool{}}
	p.wait.Go(p.accept)
	t.Cleanup(p.close)
	u.Host = listener.Addr().String()
	return p, u.String()
}

func (p *proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return // closed
		}
		server, err := net.Dial("tcp", p.target)
		if err != nil {
			client.Close()
			continue
		}
		p.mu.Lock()
		p.open[client], p.open[server] = true, true
		at := len(p.trips)
		p.trips = append(p.trips, 0)
		p.mu.Unlock()
		turn := &turns{proxy: p, at: at}
		p.wait.Go(func() { turn.copy(server, client, true) })
		p.wait.Go(func() { turn.copy(client, server, false) })
	}
}

// turns is one connection: whose turn it was last.
type turns struct {
	proxy  *proxy
	at     int
	client bool
}

func (t *turns) said(client bool) {
	t.proxy.mu.Lock()
	defer t.proxy.mu.Unlock()
	if client && !t.client {
		t.proxy.trips[t.at]++
	}
	t.client = client
}

func (t *turns) copy(to, from net.Conn, client bool) {
	defer to.Close()
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			t.said(client)
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// during is how many round trips the busiest connection makes while fn runs.
func (p *proxy) during(fn func()) (most int) {
	before := p.counts()
	fn()
	for i, n := range p.counts() {
		if i < len(before) {
			n -= before[i]
		}
		most = max(most, n)
	}
	return most
}

func (p *proxy) counts() []int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]int{}, p.trips...)
}

// close ends the proxy and its connections.
func (p *proxy) close() {
	p.listener.Close()
	p.mu.Lock()
	for c := range p.open {
		c.Close()
	}
	p.mu.Unlock()
	p.wait.Wait()
}
