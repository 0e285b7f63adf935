package storetest

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"dwserver/runtime/rules"
	"dwserver/runtime/store"
)

// scene is a worker with a leased task of each kind, a receipt, and tasks of each kind that are ready.
type scene struct {
	worker rules.Worker
	leased map[string]rules.Task
	ready  map[string][]rules.Task
	other  rules.Run // of the last ready activity
	queue  string
}

var kinds = []string{rules.KindActivity, rules.KindWorkflow}

func (x *suite) scene(t *testing.T) *scene {
	s := &scene{worker: fill[rules.Worker](x.last.Add(1)), leased: map[string]rules.Task{}, ready: map[string][]rules.Task{}, queue: x.id("queue")}
	s.worker.Namespace = "default"
	eff := &rules.Effects{Worker: &s.worker}
	add := func(kind string) *rules.Task {
		s.other = x.newRun(t)
		task := x.ready(s.other, s.queue)
		if kind == rules.KindActivity {
			var act rules.Activity
			act, task = x.activity(s.other, s.queue)
			act.ScheduledEvent, act.RetryPolicy, act.Parallel = 1, []byte{}, []byte{}
			eff.NewActs = append(eff.NewActs, act)
		}
		eff.NewInputs = append(eff.NewInputs, rules.RunInput{RunID: s.other.RunID, Arguments: []byte(`{}`), Memo: []byte{}, SearchAttributes: []byte{}})
		for seq := range int64(3) {
			eff.Events = append(eff.Events, rules.Event{RunID: s.other.RunID, Sequence: seq + 1, EventID: x.id("event"), Payload: []byte(`{}`)})
		}
		eff.NewTasks = append(eff.NewTasks, task)
		return &eff.NewTasks[len(eff.NewTasks)-1]
	}
	for _, kind := range kinds {
		task := add(kind)
		task.Status, task.LeaseOwner, task.LeaseExpiresAt = rules.TaskLeased, s.worker.WorkerID, 5000
		s.leased[kind] = *task
		for range 3 {
			s.ready[kind] = append(s.ready[kind], *add(kind))
		}
	}
	eff.PollReceipts = []rules.PollReceipt{s.receipt(rules.KindActivity, "old", s.leased[rules.KindActivity])}
	x.apply(t, eff)
	return s
}

func (s *scene) receipt(kind, id string, task rules.Task) rules.PollReceipt {
	return rules.PollReceipt{Namespace: "default", WorkerID: s.worker.WorkerID, Kind: kind, PollRequestID: id, TaskID: task.TaskID, Attempt: 1}
}

func (s *scene) claim(kind string) store.Claim {
	return store.Claim{Namespace: "default", TaskQueue: s.queue, Kind: kind, TypeNames: []string{"type", "other"}, BuildID: "b", Now: 1000, History: 10}
}

func (s *scene) expected() store.Expected {
	return store.Expected{Namespace: "default", WorkerID: s.worker.WorkerID, PollRequestIDs: []string{"old", "new"},
		Claims: []store.Claim{s.claim(rules.KindActivity), s.claim(rules.KindWorkflow)}}
}

// answers asks all that was expected, once more in one text.
func (s *scene) answers(ctx context.Context, t *testing.T, tx store.Tx) string {
	t.Helper()
	worker, err := tx.ShareWorker(ctx, "default", s.worker.WorkerID)
	require.NoError(t, err)
	text := fmt.Sprintln(worker.Generation)
	for _, kind := range kinds {
		for _, id := range []string{"old", "new"} {
			receipt, err := tx.GetPollReceipt(ctx, "default", s.worker.WorkerID, kind, id)
			text += fmt.Sprintln(receipt, err)
		}
		for _, now := range []int64{4999, 5000} {
			n, err := tx.CountLeases(ctx, "default", s.worker.WorkerID, kind, now)
			text += fmt.Sprintln(n, err)
		}
		head, err := tx.Head(ctx, s.claim(kind))
		text += fmt.Sprintln(head.TaskID, head.Priority, head.OrderAt, err)
	}
	return text
}

// testExpected: what was announced is answered as what was not, before and after writes, also those that were
// taken back.
func testExpected(t *testing.T, x *suite) {
	for _, kind := range kinds {
		s := x.scene(t)
		first := x.ready(s.other, s.queue)
		first.Priority = -1
		play := func(expect bool) (texts []string) {
			done := fmt.Errorf("undone")
			err := x.do(t, func(ctx context.Context, tx store.Tx) error {
				if expect {
					tx.Expect(s.expected())
				}
				_, err := tx.LockTask(ctx, kind, s.leased[kind].TaskID, "")
				require.NoError(t, err)
				ask := func() { texts = append(texts, s.answers(ctx, t, tx)) }
				ask()
				ended, next := s.leased[kind], s.ready[kind][0]
				ended.Status = rules.TaskCompleted
				require.NoError(t, tx.Apply(ctx, &rules.Effects{Tasks: []rules.Task{ended}}))
				ask()
				next.Status, next.LeaseOwner, next.LeaseExpiresAt = rules.TaskLeased, s.worker.WorkerID, 6000
				lease := &rules.Effects{Tasks: []rules.Task{next}, PollReceipts: []rules.PollReceipt{s.receipt(kind, "new", next)}}
				require.ErrorIs(t, tx.Savepoint(ctx, func() error {
					require.NoError(t, tx.Apply(ctx, lease))
					ask()
					return done
				}), done)
				ask()
				require.NoError(t, tx.Apply(ctx, lease))
				require.NoError(t, tx.Apply(ctx, &rules.Effects{NewTasks: []rules.Task{first}}))
				ask()
				return done
			})
			require.ErrorIs(t, err, done)
			return texts
		}
		require.Equal(t, play(false), play(true), kind)
	}
}

// testExpectedClaim: a claim that reads on finds what it needs for the answer.
func testExpectedClaim(t *testing.T, x *suite) {
	s := x.scene(t)
	for _, kind := range kinds {
		x.inside(t, func(ctx context.Context, tx store.Tx) {
			tx.Expect(s.expected())
			l, err := tx.Claim(ctx, s.claim(kind))
			require.NoError(t, err)
			require.Equal(t, s.ready[kind][0].TaskID, l.Task.TaskID)
			require.Equal(t, l.Task.ActivityExecutionID, l.Activity.ExecutionID)
			input, err := tx.GetRunInput(ctx, l.Run.RunID)
			require.NoError(t, err)
			require.Equal(t, l.Run.RunID, input.RunID)
			event, err := tx.GetEvent(ctx, l.Run.RunID, 1)
			require.NoError(t, err)
			require.EqualValues(t, 1, event.Sequence)
			for after, want := range []int{2, 1} {
				events, err := tx.ListEvents(ctx, l.Run.RunID, int64(after), 2, 10)
				require.NoError(t, err)
				require.Len(t, events, want)
				require.EqualValues(t, 2, events[want-1].Sequence)
			}
			events, err := tx.ListEvents(ctx, l.Run.RunID, 0, 3, 1)
			require.NoError(t, err)
			require.Len(t, events, 1)
		})
	}
}
