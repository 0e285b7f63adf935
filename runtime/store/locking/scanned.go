package locking

import (
	"cmp"
	"time"
)

// Scanned is how far the scan for other processes' work has looked. It belongs to one goroutine.
type Scanned struct {
	at int64 // micros; when it last got an answer
}

// From is the time from which a scan at now has to look: what came since the last that got an answer has not been
// looked at, and what was committed late is within overlap.
func (s *Scanned) From(now int64, overlap time.Duration) int64 {
	return min(cmp.Or(s.at, now), now) - overlap.Microseconds()
}

// Done notes that the scan at now got its answer.
func (s *Scanned) Done(now int64) { s.at = now }
