// Package proxy is a TCP proxy in front of a database server, for tests that cut connections or count round trips.
package proxy

import (
	"net"
	"net/url"
	"sync"
	"testing"
)

// Proxy passes bytes between its clients and one server.
type Proxy struct {
	listener net.Listener
	target   string

	mu    sync.Mutex
	conns map[net.Conn]bool
	turns []*turns
	mode  mode
	wg    sync.WaitGroup
}

type mode int

const (
	pass   mode = iota
	mute        // what clients send arrives; the server's answer cuts the connection
	deafen      // what clients send cuts the connection and does not arrive
	refuse      // new connections are closed at once
)

// New starts a proxy in front of the server that a URL names, and returns it with the URL of the
// same database through it.
func New(t *testing.T, dbURL string) (*Proxy, string) {
	t.Helper()
	u, err := url.Parse(dbURL)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{listener: l, target: u.Host, conns: map[net.Conn]bool{}}
	p.wg.Go(p.accept)
	t.Cleanup(func() {
		_ = l.Close()
		p.Cut()
		p.wg.Wait()
	})
	u.Host = l.Addr().String()
	return p, u.String()
}

// Cut ends all connections now. New ones are let through.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		_ = c.Close()
	}
}

// Pass lets everything through again.
func (p *Proxy) Pass() { p.set(pass) }

// LoseAnswers delivers what clients send from now on and cuts the connection in place of the answer.
func (p *Proxy) LoseAnswers() { p.set(mute) }

// LoseRequests cuts a connection in place of delivering what its client sends from now on.
func (p *Proxy) LoseRequests() { p.set(deafen) }

// Refuse cuts all connections and closes new ones at once.
func (p *Proxy) Refuse() {
	p.set(refuse)
	p.Cut()
}

func (p *Proxy) set(m mode) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mode = m
}

func (p *Proxy) is(m mode) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.mode == m
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		if p.is(refuse) {
			_ = client.Close()
			continue
		}
		server, err := net.Dial("tcp", p.target)
		if err != nil {
			_ = client.Close()
			continue
		}
		turn := p.track(client, server)
		p.wg.Go(func() { p.copy(server, client, deafen, func() { p.said(turn, true) }) })
		p.wg.Go(func() { p.copy(client, server, mute, func() { p.said(turn, false) }) })
	}
}

// turns is one connection: whose turn it was last, and how often the client spoke after the server.
type turns struct {
	client bool
	trips  int
}

func (p *Proxy) track(client, server net.Conn) *turns {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conns[client], p.conns[server] = true, true
	t := &turns{}
	p.turns = append(p.turns, t)
	return t
}

func (p *Proxy) said(t *turns, client bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if client && !t.client {
		t.trips++
	}
	t.client = client
}

// RoundTrips is how many round trips the busiest connection makes while fn runs: how often a client said
// something after the server had.
func (p *Proxy) RoundTrips(fn func()) (most int) {
	before := p.trips()
	fn()
	for i, n := range p.trips() {
		if i < len(before) {
			n -= before[i]
		}
		most = max(most, n)
	}
	return most
}

func (p *Proxy) trips() (list []int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, t := range p.turns {
		list = append(list, t.trips)
	}
	return list
}

// copy passes bytes on until one side ends or the mode says to cut. It calls heard for what it passes, first.
func (p *Proxy) copy(to, from net.Conn, cut mode, heard func()) {
	defer func() {
		_ = to.Close()
		_ = from.Close()
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.conns, from)
	}()
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if p.is(cut) {
			return
		}
		if n > 0 {
			heard()
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}
