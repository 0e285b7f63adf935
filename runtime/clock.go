package runtime

import (
	"crypto/rand"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"
)

// Clock is the engine's time. After waits on a monotonic clock, whatever the wall clock does.
type Clock interface {
	Now() time.Time
	// After delivers once after d; stop releases it early.
	After(d time.Duration) (c <-chan time.Time, stop func())
}

// SystemClock is the machine's clock.
type SystemClock struct{}

// Now implements Clock.
func (SystemClock) Now() time.Time { return time.Now() }

// After implements Clock.
func (SystemClock) After(d time.Duration) (<-chan time.Time, func()) {
	t := time.NewTimer(d)
	return t.C, func() { t.Stop() }
}

// IDs makes the engine's identifiers: ULIDs, growing within a process.
type IDs interface{ New() string }

// ULIDs makes monotonic ULIDs, also when the clock steps back. It is safe for concurrent use.
type ULIDs struct {
	mu      sync.Mutex
	last    uint64 // newest millisecond used
	entropy *ulid.MonotonicEntropy
}

// NewULIDs makes a source of ULIDs with fresh entropy.
func NewULIDs() *ULIDs {
	return &ULIDs{entropy: ulid.Monotonic(rand.Reader, 0)}
}

// New implements IDs.
func (u *ULIDs) New() string {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.last = max(u.last, ulid.Timestamp(time.Now()))
	id, err := ulid.New(u.last, u.entropy)
	if err != nil { // the millisecond's random space ran out: go on in the next one
		u.last++
		id = ulid.MustNew(u.last, u.entropy)
	}
	return id.String()
}
