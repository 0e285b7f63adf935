package carriertest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"dwserver/runtime"
	"dwserver/runtime/rules"
)

// testFence: a worker that registers anew between the admission of its polls and the locked check has lost
// the lease it reports on. The report is refused as one without carriers is, and nothing is granted. (What
// a changed registration does to polls of reports that stand is in testDeclines.)
func testFence(t *testing.T, empty Empty) {
	w := newWorld(t, empty, nil)
	for _, parent := range plainReports {
		t.Run(parent.name, func(t *testing.T) {
			refused := func(carries bool) (string, string) {
				s := w.scene(t)
				r := parent.make(s)
				s.start()
				if carries {
					r.carry(true, true)
				}
				w.store.next(func() { s.register(nil) })
				got, err := r.send(t.Context(), r)
				var refusal *runtime.Refusal
				require.ErrorAs(t, err, &refusal)
				require.Nil(t, got.ActivityPoll)
				require.Nil(t, got.WorkflowPoll)
				require.Zero(t, w.leases(s, s.worker()))
				return refusal.Reason, alike(s.state())
			}
			bareReason, bare := refused(false)
			reason, state := refused(true)
			require.Equal(t, bareReason, reason)
			same(t, bare, state)
		})
	}
}

// testPollInFlight: a poll request id gets one lease, also when the poll that was carried is asked again
// while its report is on the way.
func testPollInFlight(t *testing.T, empty Empty) {
	w := newWorld(t, empty, nil)
	t.Run("the poll comes while the report is on its way", func(t *testing.T) {
		for range 10 {
			s := w.scene(t)
			s.register(concurrent)
			r := s.workflowReport(s.leased(), schedule(), schedule()).carry(true, false)
			own := make(chan runtime.PollResult, 1)
			w.store.next(func() { s.askMeanwhile(r.carriers.ActivityPoll.PollRequest, own) })
			got := r.do()
			require.Equal(t, "leased", became(got.ActivityPoll))
			replayed := <-own
			same(t, pollText(got.ActivityPoll.Lease), pollText(&replayed))
			require.EqualValues(t, 1, w.leases(s, s.worker()))
		}
	})
	t.Run("the poll is held already", func(t *testing.T) {
		s := w.scene(t)
		s.register(nil)
		r := s.workflowReport(s.leased(), schedule()).carry(true, false)
		poll := r.carriers.ActivityPoll.PollRequest
		poll.Timeout = time.Hour
		own := make(chan runtime.PollResult, 1)
		go s.ask(poll, own)
		require.Eventually(t, func() bool { return w.HeldPolls() == 1 }, 10*time.Second, time.Millisecond)
		require.Equal(t, "poll_request_conflict", became(r.do().ActivityPoll))
		require.NotNil(t, (<-own).Activity, "the held poll gets what the report made")
		require.EqualValues(t, 1, w.leases(s, s.worker()))
	})
	t.Run("two reports carry one id", func(t *testing.T) {
		s := w.scene(t)
		s.register(concurrent)
		first := s.workflowReport(s.leased(), schedule(), schedule()).carry(true, false)
		second := s.workflowReport(s.leased(), schedule())
		second.carriers = first.carriers
		w.store.next(func() { require.Equal(t, "poll_request_conflict", became(second.do().ActivityPoll)) })
		require.Equal(t, "leased", became(first.do().ActivityPoll))
		require.EqualValues(t, 1, w.leases(s, s.worker()))
	})
	for _, parent := range plainReports {
		t.Run("a copy of the report comes first "+parent.name, func(t *testing.T) {
			s := w.scene(t)
			s.start() // so that there is a task for the poll, whatever the report makes
			r := parent.make(s).carry(false, true)
			var first answer
			w.store.next(func() { first = r.do() })
			second := r.do()
			require.True(t, first.recorded)
			require.Equal(t, "leased", became(first.WorkflowPoll))
			require.Equal(t, answer{}, told(second), "the copy that was admitted first grants nothing")
			require.EqualValues(t, 1, w.leases(s, s.worker()))
		})
	}
}

