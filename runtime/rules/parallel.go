package rules

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
)

// parallelLevel is one entry of a parallel group path (3.3).
type parallelLevel struct {
	ID    string `json:"parallel_group_id"`
	Kind  string `json:"parallel_group_kind"`
	Base  int64  `json:"parallel_group_base_sequence"`
	Size  int64  `json:"parallel_group_size"`
	Index int64  `json:"parallel_group_index"`
	Mode  string `json:"parallel_group_mode"`
}

// grouped reports whether a command carries parallel metadata.
func (c *WorkflowCommand) grouped() bool { return c.ParallelGroupID != nil }

// levels is the command's path, outermost first; a command without a path has one level.
func (c *WorkflowCommand) levels() ([]parallelLevel, bool) {
	own := parallelLevel{
		ID: deref(c.ParallelGroupID), Kind: deref(c.ParallelGroupKind),
		Base: derefInt(c.ParallelGroupBaseSequence), Size: derefInt(c.ParallelGroupSize),
		Index: derefInt(c.ParallelGroupIndex),
	}
	if len(c.ParallelGroupPath) == 0 {
		return []parallelLevel{own}, true
	}
	var path []parallelLevel
	if json.Unmarshal(c.ParallelGroupPath, &path) != nil || len(path) == 0 {
		return nil, false
	}
	last := path[len(path)-1]
	last.Mode = ""
	return path, last == own
}

// checkParallel is the static part of 3.3; the base is checked against real sequences under the lock.
func checkParallel(c *WorkflowCommand, leaf string, e *commandErrors) {
	set := [...]bool{c.ParallelGroupID != nil, c.ParallelGroupKind != nil, c.ParallelGroupBaseSequence != nil,
		c.ParallelGroupSize != nil, c.ParallelGroupIndex != nil}
	some, all := false, true
	for _, s := range set {
		some, all = some || s, all && s
	}
	if !some && c.ParallelGroupPath == nil && c.ParallelOther == nil {
		return
	}
	if !all {
		e.add("parallel_group_id", "Parallel group metadata is incomplete.")
		return
	}
	if c.ParallelOther != nil || strings.HasPrefix(*c.ParallelGroupID, "select-calls:") {
		e.add("parallel_group_id", "Durable selection is not supported.")
		return
	}
	levels, ok := c.levels()
	if !ok {
		e.add("parallel_group_path", "The parallel group path must end with the command's own group.")
		return
	}
	for _, l := range levels {
		if msg := l.problem(leaf); msg != "" {
			e.add("parallel_group_id", msg)
			return
		}
	}
}

func (l *parallelLevel) problem(leaf string) string {
	switch {
	case l.Mode != "" && l.Mode != "all":
		return "Durable selection is not supported."
	case l.Kind != leaf && l.Kind != "mixed":
		return "The parallel group kind does not fit the command."
	case l.Base < 1 || l.Size < 1 || l.Index < 0 || l.Index >= l.Size:
		return "The parallel group's base, size and index do not fit."
	case !strings.HasSuffix(l.ID, ":"+strconv.FormatInt(l.Base, 10)+":"+strconv.FormatInt(l.Size, 10)):
		return "The parallel group id must name its base and size."
	}
	return ""
}

// parallel is the metadata as it goes onto every event of the step, unchanged.
func (c *WorkflowCommand) parallel() []byte {
	if !c.grouped() {
		return nil
	}
	return NewObject(256+len(c.ParallelGroupPath)).Str("parallel_group_id", *c.ParallelGroupID).
		Str("parallel_group_kind", *c.ParallelGroupKind).
		Int("parallel_group_base_sequence", *c.ParallelGroupBaseSequence).
		Int("parallel_group_size", *c.ParallelGroupSize).Int("parallel_group_index", *c.ParallelGroupIndex).
		Raw("parallel_group_path", c.ParallelGroupPath).Bytes()
}

