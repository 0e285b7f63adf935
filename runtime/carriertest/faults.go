package carriertest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"dwserver/runtime/store"
)

// A failing is a way for a statement not to do what it should.
type failing struct {
	name string
	// hook fails statement at of an operation; leave ends the caller's context.
	hook func(at int, leave context.CancelFunc) func(n int, name string) error
	want error // what the caller gets, besides; nil for any fault
}

var errInjected = errors.New("injected")

var failings = []failing{
	{"error", func(at int, _ context.CancelFunc) func(int, string) error {
		return func(n int, _ string) error {
			if n == at {
				return errInjected
			}
			return nil
		}
	}, nil},
	{"connection lost", func(at int, _ context.CancelFunc) func(int, string) error {
		return func(n int, _ string) error {
			if n >= at {
				return fmt.Errorf("%w: cut", store.ErrUnavailable)
			}
			return nil
		}
	}, store.ErrUnavailable},
	{"caller leaves", func(at int, leave context.CancelFunc) func(int, string) error {
		return func(n int, _ string) error {
			if n == at {
				leave()
			}
			return nil
		}
	}, context.Canceled},
}

// testFaults walks every statement of every report that carries, in short tests with one failing each:
// whatever happens to it, the report is
// recorded as a whole or not at all, the caller is told, and the same report sent again leaves what an
// undisturbed one leaves.
func testFaults(t *testing.T, empty Empty) {
	w := newProbedWorld(t, empty)
	for _, c := range carryingReports {
		t.Run(c.name, func(t *testing.T) {
			s := w.scene(t)
			r := c.make(s)
			ran := w.probe.during(nil, func() { c.check(s, r, r.do()) })
			want := alike(s.state())
			for i, name := range ran {
				for j, fail := range failings {
					if name != committed && (!testing.Short() || j == i%len(failings)) {
						f := fault{&c, &fail, i + 1, name, want}
						f.inject(t, w)
					}
				}
			}
		})
	}
}

// fault is one failing of one statement of one report.
type fault struct {
	report    *carryingReport
	fail      *failing
	at        int
	statement string
	want      string // what is stored when all is done
}

func (f *fault) inject(t *testing.T, w *world) {
	s := w.scene(t)
	r := f.report.make(s)
	before := s.state()
	ctx, leave := gone(t)
	defer leave()
	about := fmt.Sprintf("%s at statement %d, %s", f.fail.name, f.at, f.statement)
	var got answer
	var err error
	ran := w.probe.during(f.fail.hook(f.at, leave), func() { got, err = r.send(ctx, r) })
	require.GreaterOrEqual(t, len(ran), f.at, about)
	if err == nil {
		// A transaction that cannot be begun is begun again on a new connection, and a caller that leaves
		// when the commit has started has the outcome all the same.
		require.True(t, isBegin(f.statement) || errors.Is(f.fail.want, context.Canceled), about)
		f.report.check(s, r, got)
	} else {
		isFault(t, err)
		if want := f.fail.want; want != nil {
			require.ErrorIs(t, err, want, about)
		} else if f.statement != commit {
			require.ErrorIs(t, err, errInjected, about)
		}
		same(t, before, s.state(), about)
		f.report.check(s, r, r.do())
	}
	same(t, f.want, alike(s.state()), about)
}
