package sqlite

import (
	"sync"

	"dwserver/runtime/rules"
)

// registered holds committed registrations for readers: every request of a worker asks for its own, and only
// this process changes them.
type registered struct {
	mu      sync.RWMutex
	rows    map[string]rules.Worker
	changes uint64 // committed so far
}

// get is a registration as committed. Without one it answers the count of changes, for put.
func (r *registered) get(key string) (row rules.Worker, ok bool, changes uint64) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	row, ok = r.rows[key]
	return row, ok, r.changes
}

// put keeps what was read, unless a change was committed since the count was taken: the row may be older.
func (r *registered) put(key string, row rules.Worker, changes uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.changes != changes {
		return
	}
	if r.rows == nil || len(r.rows) >= 2*cachedWorkers {
		r.rows = make(map[string]rules.Worker)
	}
	r.rows[key] = row
}

// changed forgets registrations that were, or may have been, committed anew. It runs before the commit is
// acknowledged, so that who was told reads what it was told.
func (r *registered) changed(keys []string) {
	if len(keys) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.changes++
	for _, key := range keys {
		delete(r.rows, key)
	}
}
