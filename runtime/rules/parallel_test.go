package rules

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGroupKeysOnEveryEvent(t *testing.T) {
	w := newWorld(t)
	commands := []WorkflowCommand{
		scheduleActivity("a", grouped(level{kind: "mixed", base: 1, size: 4, index: 0}), retrying(2)),
		startTimer(5, grouped(level{kind: "mixed", base: 1, size: 4, index: 1})),
		conditionWait("k", within(6), grouped(level{kind: "mixed", base: 1, size: 4, index: 2})),
		signalWait("s", grouped(level{kind: "mixed", base: 1, size: 4, index: 3})),
	}
	w.complete(commands...)
	w.fail(1, ActivityFailureReport{Message: "m"})
	w.succeed(1)
	w.after(6)
	require.Equal(t, 2, w.fireDue())
	w.signal("s")
	w.complete(commands...)
	w.complete()
	w.close("cancel", "")
	for i, ev := range w.events[w.run().RunID] {
		p := fields(t, ev.Payload)
		seq, step := p["sequence"].(int64)
		if !step {
			continue
		}
		want := fields(t, commands[seq-1].parallel())
		for name, v := range want {
			require.Equal(t, fmt.Sprint(v), fmt.Sprint(p[name]), "event %d %s: %s", i+1, ev.EventType, name)
		}
	}
}

// The wake rule of all groups (3.3), with what the SDKs make of it: a failure wakes at once, the
// last success wakes, and the last member to end wakes whatever the others did.
func TestFlatGroupBarrier(t *testing.T) {
	for name, row := range map[string]struct {
		steps string // per step: sequence and + success or - failure
		wakes []bool
	}{
		"all succeed":         {"1+ 3+ 2+", []bool{false, false, true}},
		"first fails":         {"1- 2+ 3+", []bool{true, false, true}},
		"middle fails":        {"2+ 1- 3+", []bool{false, true, true}},
		"last fails":          {"1+ 2+ 3-", []bool{false, false, true}},
		"all fail":            {"1- 2- 3-", []bool{true, true, true}},
		"two fail, last good": {"3- 1- 2+", []bool{true, true, true}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			members := group(1, "a", "b", "c")
			w.complete(members...)
			var seq int64
			var outcome rune
			for i := range 3 {
				_, err := fmt.Sscanf(row.steps[i*3:i*3+2], "%d%c", &seq, &outcome)
				require.NoError(t, err)
				if outcome == '+' {
					w.succeed(seq)
				} else {
					w.fail(seq, ActivityFailureReport{Message: "m"})
				}
				require.Equal(t, row.wakes[i], w.awake(), "after step %d", i+1)
				if w.awake() && i < 2 {
					before := len(w.events[w.run().RunID])
					out := w.complete(members...) // the SDK sends the whole group again
					require.Empty(t, out.CreatedTaskIDs)
					require.Empty(t, w.history(before+1), "nothing new")
					require.Equal(t, RunWaiting, w.run().Status)
				}
			}
		})
	}
}

func TestRetryInAGroupWakesNobody(t *testing.T) {
	w := newWorld(t)
	members := group(1, "a", "b")
	retrying(2)(&members[0])
	w.complete(members...)
	w.fail(1, ActivityFailureReport{Message: "m"})
	require.False(t, w.awake())
	w.succeed(2)
	require.False(t, w.awake())
	w.succeed(1)
	require.True(t, w.awake())
}

// [a, [timer, b]]: the group is whole when its outermost is.
func TestNestedGroup(t *testing.T) {
	outer := func(i int64) level { return level{kind: "mixed", base: 1, size: 3, index: i} }
	inner := func(i int64) level { return level{kind: "mixed", base: 2, size: 2, index: i} }
	members := []WorkflowCommand{
		scheduleActivity("a", grouped(outer(0))),
		startTimer(5, grouped(outer(1), inner(0))),
		scheduleActivity("b", grouped(outer(2), inner(1))),
	}
	w := newWorld(t)
	w.complete(members...)
	w.after(5)
	require.Equal(t, 1, w.fireDue())
	w.succeed(3)
	require.False(t, w.awake(), "the inner group is whole, the outer is not")
	w.succeed(1)
	require.True(t, w.awake())

	w = newWorld(t)
	w.complete(members...)
	w.fail(3, ActivityFailureReport{Message: "m"})
	require.True(t, w.awake(), "a failure inside wakes at once")
	w.complete(members...)
	w.after(5)
	w.fireDue()
	require.False(t, w.awake())
	w.succeed(1)
	require.True(t, w.awake(), "the last member")
}

