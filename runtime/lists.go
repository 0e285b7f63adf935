package runtime

import (
	"encoding/json"
	"fmt"
	"sync"

	"dwserver/runtime/store"
)

// lists keeps the lists of strings that registrations are stored with as they were parsed, by their
// document: every poll and every carrier of a worker asks for the same few. It is safe for concurrent use.
type lists struct {
	mu     sync.RWMutex
	parsed map[string][]string
}

// maxLists bounds the documents that are kept.
const maxLists = 4096

// of reads a stored list of strings; an empty column is no list. The caller must not change it. Fault:
// store.ErrBroken.
func (l *lists) of(doc []byte) ([]string, error) {
	if len(doc) == 0 {
		return nil, nil
	}
	l.mu.RLock()
	list, ok := l.parsed[string(doc)]
	l.mu.RUnlock()
	if ok {
		return list, nil
	}
	if err := json.Unmarshal(doc, &list); err != nil {
		return nil, fmt.Errorf("%w: list of strings: %w", store.ErrBroken, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.parsed == nil || len(l.parsed) >= maxLists {
		l.parsed = make(map[string][]string)
	}
	l.parsed[string(doc)] = list
	return list, nil
}
