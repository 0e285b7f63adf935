package carriertest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"dwserver/runtime/rules"
	"dwserver/runtime/store"
)

// state is everything stored of the scene, as text: its runs with their history, activities, attempts,
// timers and tasks, what its worker holds, and the receipts of its polls.
func (s *scene) state() string {
	s.t.Helper()
	var out strings.Builder
	show := func(name string, row any) { out.WriteString(name + " " + text(row) + "\n") }
	tasks := map[string]bool{}
	for _, id := range s.tasks {
		tasks[id] = true
	}
	for _, id := range s.runs {
		s.runState(id, tasks, show)
	}
	for _, id := range ordered(tasks) {
		task, err := s.store.ReadTask(s.t.Context(), id)
		require.NoError(s.t, err)
		show("task", task)
	}
	s.heldState(show)
	return out.String()
}

func ordered(set map[string]bool) []string {
	ids := make([]string, 0, len(set))
	for id := range set {
		if id != "" {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// runState shows a run's rows and notes the tasks that they name.
func (s *scene) runState(runID string, tasks map[string]bool, show func(string, any)) {
	s.t.Helper()
	ctx := s.t.Context()
	run, err := s.store.ReadRun(ctx, runID)
	require.NoError(s.t, err)
	show("run", run)
	instance, err := s.store.ReadInstance(ctx, run.WorkflowID)
	require.NoError(s.t, err)
	show("instance", instance)
	if instance.CurrentRunID != runID && !slices.Contains(s.runs, instance.CurrentRunID) {
		s.runState(instance.CurrentRunID, tasks, show)
	}
	for _, ev := range s.history(runID) {
		show("event", ev)
		tasks[ev.WorkflowTaskID] = true
	}
	acts, err := s.store.ListActivities(ctx, runID, 0, 1000)
	require.NoError(s.t, err)
	for _, act := range acts {
		show("activity", act)
		tasks[act.TaskID] = true
		attempts, err := s.store.ListAttempts(ctx, act.ExecutionID)
		require.NoError(s.t, err)
		for _, attempt := range attempts {
			show("attempt", attempt)
			tasks[attempt.TaskID], tasks[attempt.NextTaskID] = true, true
		}
	}
	timers, err := s.store.ListOpenTimersOf(ctx, runID)
	require.NoError(s.t, err)
	for _, timer := range timers {
		show("timer", timer)
	}
	tasks[run.WorkflowTaskID] = true
}

// heldState shows what only a transaction reads: open tasks and leases, and the receipts.
func (s *scene) heldState(show func(string, any)) {
	s.t.Helper()
	ctx := s.t.Context()
	require.NoError(s.t, s.store.Store.Transition(ctx, func(ctx context.Context, tx store.Tx) error {
		for _, id := range s.runs {
			open, err := tx.ListOpenTasks(ctx, id)
			if err != nil {
				return err
			}
			for _, task := range open {
				show("open", task)
			}
		}
		leases, err := tx.ListLeases(ctx, namespace, s.worker())
		for _, task := range leases {
			show("lease", task)
		}
		return err
	}))
	for _, poll := range s.polls {
		receipt, err := s.store.ReadPollReceipt(ctx, namespace, poll.worker, poll.kind, poll.id)
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		require.NoError(s.t, err)
		show("receipt", receipt)
	}
}

// history is all events of a run; their sequences are contiguous from 1.
func (s *scene) history(runID string) []rules.Event {
	s.t.Helper()
	events, err := s.store.ListEvents(s.t.Context(), runID, 0, 1<<40, 1000)
	require.NoError(s.t, err)
	for i := range events {
		require.EqualValues(s.t, i+1, events[i].Sequence, "the history of %s has a gap", runID)
	}
	return events
}

func (s *scene) eventTypes(runID string) []string {
	s.t.Helper()
	var list []string
	for _, ev := range s.history(runID) {
		list = append(list, ev.EventType)
	}
	return list
}

// text is a row as text, documents readable.
func text(row any) string {
	value := reflect.ValueOf(row)
	var out strings.Builder
	for i := range value.NumField() {
		field := value.Field(i).Interface()
		if doc, ok := field.([]byte); ok {
			field = string(doc)
		}
		if field != "" && field != int64(0) {
			fmt.Fprintf(&out, "%s=%v ", value.Type().Field(i).Name, field)
		}
	}
	return out.String()
}

var (
	idPattern    = regexp.MustCompile(`ID\d{24}`)
	scenePattern = regexp.MustCompile(`s\d{4}`)
	pollPattern  = regexp.MustCompile(`poll-scene-\d+`)
)

// alike is a state without what differs between two scenes that do the same: names, and ids by the order
// of their first mention.
func alike(state string) string {
	state = scenePattern.ReplaceAllString(state, "scene")
	state = pollPattern.ReplaceAllString(state, "poll")
	seen := map[string]string{}
	return idPattern.ReplaceAllStringFunc(state, func(id string) string {
		if seen[id] == "" {
			seen[id] = fmt.Sprintf("id-%d", len(seen)+1)
		}
		return seen[id]
	})
}

// stored is a task as it is stored.
func (s *scene) stored(taskID string) rules.Task {
	s.t.Helper()
	task, err := s.store.ReadTask(s.t.Context(), taskID)
	require.NoError(s.t, err)
	return task
}

// leases is how many tasks of both kinds a worker holds.
func (w *world) leases(s *scene, worker string) (n int64) {
	s.t.Helper()
	require.NoError(s.t, w.store.Store.Transition(s.t.Context(), func(ctx context.Context, tx store.Tx) error {
		n = 0
		for _, kind := range []string{rules.KindWorkflow, rules.KindActivity} {
			held, err := tx.CountLeases(ctx, namespace, worker, kind, w.clock.Now().UnixMicro())
			if err != nil {
				return err
			}
			n += held
		}
		return nil
	}))
	return n
}

// apply writes rows past the runtime, for state that it never makes.
func (w *world) apply(s *scene, eff *rules.Effects) {
	s.t.Helper()
	require.NoError(s.t, w.store.Store.Transition(s.t.Context(), func(ctx context.Context, tx store.Tx) error {
		return tx.Apply(ctx, eff)
	}))
}

// same fails the test with the lines that differ between two states.
func same(t *testing.T, want, got string, about ...any) {
	t.Helper()
	if want == got {
		return
	}
	left, right := strings.Split(want, "\n"), strings.Split(got, "\n")
	var out strings.Builder
	for i := range max(len(left), len(right)) {
		var a, b string
		if i < len(left) {
			a = left[i]
		}
		if i < len(right) {
			b = right[i]
		}
		if a != b {
			fmt.Fprintf(&out, "\n- %s\n+ %s", a, b)
		}
	}
	require.Fail(t, "states differ"+out.String(), about...)
}
