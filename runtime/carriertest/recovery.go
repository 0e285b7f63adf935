package carriertest

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"dwserver/runtime"
	"dwserver/runtime/rules"
	"dwserver/runtime/store"
)

// testRecovery: the connection is lost during COMMIT, before it or after it took effect. Neither caller
// can tell; the same report sent again, and then the worker's own polls under the original ids, leave one
// completion and one lease.
func testRecovery(t *testing.T, empty Empty) {
	w := newProbedWorld(t, empty)
	for _, c := range carryingReports {
		for _, at := range []string{commit, committed} {
			t.Run(c.name+" "+at, func(t *testing.T) {
				s := w.scene(t)
				r := c.make(s)
				first := r.do()
				c.check(s, r, first)
				want := alike(s.state())

				s = w.scene(t)
				r = c.make(s)
				before := s.state()
				_, err := s.cut(r, at)
				require.ErrorIs(t, err, store.ErrOutcomeUnknown)
				require.Equal(t, at == committed, s.state() != before)
				again := r.do()
				if at == committed {
					require.Equal(t, answer{}, told(again), "a repeat answers the record and grants nothing")
				} else {
					c.check(s, r, again)
				}
				r.pollAgain(first.ActivityPoll)
				r.pollAgain(first.WorkflowPoll)
				same(t, want, alike(s.state()))
				require.Equal(t, answer{}, told(r.do()))
				same(t, want, alike(s.state()))
				s.repeatWithNewPolls(r)
			})
		}
	}
}

// repeatWithNewPolls repeats a report under new poll ids, while there is work: it grants nothing either.
func (s *scene) repeatWithNewPolls(r *report) {
	s.t.Helper()
	s.plant(s.plot(rules.KindActivity))
	s.plant(s.plot(rules.KindWorkflow))
	before := s.state()
	require.Equal(s.t, answer{}, told(r.carry(true, true).do()))
	same(s.t, before, s.state())
}

// cut sends a report whose connection is lost at COMMIT, or right after it.
func (s *scene) cut(r *report, at string) (got answer, err error) {
	s.probe.during(func(_ int, name string) error {
		if name == at {
			return fmt.Errorf("%w: cut", store.ErrOutcomeUnknown)
		}
		return nil
	}, func() { got, err = r.send(s.t.Context(), r) })
	return got, err
}

// pollAgain polls under the id of a carried poll that was granted elsewhere.
func (r *report) pollAgain(granted *runtime.CarriedAnswer) {
	if became(granted) == "leased" {
		got := r.replay(granted.Lease)
		require.Equal(r.scene.t, runtime.PollLeased, got.Status)
	}
}