// ask polls for an activity.
func (s *scene) ask(poll runtime.PollRequest, answer chan<- runtime.PollResult) {
	got, err := s.PollActivityTask(s.t.Context(), poll)
	if err != nil {
		s.t.Errorf("poll: %v", err)
	}
	answer <- got
}

// askMeanwhile asks in the background and comes back once the poll is admitted.
func (s *scene) askMeanwhile(poll runtime.PollRequest, answer chan<- runtime.PollResult) {
	admitted := make(chan struct{})
	s.store.admitted(func() { close(admitted) })
	go s.ask(poll, answer)
	<-admitted
}

// testSavepoint: a decline that is found after the claim leaves nothing of it, and all of the report.
// The runtime finds its declines before it claims, so the one used here comes from another answer.
func testSavepoint(t *testing.T, empty Empty) {
	for _, w := range []*world{newProbedWorld(t, empty), newWorld(t, empty, nil)} {
		for _, own := range []bool{false, true} {
			w.declineLate(t, own, false)
			w.declineLate(t, own, true)
		}
	}
}

// declineLate declines a carried poll after its claim of a task of another run or, what is then written in a
// savepoint, of the report's own.
func (w *world) declineLate(t *testing.T, own, continued bool) {
	t.Helper()
	decline := w.someDecline(t)
	play := func(carries bool) (answer, string, trace) {
		s := w.scene(t)
		s.register(nil)
		var r *report
		if own { // another activity of the run is ready
			s.workflowReport(s.leased(), schedule(), schedule()).do()
		} else {
			first := s.workflowReport(s.leased(), schedule())
			r = s.workflowReport(s.leased(), schedule())
			first.do()
			if continued {
				r.do()
			}
		}
		if own || continued {
			task := s.pollActivity()
			if r = s.activityReport(task); continued {
				r.continues(task, schedule())
			}
		}
		if carries {
			r.carry(true, false)
			w.store.answerEvent(func(ev rules.Event) (rules.Event, error) { return ev, decline })
		}
		var got answer
		ran := w.probe.during(nil, func() { got = r.do() })
		return got, alike(s.state()), ran
	}
	_, bare, _ := play(false)
	got, state, ran := play(true)
	require.Equal(t, decline, got.ActivityPoll.Decline)
	if w.probe != nil {
		require.True(t, slices.Contains(ran, "TaskLockHead") || slices.Contains(ran, "TaskFindClaimable"), "the task was claimed: %v", ran)
		require.Equal(t, own, slices.ContainsFunc(ran, func(name string) bool { return strings.HasPrefix(name, "SAVEPOINT part") }), ran)
		require.Equal(t, 1, ran.transactions())
	}
	same(t, bare, state)
}

// someDecline is a decline of the runtime's own making.
func (w *world) someDecline(t *testing.T) *runtime.Decline {
	s := w.scene(t)
	s.register(nil)
	r := s.workflowReport(s.leased(), finish()).carry(true, false)
	return r.do().ActivityPoll.Decline
}

// answerEvent lets fn answer the next GetEvent of a transaction, after the event was read.
func (s *tap) answerEvent(fn func(rules.Event) (rules.Event, error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.event = fn
}

// isFault fails the test unless err is a fault: neither a refusal nor a decline.
func isFault(t *testing.T, err error) {
	t.Helper()
	var refusal *runtime.Refusal
	var decline *runtime.Decline
	require.Error(t, err)
	require.False(t, errors.As(err, &refusal), "%v", err)
	require.False(t, errors.As(err, &decline), "%v", err)
}

// gone is a context that ends when the caller says so.
func gone(t *testing.T) (context.Context, context.CancelFunc) {
	return context.WithCancel(t.Context())
}
