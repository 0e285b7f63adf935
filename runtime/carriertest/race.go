package carriertest

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// testSignalRace: a signal that meets a continued step comes before it, which declines it, or after the
// whole of it, never in between.
func testSignalRace(t *testing.T, empty Empty) {
	w := newWorld(t, empty, nil)
	t.Run("before", func(t *testing.T) {
		s := w.scene(t)
		require.True(t, s.meet(func(send func()) { w.store.next(s.signal); send() }))
	})
	t.Run("after", func(t *testing.T) {
		s := w.scene(t)
		require.False(t, s.meet(func(send func()) { send(); s.signal() }))
	})
	t.Run("at once", func(t *testing.T) {
		before := 0
		for range 60 {
			s := w.scene(t)
			if s.meet(s.atOnce) {
				before++
			}
		}
		t.Logf("the signal came first in %d of 60 races", before)
	})
}

// atOnce signals while the report is sent.
func (s *scene) atOnce(send func()) {
	var ready, done sync.WaitGroup
	ready.Add(2)
	for _, do := range []func(){s.signal, send} {
		done.Go(func() {
			ready.Done()
			ready.Wait()
			do()
		})
	}
	done.Wait()
}

// meet lets a signal and a continued step meet and reports whether the signal came first.
func (s *scene) meet(how func(send func())) (first bool) {
	s.t.Helper()
	s.register(nil)
	task := s.running()
	r := s.activityReport(task).continues(task, schedule(), schedule()).carry(true, true)
	var got answer
	how(func() { got = r.do() })
	require.True(s.t, got.recorded)
	if word := wentOn(got.next); word != "accepted" {
		require.Equal(s.t, "history_moved", word)
		require.Equal(s.t, []string{"StartAccepted", "WorkflowStarted", "ActivityScheduled", "ActivityStarted",
			"SignalReceived", "ActivityCompleted"}, s.eventTypes(s.runs[0]))
		require.Equal(s.t, "leased", became(got.WorkflowPoll), "the ordinary resume task is there")
		return true
	}
	require.Equal(s.t, []string{"StartAccepted", "WorkflowStarted", "ActivityScheduled", "ActivityStarted",
		"ActivityCompleted", "ActivityScheduled", "ActivityScheduled", "ActivityStarted", "SignalReceived"}, s.eventTypes(s.runs[0]))
	require.Equal(s.t, "leased", became(got.ActivityPoll))
	return false
}
