package runtime

import (
	"context"
	"errors"
	"sync"
	"time"

	"dwserver/runtime/store"
)

const (
	sickLeast = 250 * time.Millisecond
	sickMost  = 10 * time.Second
	// sickPause is the shortest sleep of the due loop while there is work that cannot be done.
	sickPause = 50 * time.Millisecond
)

// sickList is the due work that failed though the database is well, as a timer of a run whose history is full
// does: each is tried again after a pause that doubles, and holds up nothing else.
type sickList struct {
	mu   sync.Mutex
	rows map[string]sickness
}

type sickness struct {
	pause time.Duration
	until int64 // micros
}

func (s *sickList) size() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.rows)
}

// without leaves out the jobs whose pause is not over. All says that jobs are all there are: others are forgotten.
func (s *sickList) without(jobs []dueJob, now int64, all bool) []dueJob {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.rows) == 0 {
		return jobs
	}
	left := make(map[string]sickness, len(s.rows))
	var ready []dueJob
	for _, job := range jobs {
		row, sick := s.rows[job.id]
		if sick {
			left[job.id] = row
		}
		if row.until <= now {
			ready = append(ready, job)
		}
	}
	if all {
		s.rows = left
	}
	return ready
}

// note remembers how a job ended and reports a fault of its own.
func (s *sickList) note(id string, now int64, err error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil || passing(err) {
		delete(s.rows, id)
		return false
	}
	if s.rows == nil {
		s.rows = map[string]sickness{}
	}
	pause := min(max(2*s.rows[id].pause, sickLeast), sickMost)
	s.rows[id] = sickness{pause, now + pause.Microseconds()}
	return true
}

// passing reports a fault that is not of the work itself: of the database, of a race, or of a server that ends.
func passing(err error) bool {
	for _, fault := range [...]error{store.ErrUnavailable, store.ErrContention, store.ErrOutcomeUnknown,
		store.ErrConflict, store.ErrClosed, context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, fault) {
			return true
		}
	}
	return false
}
