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
	changes uint64 // begun and ended so far
	open    bool   // a change is being committed: readers may see either row, in their own order
}

// get is a registration as committed. Without one it answers the count of changes, for put.
func (r *registered) get(key string) (row rules.Worker, ok bool, changes uint64) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	row, ok = r.rows[key]
	return row, ok, r.changes
}

// put keeps what was read, unless a change was committed since the count was taken, or is now: the row may be older.
func (r *registered) put(key string, row rules.Worker, changes uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open || r.changes != changes {
		return
	}
	if r.rows == nil || len(r.rows) >= 2*cachedWorkers {
		r.rows = make(map[string]rules.Worker)
	}
	r.rows[key] = row
}

// changing forgets registrations that are about to be committed anew, until changed.
func (r *registered) changing(keys []string) {
	if len(keys) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open = true
	r.changes++
	for _, key := range keys {
		delete(r.rows, key)
	}
}

// changed ends what changing began, whatever the commit came to. It runs before the commit is acknowledged, so that
// who was told reads what it was told.
func (r *registered) changed(keys []string) {
	if len(keys) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open = false
	r.changes++
}
