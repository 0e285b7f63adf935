package carriertest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"dwserver/runtime"
)

// testCorruption damages the documents of every read of every report that carries: the report fails as a
// whole, or did not need the document and leaves what an undamaged one leaves.
func testCorruption(t *testing.T, empty Empty) {
	w := newWorld(t, empty, nil)
	needed := 0
	for _, c := range carryingReports {
		t.Run(c.name, func(t *testing.T) {
			s := w.scene(t)
			r := c.make(s)
			w.store.damageAt(0)
			clean := r.do()
			reads := w.store.counted()
			require.NotZero(t, reads)
			want, given := alike(s.state()), alike(leasedText(clean))
			for n := 1; n <= reads; n++ {
				s := w.scene(t)
				r := c.make(s)
				before := s.state()
				w.store.damageAt(n)
				got, err := r.send(t.Context(), r)
				hit := w.store.damaged()
				w.store.damageAt(0)
				if err != nil {
					needed++
					require.True(t, hit, "read %d: %v", n, err)
					isFault(t, err)
					same(t, before, s.state(), "read %d", n)
					got = r.do()
				}
				same(t, given, alike(leasedText(got)), "read %d", n)
				same(t, want, alike(s.state()), "read %d", n)
			}
		})
	}
	require.Greater(t, needed, 20, "the damage is not noticed")
}

// leasedText is what the answers to carried polls say.
func leasedText(a answer) (out string) {
	for _, poll := range []*runtime.CarriedAnswer{a.ActivityPoll, a.WorkflowPoll} {
		if became(poll) == "leased" {
			out += pollText(poll.Lease)
		}
	}
	return out
}

// pollText is all that a poll's answer says, but for the clock.
func pollText(got *runtime.PollResult) string {
	out := got.Status + "\n"
	if task := got.Activity; task != nil {
		out += text(task.Task) + text(task.Run) + text(task.Activity) + text(task.Attempt) + string(task.Arguments)
	}
	if task := got.Workflow; task != nil {
		page := task.Page
		page.Events = nil
		out += text(task.Task) + text(task.Run) + string(task.Arguments) + string(task.SignalArguments) + text(page)
		for _, ev := range task.Page.Events {
			out += "\n" + text(ev)
		}
	}
	return out
}
