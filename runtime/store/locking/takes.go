package locking

import (
	"slices"
	"sync"
)

// Takes are the ready tasks that transactions of this process are taking, or took a moment ago, so that others
// pass them over without asking the database. It orders nothing: that is the row locks' doing.
type Takes struct {
	mu   sync.Mutex
	open map[string]chan struct{} // closed when the taking ends
	// done remembers when tasks were taken for good, in two generations; now counts them.
	done, older map[string]int64
	now         int64
}

// Now is a moment to look for tasks at: one that is taken for good after it may look ready to who looked then.
func (t *Takes) Now() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.now
}

// Take reports whether a task that was found at a moment is still there to be taken, as far as this process
// knows. It is then the caller's until Leave.
func (t *Takes) Take(taskID string, found int64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.gone(taskID, found) {
		return false
	}
	if t.open == nil {
		t.open = map[string]chan struct{}{}
	}
	t.open[taskID] = make(chan struct{})
	return true
}

// Gone reports whether somebody is taking a task, or has taken it since it was found.
func (t *Takes) Gone(taskID string, found int64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.gone(taskID, found)
}

func (t *Takes) gone(taskID string, found int64) bool {
	_, taken := t.open[taskID]
	return taken || t.done[taskID] > found || t.older[taskID] > found
}

// Open is how many tasks are being taken.
func (t *Takes) Open() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return int64(len(t.open))
}

// Leave gives tasks up, which were taken for good or not.
func (t *Takes) Leave(taskIDs []string, done bool) {
	if len(taskIDs) == 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, id := range taskIDs {
		close(t.open[id])
		delete(t.open, id)
		if done {
			t.now++
			if t.done == nil || len(t.done) >= generation {
				t.done, t.older = make(map[string]int64), t.done
			}
			t.done[id] = t.now
		}
	}
}

// taker is a channel that closes when whoever takes a task has ended, nil when nobody is taking it.
func (t *Takes) taker(taskID string) <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c, ok := t.open[taskID]; ok {
		return c
	}
	return nil
}

// Taking is the tasks that one transaction is taking.
type Taking struct{ ids []string }

// Take marks a task as the transaction's to take, or reports that another's is faster.
func (t *Taking) Take(takes *Takes, taskID string, found int64) bool {
	if slices.Contains(t.ids, taskID) {
		return true
	}
	ok := takes.Take(taskID, found)
	if ok {
		t.ids = append(t.ids, taskID)
	}
	return ok
}

// End gives them up, when the transaction has ended: done when it was committed.
func (t *Taking) End(takes *Takes, done bool) {
	takes.Leave(t.ids, done)
	t.ids = nil
}