// A group inside one of its own size has the same id on both levels, as SDKs send it.
func TestGroupInsideItsOwnSize(t *testing.T) {
	for size := int64(1); size <= 2; size++ {
		var members []WorkflowCommand
		for i := range size {
			l := level{kind: "activity", base: 1, size: size, index: i}
			members = append(members, scheduleActivity("a", grouped(l, l)))
		}
		w := newWorld(t)
		w.complete(members...)
		for seq := range size {
			require.False(t, w.awake())
			w.succeed(seq + 1)
		}
		require.True(t, w.awake())
	}
}

func TestGroupAfterOtherSteps(t *testing.T) {
	w := newWorld(t)
	w.complete(append([]WorkflowCommand{sideEffect(), versionMarker()}, group(3, "a", "b")...)...)
	w.succeed(3)
	w.succeed(4)
	w.complete(append([]WorkflowCommand{sideEffect()}, group(6, "c", "d")...)...)
	require.Equal(t, []string{"SideEffectRecorded#5", "ActivityScheduled#6", "ActivityScheduled#7"}, w.history(11))
}

func TestResentGroups(t *testing.T) {
	members := group(1, "a", "b")
	fresh := func() *world {
		w := newWorld(t)
		w.complete(members...)
		w.fail(1, ActivityFailureReport{Message: "m"})
		return w
	}
	w := fresh()
	spaced := append([]WorkflowCommand{}, members...)
	spaced[0].ParallelGroupPath = []byte(" [ {\"parallel_group_size\":2,\"parallel_group_index\":0, \"parallel_group_base_sequence\":1," +
		"\"parallel_group_kind\":\"activity\",\"parallel_group_id\":\"parallel-activities:1:2\"} ] ")
	w.complete(spaced...) // the same document, written otherwise

	for name, commands := range map[string][]WorkflowCommand{
		"another type":     group(1, "a", "x"),
		"another size":     group(1, "a", "b", "c"),
		"another base":     group(2, "a", "b"),
		"another kind":     {startTimer(1, grouped(level{kind: "mixed", base: 1, size: 2, index: 0})), members[1]},
		"only the rest":    {scheduleActivity("c", grouped(level{kind: "activity", base: 1, size: 2, index: 2}))},
		"a past sequence":  group(0, "a", "b"),
		"an overflow":      {scheduleActivity("a", grouped(level{kind: "activity", base: Never, size: Never, index: Never - 1}))},
		"a nested pretext": {scheduleActivity("a", grouped(level{kind: "activity", base: 1, size: 2, index: 0}, level{kind: "activity", base: 1, size: 1, index: 0})), members[1]},
	} {
		r := fresh().refused(commands...)
		require.Contains(t, []string{"invalid_commands", "validation_failed"}, r.Reason, name)
	}
	// What comes after a group sent again is new.
	w = fresh()
	w.complete(append(append([]WorkflowCommand{}, members...), scheduleActivity("c"))...)
	require.Equal(t, "c", w.activity(3).ActivityType)
}

