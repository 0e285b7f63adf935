package carriertest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"dwserver/runtime/rules"
)

// testCopies: a process that has seen a worker's registration is told nothing of what another process makes of it.
// Its next report is judged by the registration as it is: refused where an admission would have refused it, granted
// where it would have been granted.
func testCopies(t *testing.T, empty Empty) {
	w := newWorld(t, empty, nil)
	for _, c := range []struct {
		became string
		change func(*scene)
	}{
		{"worker_draining", (*scene).drain},
		{"worker_not_registered", (*scene).removeWorker},
		{"routing_mismatch", (*scene).moveQueue},
		{"leased", (*scene).supersede},
	} {
		t.Run(c.became, func(t *testing.T) {
			s := w.scene(t)
			s.register(nil)
			got := s.workflowReport(s.leased(), schedule(), schedule()).carry(true, false).do() // reads the registration
			c.change(s)
			next := s.activityReport(leasedActivity(s, got)).carry(true, false).do()
			require.True(t, next.recorded)
			require.Equal(t, c.became, became(next.ActivityPoll))
		})
	}
	t.Run("undrained", func(t *testing.T) {
		s := w.scene(t)
		s.register(nil)
		got := s.workflowReport(s.leased(), schedule(), schedule(), schedule()).carry(true, false).do()
		task := leasedActivity(s, got)
		other := s.pollActivity()
		s.drain()
		got = s.activityReport(task).carry(true, false).do()
		require.Equal(t, "worker_draining", became(got.ActivityPoll))
		s.activate()
		got = s.activityReport(other).carry(true, false).do()
		require.Equal(t, "leased", became(got.ActivityPoll), "what was declined is not declined for good")
	})
}

func (s *scene) activate()  { s.change(func(w *rules.Worker) { w.Status = rules.WorkerActive }) }
func (s *scene) moveQueue() { s.change(func(w *rules.Worker) { w.TaskQueue += " elsewhere" }) }
