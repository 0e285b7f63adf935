package rules

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// Random lives of workflows: whatever happens in whatever order, every invariant of the world holds
// after every step, no wait with its signal times out, and the run can always be closed.
func TestRandomLives(t *testing.T) {
	const lives, steps = 200, 60
	for seed := range uint64(lives) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			l := &life{world: newWorld(t), Rand: rand.New(rand.NewPCG(seed, 1))}
			for range steps {
				if l.run().IsClosed() {
					return
				}
				l.step()
				l.requireNobodyForgotten()
			}
			l.close([]string{"cancel", "terminate"}[l.IntN(2)], "")
		})
	}
}

type life struct {
	*world
	*rand.Rand
	group []WorkflowCommand // opened last, to be sent again
}

// requireNobodyForgotten: an idle run has no signal that could wake it, and no timeout that will never fall
// due; unless its replay is blocked, or the timeout's own signal is here.
func (l *life) requireNobodyForgotten() {
	if l.awake() || l.run().IsClosed() {
		return
	}
	waits := l.loadWaits()
	tasks := l.tasks.where(func(t *Task) bool { return t.Kind == KindWorkflow })
	if last := tasks[len(tasks)-1]; fields(l.T, last.Payload)["replay_blocked"] == nil {
		require.Nil(l, waits.eligible(), "an eligible signal and no task")
	}
	for i := range waits.Timers {
		if timer := &waits.Timers[i]; timer.DueAt == Never {
			require.True(l, waits.taken(timer.WaitID), "a timeout held back for nothing")
		}
	}
}

func (l *life) step() {
	switch l.IntN(12) {
	case 0, 1, 2:
		l.endTask()
	case 3:
		l.signal([]string{"a", "b"}[l.IntN(2)])
	case 4:
		l.now += l.Int64N(20) * second
	case 5, 6:
		l.fireDue()
	case 7, 8, 9:
		l.stepActivity()
	case 10:
		l.loseLease()
	case 11:
		for _, a := range l.openActivities(l.run().RunID) {
			l.expire(a.Sequence)
		}
	}
}

// endTask ends the workflow task in one of the ways a worker can.
func (l *life) endTask() {
	if !l.awake() {
		return
	}
	task := l.tasks.rows[l.run().WorkflowTaskID]
	if task.AvailableAt > l.now {
		return
	}
	if task.Status == TaskReady {
		l.claim()
		return // what happens meanwhile is the interesting part
	}
	switch l.IntN(8) {
	case 0:
		l.failTask(task, "boom")
	case 1:
		l.failTask(task, "replay failed: x")
	case 2:
		t := l.begin()
		acknowledged := *task
		t.AcknowledgeWaiting(&acknowledged, l.loadWaits())
		l.write(t)
	default:
		run := l.run().RunID
		_, r := l.answer(task, l.commands()...)
		require.Nil(l, r)
		if l.run().RunID != run {
			l.group = nil
		}
	}
}

func (l *life) commands() []WorkflowCommand {
	var out []WorkflowCommand
	if l.group != nil && l.IntN(2) == 0 {
		out = append(out, l.group...)
	}
	next := l.run().LastStepSequence
	for range l.IntN(4) {
		next++
		switch l.IntN(8) {
		case 0:
			out = append(out, scheduleActivity("x", retrying(2, l.Int64N(3)), timeouts(30, 10, 5, 20)))
		case 1:
			out = append(out, startTimer(l.Int64N(9)))
		case 2:
			out = append(out, conditionWait(fmt.Sprint("k", l.IntN(2)), within(l.Int64N(9))))
		case 3:
			out = append(out, signalWait("a", within(l.Int64N(9))))
		case 4:
			out = append(out, signalWait("b"))
		case 5:
			out = append(out, sideEffect())
		case 6:
			out = append(out, local())
		case 7:
			l.group = group(next, "g", "h", "i")
			next += 2
			out = append(out, l.group...)
		}
		if last := out[len(out)-1]; last.Type == "open_condition_wait" {
			return out // one that is open already writes nothing, and would shift what follows
		}
	}
	switch l.IntN(20) {
	case 0:
		out = append(out, completeWorkflow())
	case 1:
		out = append(out, failWorkflow("m"))
	case 2:
		out = append(out, continueAsNew())
	}
	return out
}

func (l *life) stepActivity() {
	open := l.openActivities(l.run().RunID)
	if len(open) == 0 {
		return
	}
	a := open[l.IntN(len(open))]
	if a.DueTimeout(l.now) != "" {
		return
	}
	if a.Status == ActivityPending {
		if l.tasks.rows[a.TaskID].AvailableAt <= l.now {
			l.start(a.Sequence)
		}
		return
	}
	switch l.IntN(4) {
	case 0:
		l.fail(a.Sequence, ActivityFailureReport{Message: "m", NonRetryable: l.IntN(2) == 0})
	case 1:
		act, attempt, task := l.held(a.Sequence)
		t := l.begin()
		t.LoseAttempt(act, attempt, task)
		l.write(t)
	default:
		l.succeed(a.Sequence)
	}
}

func (l *life) loseLease() {
	task := l.tasks.rows[l.run().WorkflowTaskID]
	if task == nil || task.Status != TaskLeased {
		return
	}
	t := l.begin()
	lost := *task
	t.RecoverWorkflowTask(&lost)
	l.write(t)
}