func TestGroupShape(t *testing.T) {
	l := func(base, size, index int64) level {
		return level{kind: "activity", base: base, size: size, index: index}
	}
	for name, commands := range map[string][]WorkflowCommand{
		"not whole":      {scheduleActivity("a", grouped(l(1, 2, 0)))},
		"wrong base":     {scheduleActivity("a", grouped(l(2, 2, 0))), scheduleActivity("b", grouped(l(2, 2, 1)))},
		"out of order":   {scheduleActivity("a", grouped(l(1, 2, 1))), scheduleActivity("b", grouped(l(1, 2, 0)))},
		"member doubled": {scheduleActivity("a", grouped(l(1, 2, 0))), scheduleActivity("b", grouped(l(1, 2, 0)))},
		"inner gap": {scheduleActivity("a", grouped(level{kind: "mixed", base: 1, size: 2, index: 0}, l(1, 2, 0))),
			scheduleActivity("b", grouped(level{kind: "mixed", base: 1, size: 2, index: 1}))},
	} {
		w := newWorld(t)
		require.Equal(t, "invalid_commands", w.refused(commands...).Reason, name)
	}
	broken := func(change func(*WorkflowCommand)) WorkflowCommand {
		return scheduleActivity("a", grouped(l(1, 1, 0)), change)
	}
	for name, c := range map[string]WorkflowCommand{
		"id missing":       broken(func(c *WorkflowCommand) { c.ParallelGroupID = nil }),
		"kind missing":     broken(func(c *WorkflowCommand) { c.ParallelGroupKind = nil }),
		"foreign kind":     broken(func(c *WorkflowCommand) { c.ParallelGroupKind, c.ParallelGroupPath = ptr("timer"), nil }),
		"id of other size": broken(func(c *WorkflowCommand) { c.ParallelGroupID, c.ParallelGroupPath = ptr("parallel-activities:1:2"), nil }),
		"size zero":        broken(func(c *WorkflowCommand) { c.ParallelGroupSize, c.ParallelGroupPath = ptr[int64](0), nil }),
		"base zero":        broken(func(c *WorkflowCommand) { c.ParallelGroupBaseSequence, c.ParallelGroupPath = ptr[int64](0), nil }),
		"index past size":  broken(func(c *WorkflowCommand) { c.ParallelGroupIndex, c.ParallelGroupPath = ptr[int64](1), nil }),
		"index negative":   broken(func(c *WorkflowCommand) { c.ParallelGroupIndex, c.ParallelGroupPath = ptr[int64](-1), nil }),
		"path empty":       broken(func(c *WorkflowCommand) { c.ParallelGroupPath = []byte("[]") }),
		"path no list":     broken(func(c *WorkflowCommand) { c.ParallelGroupPath = []byte(`{"a":1}`) }),
		"path ends elsewhere": broken(func(c *WorkflowCommand) {
			c.ParallelGroupPath = []byte(`[{"parallel_group_id":"parallel-activities:2:1","parallel_group_kind":"activity",` +
				`"parallel_group_base_sequence":2,"parallel_group_size":1,"parallel_group_index":0}]`)
		}),
		"selection":    broken(func(c *WorkflowCommand) { c.ParallelOther = []byte(`{"selection_member_key":"a"}`) }),
		"selection id": broken(func(c *WorkflowCommand) { c.ParallelGroupID = ptr("select-calls:1:1") }),
		"path alone":   scheduleActivity("a", func(c *WorkflowCommand) { c.ParallelGroupPath = []byte("[{}]") }),
		"select in a path": broken(func(c *WorkflowCommand) {
			c.ParallelGroupPath = []byte(`[{"parallel_group_mode":"select","parallel_group_id":"parallel-activities:1:1","parallel_group_kind":"activity","parallel_group_base_sequence":1,"parallel_group_size":1,"parallel_group_index":0}]`)
		}),
	} {
		r := CheckCommands([]WorkflowCommand{c}, 20, DefaultLimits())
		require.NotNil(t, r, name)
		require.Equal(t, "validation_failed", r.Reason, name)
	}
}

func TestBarrierIsNotAskedOutsideGroups(t *testing.T) {
	w := newWorld(t)
	w.complete(scheduleActivity("a"))
	w.start(1)
	act, attempt, task := w.held(1)
	tr := w.begin()
	tr.CompleteActivity(act, attempt, task, nil, nil, nil) // a nil barrier would panic
	w.write(tr)
	require.True(t, w.awake())
	require.NotContains(t, w.event("ActivityCompleted"), "result", "no result, no codec")
	require.NotContains(t, w.event("ActivityCompleted"), "payload_codec")
}
