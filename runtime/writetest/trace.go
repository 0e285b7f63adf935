package writetest

import (
	"context"
	"strings"
	"sync"

	"dwserver/runtime/store"
	"dwserver/runtime/store/storetest"
)

// probe sees every statement that a store is about to run, by name.
type probe struct {
	mu    sync.Mutex
	names []string
	hook  func(name string) error // called with every name; nil calls nothing
}

// see is the store's Probe.
func (p *probe) see(_ context.Context, name string) error {
	if name == storetest.OwnScan {
		return nil
	}
	p.mu.Lock()
	p.names = append(p.names, name)
	hook := p.hook
	p.mu.Unlock()
	if hook == nil {
		return nil
	}
	return hook(name)
}

// on sets the hook; nil removes it.
func (p *probe) on(hook func(name string) error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hook = hook
}

// during returns the statements that run while fn does.
func (p *probe) during(fn func()) trace {
	p.mu.Lock()
	p.names = nil
	p.mu.Unlock()
	fn()
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.names
}

// trace is the statements of an operation, in order.
type trace []string

const (
	commit    = "COMMIT"
	committed = store.Committed // follows a commit that succeeded; it is not a statement
)

// statements are those that read or write rows.
func (t trace) statements() (list []string) {
	for _, name := range t {
		if !storetest.IsControl(name) {
			list = append(list, name)
		}
	}
	return list
}

// all is how many statements there are with those that begin and end transactions.
func (t trace) all() (n int) {
	for _, name := range t {
		if name != committed {
			n++
		}
	}
	return n
}

// writes are the statements that write rows.
func (t trace) writes() (list []string) {
	for _, name := range t.statements() {
		for _, verb := range []string{"Insert", "Update", "Upsert", "Delete", "Seen"} {
			if strings.HasSuffix(name, verb) {
				list = append(list, name)
			}
		}
	}
	return list
}

// count is how many statements have a name.
func (t trace) count(name string) (n int) {
	for _, one := range t {
		if one == name {
			n++
		}
	}
	return n
}
