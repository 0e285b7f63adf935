package wake_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"dwserver/runtime/runtimetest"
	"dwserver/runtime/wake"
)

var queue = wake.Key{Namespace: "default", TaskQueue: "q", Kind: "workflow"}

func poll(worker string, types ...string) wake.Poll {
	return wake.Poll{Key: queue, WorkerID: worker, Types: types, ProtocolMinor: 20}
}

func work(id, typeName string) wake.Work {
	return wake.Work{Key: queue, TaskID: id, TypeName: typeName}
}

// reason is what a waiter was told, -1 when nothing.
func reason(w *wake.Waiter) wake.Reason {
	select {
	case r := <-w.C:
		return r
	default:
		return -1
	}
}

const none wake.Reason = -1

func TestOneWaiterATask(t *testing.T) {
	h := wake.New(runtimetest.NewClock())
	a, b := h.Wait(poll("a", "x")), h.Wait(poll("b", "x"))
	h.Notify(work("t1", "x"))
	require.Equal(t, wake.Worked, reason(a), "first come, first woken")
	require.Equal(t, none, reason(b))
	h.Notify(work("t2", "x"))
	require.Equal(t, none, reason(a), "it is not in line before it asks again")
	require.Equal(t, wake.Worked, reason(b))
	h.Notify(work("t3", "x"))
	h.Again(a)
	require.Equal(t, none, reason(a), "what was made before is found by looking, which comes after Again")
	h.Notify(work("t4", "x"))
	require.Equal(t, wake.Worked, reason(a))
}

func TestWakesMatch(t *testing.T) {
	for name, change := range map[string]func(*wake.Work){
		"type":      func(w *wake.Work) { w.TypeName = "y" },
		"build":     func(w *wake.Work) { w.Compatibility = "b2" },
		"protocol":  func(w *wake.Work) { w.MinProtocol = 21 },
		"queue":     func(w *wake.Work) { w.TaskQueue = "Q" },
		"kind":      func(w *wake.Work) { w.Kind = "activity" },
		"namespace": func(w *wake.Work) { w.Namespace = "other" },
	} {
		h := wake.New(runtimetest.NewClock())
		p := poll("a", "x")
		p.BuildID = "b1"
		a := h.Wait(p)
		other := work("t", "x")
		change(&other)
		h.Notify(other)
		require.Equal(t, none, reason(a), name)
		other = work("t", "x")
		other.Compatibility, other.MinProtocol = "b1", 20
		h.Notify(other)
		require.Equal(t, wake.Worked, reason(a), name)
	}
	h := wake.New(runtimetest.NewClock())
	a := h.Wait(poll("a"))
	h.Notify(work("t", "x"))
	require.Equal(t, none, reason(a), "no types, no wake")
	h.Notify(work("", ""))
	require.Equal(t, wake.Worked, reason(a), "work of unknown type concerns everyone")
}

// A wake goes on to the next waiter unless its task was the one taken.
func TestLeavePassesWakesOn(t *testing.T) {
	for name, row := range map[string]struct {
		leave  func(h *wake.Hub, w *wake.Waiter)
		passed bool
	}{
		"timed out, wake unseen":   {func(h *wake.Hub, w *wake.Waiter) { h.Leave(w, "", nil) }, true},
		"took another":             {func(h *wake.Hub, w *wake.Waiter) { h.Leave(w, "t0", nil) }, true},
		"took it by chance":        {func(h *wake.Hub, w *wake.Waiter) { h.Leave(w, "t1", nil) }, false},
		"took it":                  {func(h *wake.Hub, w *wake.Waiter) { <-w.C; h.Leave(w, "t1", h.Again(w)) }, false},
		"followed it in vain":      {func(h *wake.Hub, w *wake.Waiter) { <-w.C; h.Again(w); h.Leave(w, "", nil) }, false},
		"could not follow it":      {func(h *wake.Hub, w *wake.Waiter) { <-w.C; h.Leave(w, "", h.Again(w)) }, true},
		"followed it to another":   {func(h *wake.Hub, w *wake.Waiter) { <-w.C; h.Leave(w, "t0", h.Again(w)) }, true},
		"superseded with the wake": {func(h *wake.Hub, w *wake.Waiter) { h.Supersede("default", "a"); h.Leave(w, "", nil) }, true},
	} {
		h := wake.New(runtimetest.NewClock())
		a, b := h.Wait(poll("a", "x")), h.Wait(poll("b", "x"))
		h.Notify(work("t1", "x"))
		row.leave(h, a)
		require.Equal(t, row.passed, reason(b) == wake.Worked, name)
		h.Leave(b, "", nil)
		require.Zero(t, h.Waiting())
	}
}

