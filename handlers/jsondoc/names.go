package jsondoc

import (
	"maps"
	"sync"
	"sync/atomic"
)

// names are the member names that documents are known to use. Reading one of them allocates nothing.
var (
	names     atomic.Pointer[map[string]string]
	namesLock sync.Mutex
)

// Know tells which member names to expect. It is meant for start-up.
func Know(expected ...string) {
	namesLock.Lock()
	defer namesLock.Unlock()
	known := map[string]string{}
	if before := names.Load(); before != nil {
		maps.Copy(known, *before)
	}
	for _, name := range expected {
		known[name] = name
	}
	names.Store(&known)
}

// name is the text of a member's name.
func (v Value) name() string {
	n := v.node()
	if n.flags&escaped == 0 {
		if known := names.Load(); known != nil {
			if name, ok := (*known)[string(v.doc.src[n.start:n.end])]; ok {
				return name
			}
		}
	}
	return v.Text()
}
