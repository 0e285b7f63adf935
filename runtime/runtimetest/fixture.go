package runtimetest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"dwserver/runtime"
	"dwserver/runtime/rules"
	"dwserver/runtime/store"
)

// patience bounds in real time what a test waits for: an event that does not come fails the test.
const patience = 60 * time.Second

// fixture is one database with an engine on it, and a clock that stands still.
type fixture struct {
	*testing.T
	connect func(store.Options) store.Store
	probe   atomic.Pointer[store.Probe] // called before every statement, when there is one
	options runtime.Options
	Clock   *Clock
	Store   store.Store
	*runtime.Engine
}

// newFixture opens an empty database and starts an engine. Every run is checked when the test ends.
func newFixture(t *testing.T, open Open, change ...func(*runtime.Options)) *fixture {
	t.Helper()
	x := &fixture{T: t, connect: open(t), Clock: NewClock()}
	x.options = runtime.Options{Clock: x.Clock, Logger: slog.New(slog.DiscardHandler)}
	for _, c := range change {
		c(&x.options)
	}
	x.begin()
	t.Cleanup(func() {
		x.Engine.Close() // nothing moves while the rows are read
		if !t.Failed() {
			x.checkAll()
		}
		x.end()
	})
	return x
}

func (x *fixture) begin() {
	x.Helper()
	x.Store = x.connect(store.Options{Probe: func(ctx context.Context, statement string) error {
		if probe := x.probe.Load(); probe != nil {
			return (*probe)(ctx, statement)
		}
		return nil
	}})
	x.Engine = runtime.New(x.Store, x.options)
	require.NoError(x, x.Engine.Start(x.ctx()))
}

func (x *fixture) end() {
	x.Helper()
	x.Engine.Close()
	require.NoError(x, x.Store.Close())
}

// restart closes everything and opens the database again, as a new process would.
func (x *fixture) restart() {
	x.Helper()
	x.end()
	x.begin()
}

// ctx is the test's context; in a cleanup, where that has ended, one that has not.
func (x *fixture) ctx() context.Context { return context.WithoutCancel(x.Context()) }

// due lets time pass and does what has fallen due.
func (x *fixture) due(d time.Duration) {
	x.Helper()
	x.Clock.Advance(d)
	require.NoError(x, x.RunDue(x.ctx()))
}

func (x *fixture) now() int64 { return x.Clock.Now().UnixMicro() }

// run is a run as it now is.
func (x *fixture) run(id string) rules.Run {
	x.Helper()
	run, err := x.Store.ReadRun(x.ctx(), id)
	require.NoError(x, err)
	return run
}

// refusal is the typed "no" that an operation must have answered with.
func (x *fixture) refusal(reason string, err error) *runtime.Refusal {
	x.Helper()
	var refused *runtime.Refusal
	require.ErrorAs(x, err, &refused)
	require.Equal(x, reason, refused.Reason, refused.Message)
	return refused
}

// events are a run's history.
func (x *fixture) events(runID string) []rules.Event {
	x.Helper()
	events, err := x.Store.ListEvents(x.ctx(), runID, 0, rules.Never, 100_000)
	require.NoError(x, err)
	return events
}

// history is a run's history after an event, as "Type#authored sequence".
func (x *fixture) history(runID string, after int) []string {
	x.Helper()
	var out []string
	for _, ev := range x.events(runID)[after:] {
		text := ev.EventType
		if seq, ok := decode(x.T, ev.Payload)["sequence"]; ok {
			text = fmt.Sprintf("%s#%v", text, seq)
		}
		out = append(out, text)
	}
	return out
}

// payload is the payload of the last event of a type.
func (x *fixture) payload(runID, eventType string) map[string]any {
	x.Helper()
	events := x.events(runID)
	for i := len(events) - 1; i >= 0; i-- {
		if events[i].EventType == eventType {
			return decode(x.T, events[i].Payload)
		}
	}
	require.Fail(x, "no such event", eventType)
	return nil
}

// same compares rows; an absent document is one, whether it was read as nil or as empty.
func (x *fixture) same(want, got any, msg ...any) {
	x.Helper()
	require.Equal(x, fmt.Sprintf("%+v", want), fmt.Sprintf("%+v", got), msg...)
}

var errNothing = errors.New("nothing came")

// within runs fn on a context that ends when patience does.
func (x *fixture) within(fn func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(x.ctx(), patience, errNothing)
	defer cancel()
	return fn(ctx)
}

func seconds(n int64) time.Duration { return time.Duration(n) * time.Second }