func TestTwoWakesAtOnce(t *testing.T) {
	h := wake.New(runtimetest.NewClock())
	a, b, c := h.Wait(poll("a", "x")), h.Wait(poll("b", "x")), h.Wait(poll("c", "x"))
	h.Notify(work("t1", "x"))
	<-a.C
	owed := h.Again(a)
	for range 2 {
		h.Notify(work("", "x")) // b, c
	}
	h.Notify(work("t2", "x")) // a again, while it looks for t1
	h.Leave(a, "t9", owed)    // it found a third task: both its wakes go on
	for _, w := range []*wake.Waiter{b, c} {
		require.Equal(t, wake.Worked, reason(w))
		h.Again(w)
	}
	h.Notify(work("t3", "x"))
	require.Equal(t, wake.Worked, reason(b))
}

func TestEnds(t *testing.T) {
	h := wake.New(runtimetest.NewClock())
	a, a2, b := h.Wait(poll("a", "x")), h.Wait(poll("a")), h.Wait(poll("b", "x"))
	other := poll("a", "x")
	other.Namespace = "other"
	foreign := h.Wait(other)
	h.Notify(work("t1", "x"))
	h.Supersede("default", "a")
	require.Equal(t, wake.Superseded, reason(a), "an end outranks a wake")
	require.Equal(t, wake.Superseded, reason(a2))
	require.Equal(t, none, reason(b))
	require.Equal(t, none, reason(foreign), "a worker id is one of its namespace")
	require.Equal(t, 4, h.Waiting())
	h.Supersede("default", "nobody")
	require.False(t, h.Draining())
	h.Drain()
	require.True(t, h.Draining())
	require.Equal(t, wake.Drained, reason(b))
	require.Equal(t, wake.Drained, reason(foreign))
	require.Equal(t, wake.Drained, reason(h.Wait(poll("late", "x"))))
	h.Notify(work("t2", "x"))
	require.Equal(t, none, reason(b))
}

func TestDrainBetweenWakeAndAgain(t *testing.T) {
	h := wake.New(runtimetest.NewClock())
	a := h.Wait(poll("a", "x"))
	h.Notify(work("t1", "x"))
	require.Equal(t, wake.Worked, reason(a))
	h.Drain()
	h.Again(a)
	require.Equal(t, wake.Drained, reason(a))
}

func TestWatch(t *testing.T) {
	h := wake.New(runtimetest.NewClock())
	first, stopFirst := h.Watch("run")
	second, stopSecond := h.Watch("run")
	other, stopOther := h.Watch("other")
	require.Equal(t, 3, h.Watching())
	stopSecond()
	stopSecond()
	require.Equal(t, 2, h.Watching())
	h.Changed("run")
	require.Equal(t, 1, h.Watching())
	requireClosed(t, true, first)
	requireClosed(t, false, second)
	requireClosed(t, false, other)
	stopFirst() // after the fact is fine
	third, _ := h.Watch("run")
	h.Drain()
	require.Zero(t, h.Watching())
	requireClosed(t, true, third)
	requireClosed(t, true, other)
	stopOther()
	late, _ := h.Watch("run")
	requireClosed(t, true, late)
	h.Changed("run")
}

func requireClosed(t *testing.T, want bool, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
		require.True(t, want)
	default:
		require.False(t, want)
	}
}

// Delayed work wakes at its time: not before, in order, also after the wall clock was set.
func TestDelayedWork(t *testing.T) {
	clock := runtimetest.NewClock()
	h := wake.New(clock)
	at := func(d time.Duration, id string) wake.Work {
		w := work(id, "x")
		w.At = clock.Now().Add(d).UnixMicro()
		return w
	}
	a := h.Wait(poll("a", "x"))
	h.Notify(at(90*time.Second, "late"))
	h.Notify(at(3*time.Second, "soon"))
	h.Notify(at(0, "now"))
	require.Equal(t, wake.Worked, reason(a))
	require.Equal(t, "now", h.Again(a).TaskID)
	clock.Step(-time.Minute)
	elapse(clock, 5*time.Second)
	require.Equal(t, none, reason(a), "by the clock on the wall it is not time")
	clock.Step(63 * time.Second)
	require.Equal(t, wake.Worked, awaitReason(t, clock, a))
	require.Equal(t, "soon", h.Again(a).TaskID)
	clock.Advance(87 * time.Second)
	require.Equal(t, wake.Worked, awaitReason(t, clock, a))
	require.Equal(t, "late", h.Again(a).TaskID)
	h.Notify(at(time.Second, "again")) // after there was none left
	clock.Advance(time.Second)
	require.Equal(t, wake.Worked, awaitReason(t, clock, a))
	h.Again(a)
	h.Notify(at(time.Hour, "never"))
	h.Drain()
	require.Equal(t, wake.Drained, reason(a))
}

func elapse(clock *runtimetest.Clock, d time.Duration) {
	for range int(d / time.Second) {
		clock.Elapse(time.Second)
	}
}

// awaitReason waits until a waiter is told something, while those who sleep on the clock sleep on.
func awaitReason(t *testing.T, clock *runtimetest.Clock, w *wake.Waiter) wake.Reason {
	t.Helper()
	deadline := time.After(30 * time.Second)
	for {
		clock.Elapse(time.Second)
		select {
		case r := <-w.C:
			return r
		case <-deadline:
			require.Fail(t, "never woken")
		default:
		}
	}
}
