package carriertest

import (
	"context"
	"strings"
	"sync"

	"dwserver/runtime/store"
	"dwserver/runtime/store/storetest"
)

// probe sees every statement that a store is about to run, by name, and can fail it in its place.
type probe struct {
	mu    sync.Mutex
	on    bool
	names []string
	hook  func(n int, name string) error // n counts from 1
}

// see is the store's Probe.
func (p *probe) see(_ context.Context, name string) error {
	if name == storetest.OwnScan {
		return nil
	}
	p.mu.Lock()
	if !p.on {
		p.mu.Unlock()
		return nil
	}
	p.names = append(p.names, name)
	n, hook := len(p.names), p.hook
	p.mu.Unlock()
	if hook == nil {
		return nil
	}
	return hook(n, name)
}

// during runs fn and returns the statements that ran meanwhile. hook may be nil, and so may the probe.
func (p *probe) during(hook func(n int, name string) error, fn func()) trace {
	if p == nil {
		fn()
		return nil
	}
	p.mu.Lock()
	p.on, p.names, p.hook = true, nil, hook
	p.mu.Unlock()
	fn()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.on, p.hook = false, nil
	return p.names
}

// trace is the statements of an operation, in order. COMMITTED follows a commit that succeeded; it is
// not a statement.
type trace []string

const (
	commit    = "COMMIT"
	committed = store.Committed
)

func isBegin(name string) bool {
	return strings.HasPrefix(name, "BEGIN") || strings.HasPrefix(name, "START TRANSACTION")
}

// transactions is how many transactions were committed.
func (t trace) transactions() (n int) {
	for _, name := range t {
		if name == commit {
			n++
		}
	}
	return n
}

// queries are the statements that read or write rows.
func (t trace) queries() (list []string) {
	for _, name := range t {
		if !storetest.IsControl(name) {
			list = append(list, name)
		}
	}
	return list
}

// inside is how many of the queries ran in a transaction. It only holds for an operation that ran alone.
func (t trace) inside() (n int) {
	open := false
	for _, name := range t {
		switch {
		case isBegin(name):
			open = true
		case name == commit, strings.HasPrefix(name, "ROLLBACK") && !strings.HasPrefix(name, "ROLLBACK TO"):
			open = false
		case open && !storetest.IsControl(name):
			n++
		}
	}
	return n
}