// sequence is the authored sequence the command's innermost group gives it.
func (c *WorkflowCommand) sequence() int64 {
	return *c.ParallelGroupBaseSequence + *c.ParallelGroupIndex
}

// leafKind is the kind of step a command opens, "" for commands that open none.
func (c *WorkflowCommand) leafKind() (kind, name string) {
	switch c.Type {
	case "schedule_activity":
		return "activity", trimmed(c.ActivityType)
	case "start_timer":
		return "timer", ""
	case "open_condition_wait":
		return WaitCondition, deref(c.ConditionKey)
	case "open_signal_wait":
		return WaitSignal, trimmed(c.SignalName)
	}
	return "", ""
}

// ResentRange is the stretch of authored sequences [from, to) that a batch's grouped commands
// name, for looking up whether the group is open already; ok is false without groups.
func ResentRange(commands []WorkflowCommand) (from, to int64, ok bool) {
	for i := range commands {
		if c := &commands[i]; c.grouped() {
			seq := c.sequence()
			if !ok || seq < from {
				from = seq
			}
			if !ok || seq >= to {
				to = seq + 1
			}
			ok = true
		}
	}
	return from, to, ok
}

// dropResent removes commands that only name members of a group opened before: an SDK that replays
// a group with members still open sends the whole group again, or the conditions in it that are still
// false. steps are the run's steps in the batch's range. A command that names a past position with
// another step is invalid. unmet are the positions of the condition waits among them.
func dropResent(commands []WorkflowCommand, lastStep int64, steps []Step) (kept []WorkflowCommand, unmet []int64, r *Refusal) {
	kept = commands[:0:0]
	for i := range commands {
		c := &commands[i]
		if !c.grouped() || c.sequence() > lastStep {
			kept = append(kept, *c)
			continue
		}
		if !resent(c, steps) {
			return nil, nil, Refuse("invalid_commands", "A parallel group does not fit the run's history.").
				With("command_index", int64(i))
		}
		if c.Type == "open_condition_wait" {
			unmet = append(unmet, c.sequence())
		}
	}
	return kept, unmet, nil
}

func resent(c *WorkflowCommand, steps []Step) bool {
	kind, name := c.leafKind()
	own := c.parallel()
	for i := range steps {
		if s := &steps[i]; s.Sequence == c.sequence() && s.Kind == kind && s.Name == name {
			return sameDocument(s.Parallel, own)
		}
	}
	return false
}

// sameDocument reports whether two JSON documents say the same, whatever their spacing and order.
func sameDocument(a, b []byte) bool {
	if string(a) == string(b) {
		return true
	}
	var left, right any
	return json.Unmarshal(a, &left) == nil && json.Unmarshal(b, &right) == nil && reflect.DeepEqual(left, right)
}

// checkGroups holds the groups of a batch to real sequences (3.3): base + index is the position the
// command will get, at every level, and all members of a group are in this batch.
func checkGroups(commands []WorkflowCommand, lastStep int64) *Refusal {
	type group struct { // a group inside one of its own size has the same id
		depth int
		id    string
	}
	next := lastStep
	members := map[group]int64{}
	sizes := map[group]int64{}
	for i := range commands {
		c := &commands[i]
		if commandSpecs[c.Type].terminal {
			continue
		}
		next++
		if !c.grouped() {
			continue
		}
		levels, _ := c.levels()
		for depth, l := range levels {
			if l.Base+l.Index != next {
				return Refuse("invalid_commands", "A parallel group's base and index do not give the command's position.").
					With("command_index", int64(i))
			}
			members[group{depth, l.ID}]++
			sizes[group{depth, l.ID}] = l.Size
		}
	}
	for g, size := range sizes {
		if members[g] != size {
			return Refuse("invalid_commands", "A parallel group is not whole in its batch.")
		}
	}
	return nil
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func trimmed(s *string) string { return strings.TrimSpace(deref(s)) }

func derefInt(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}
