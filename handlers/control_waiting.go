package handlers

import (
	"strconv"

	"dwserver/runtime"
	"dwserver/runtime/rules"
)

// waiting says what an open run waits for: a kind for machines and a sentence for people, both empty
// when it is closed.
type waiting struct{ kind, reason string }

// waitOf looks for what will move the run next: an open workflow task, else the oldest open activity,
// signal wait, condition wait or timer.
func waitOf(d *runtime.Description) waiting {
	if d.Run.IsClosed() {
		return waiting{}
	}
	if d.Task.TaskID != "" {
		return workflowTaskWait(&d.Task)
	}
	if len(d.Activities) > 0 {
		return activityWait(d.Activities)
	}
	for i := range d.Waits {
		if w := &d.Waits[i]; w.Status == rules.WaitOpen {
			return openWait(w)
		}
	}
	for i := range d.Timers {
		if t := &d.Timers[i]; t.Status == rules.TimerPending {
			return waiting{"timer", "Waiting for a timer that fires at " + rules.FormatTime(t.FireAt) + "."}
		}
	}
	return waiting{}
}

// workflowTaskWait names the queue, so that a missing or wrong worker shows.
func workflowTaskWait(task *rules.Task) waiting {
	reason := "A workflow task waits on task queue " + task.TaskQueue + " for a worker of workflow type " + task.TypeName + "."
	if task.Status == rules.TaskLeased {
		reason = "Worker " + task.LeaseOwner + " of task queue " + task.TaskQueue + " runs the workflow task."
	}
	return waiting{"workflow-task", reason}
}

func activityWait(open []rules.Activity) waiting {
	first := &open[0]
	reason := "Waiting for activity " + first.ActivityType + " on task queue " + first.TaskQueue + "."
	if first.Status == rules.ActivityRunning {
		reason = "Waiting for activity " + first.ActivityType + ", which runs its attempt " + strconv.FormatInt(first.AttemptCount, 10) + "."
	}
	if more := len(open) - 1; more > 0 {
		reason = reason[:len(reason)-1] + ", and for " + strconv.Itoa(more) + " more."
	}
	return waiting{"activity", reason}
}

func openWait(w *rules.Wait) waiting {
	if w.Kind == rules.WaitSignal {
		return waiting{"signal", "Waiting for signal " + w.Name + "."}
	}
	if w.Name == "" {
		return waiting{"condition", "Waiting for a condition."}
	}
	return waiting{"condition", "Waiting for condition " + w.Name + "."}
}
