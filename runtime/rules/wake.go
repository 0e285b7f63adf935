package rules

import (
	"encoding/json"
	"fmt"
)

// fairShare is the distance in claim order between two tasks of one fairness key at weight 1, in
// microseconds: a key with a long backlog spreads out and lets others in between.
const fairShare int64 = 100_000

// FairOrder places a task of a fairness key behind the key's last ready one, closer the heavier
// its weight. last is the largest order of the key's ready tasks, 0 when none.
func FairOrder(availableAt, last, weight int64) int64 {
	if last == 0 {
		return availableAt
	}
	return max(availableAt, last+fairShare/max(weight, 1))
}

// newTask is a ready task of the locked run (or of run, where that is another).
func (t *Transition) newTask(run *Run, kind, queue, typeName string, availableAt int64) Task {
	task := Task{
		TaskID: t.NewID(), RunID: run.RunID, WorkflowID: run.WorkflowID, Namespace: run.Namespace,
		Kind: kind, TaskQueue: queue, TypeName: typeName, Status: TaskReady, Priority: run.Priority,
		OrderAt: availableAt, AvailableAt: availableAt, ReadyAt: availableAt, FairnessKey: run.FairnessKey,
		Compatibility: run.Compatibility, LeaseExpiresAt: Never, CreatedAt: t.Now,
	}
	if kind == KindWorkflow {
		task.MinProtocol = run.MinProtocol
	}
	if availableAt > t.Now {
		// A delayed task has its place by its own time; counted as the end of its key's backlog it
		// would hold back everything that the key makes until then.
		task.FairnessKey = ""
		return task
	}
	if run.FairnessKey != "" && t.LastFairOrder != nil {
		key := queue + "\x00" + kind
		last, seen := t.fairLast[key]
		if !seen {
			last = t.LastFairOrder(queue, kind)
		}
		task.OrderAt = FairOrder(availableAt, last, run.FairnessWeight)
		if t.fairLast == nil {
			t.fairLast = map[string]int64{}
		}
		t.fairLast[key] = task.OrderAt
	}
	return task
}

// addWorkflowTask opens the run's one workflow task.
func (t *Transition) addWorkflowTask(run *Run, payload []byte, availableAt int64) *Task {
	task := t.newTask(run, KindWorkflow, run.TaskQueue, run.WorkflowType, availableAt)
	task.Payload = payload
	run.WorkflowTaskID = task.TaskID
	t.Eff.NewTasks = append(t.Eff.NewTasks, task)
	return &t.Eff.NewTasks[len(t.Eff.NewTasks)-1]
}

// Resume wakes the run for an outcome (6.3, 6.6): a new workflow task when none is open, nothing
// when one is ready, and a note for when a leased one ends, since that claim did not see the
// outcome (settled.md, Waking). It returns the id of the task that will see it, "" for the last case.
func (t *Transition) Resume(payload []byte) string {
	switch {
	case t.Run.IsClosed():
		return ""
	case t.Run.WorkflowTaskID == "":
		return t.addWorkflowTask(t.Run, payload, t.Now).TaskID
	case t.OpenTask.Status == TaskLeased:
		if len(t.Run.PendingWake) == 0 {
			t.Run.PendingWake = payload
		}
		return ""
	}
	return t.Run.WorkflowTaskID
}

// groupRange is the outermost parallel group of a step as authored sequences [from, to), empty
// outside groups.
func groupRange(parallel []byte) (from, to int64, err error) {
	if len(parallel) == 0 {
		return 0, 0, nil
	}
	type level struct {
		Base int64 `json:"parallel_group_base_sequence"`
		Size int64 `json:"parallel_group_size"`
	}
	var group struct {
		level
		Path []level `json:"parallel_group_path"`
	}
	if err := json.Unmarshal(parallel, &group); err != nil {
		return 0, 0, fmt.Errorf("parallel group: %w", err)
	}
	outer := group.level
	if len(group.Path) > 0 {
		outer = group.Path[0]
	}
	return outer.Base, outer.Base + outer.Size, nil
}

// ClaimAppliesSignal reports that the run's open workflow task is leased and applies a signal when it ends.
func (t *Transition) ClaimAppliesSignal() bool {
	return t.OpenTask.Status == TaskLeased && t.resumesOnSignal(t.OpenTask.Payload) != ""
}

// ClaimEnds reports that the signal which the leased workflow task applies ends a member of a group. That member is
// done for the group already: its claim did not deliver what ends while it is out, so what ends last then has to wake.
func (t *Transition) ClaimEnds(waits *Waits, from, to int64) bool {
	s := waits.signal(t.resumesOnSignal(t.OpenTask.Payload))
	if s == nil {
		return false
	}
	w := waits.signalWait(s)
	return w != nil && w.Sequence >= from && w.Sequence < to
}

// Barrier answers how many members of a group have not ended, as stored before the transition: the member that
// ends now still counts. More than one need not be counted. An open condition wait does not count, since only the
// worker knows whether its predicate holds by now; neither does a signal wait that the leased workflow task ends.
type Barrier func(from, to int64) (open int64)

// wakes is rule 3.3 for a success: outside a group it wakes, in a group when it is the last member to end. That is
// so when it leaves no member unsuccessful, as a group is scheduled whole, and also after a failure: an SDK that
// raises a failure only when the whole group has ended would otherwise wait for ever. (Failures always wake.)
func (t *Transition) wakes(parallel []byte, barrier Barrier) bool {
	from, to, err := groupRange(parallel)
	if err != nil {
		t.Fail(err)
	}
	if from == to {
		return true
	}
	return barrier(from, to) <= 1
}
