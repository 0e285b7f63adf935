package runtimetest

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"dwserver/runtime"
	"dwserver/runtime/rules"
	"dwserver/runtime/store"
)

var registerCases = []testCase{
	{"New", testRegisterNew}, {"Refusals", testRegisterRefusals}, {"Recovers", testRegisterRecovers},
	{"Deregister", testDeregister}, {"Fenced", testDeregisterFenced}, {"FencedLate", testDeregisterFencedLate},
	{"Heartbeat", testWorkerHeartbeat}, {"DrainSurvives", testDrainSurvives}, {"Restart", testRegistrationSurvivesRestart},
}

func testRegisterNew(t *testing.T, open Open) {
	x := newFixture(t, open)
	w := x.register("w", func(r *runtime.RegisterRequest) {
		r.Capabilities = []string{"gpu"}
		r.TaskSlots = []byte(`{"workflow_available":1}`)
	})
	require.Regexp(t, "^[0-9a-f]{32}$", w.RegistrationToken)
	require.Equal(t, []any{int64(1), rules.WorkerActive, x.now(), `["gpu"]`}, []any{w.Generation, w.Status, w.LastSeenAt, string(w.Capabilities)})
	again := x.register("w")
	require.Equal(t, int64(2), again.Generation)
	require.NotEqual(t, w.RegistrationToken, again.RegistrationToken, "every registration rotates it")
	require.NotEmpty(t, x.register("").WorkerID, "an id is made where none is given")
}

func testRegisterRefusals(t *testing.T, open Open) {
	x := newFixture(t, open)
	prints := func(print string) func(*runtime.RegisterRequest) {
		return func(r *runtime.RegisterRequest) { r.Fingerprints = map[string]string{"flow": print} }
	}
	first := x.register("w", prints("one"))
	x.begun("wf")
	x.takeWorkflow("w")
	_, err := x.Register(x.ctx(), registration("w", prints("two")))
	require.Equal(t, "flow", x.refusal("workflow_definition_changed", err).Fields["workflow_type"])
	_, err = x.Register(x.ctx(), registration("w", func(r *runtime.RegisterRequest) { r.Capabilities, r.ProtocolMinor = []string{"memo_upserts"}, 13 }))
	x.refusal("workflow_metadata_capability_protocol_mismatch", err)
	w, err := x.Store.ReadWorker(x.ctx(), "default", "w")
	require.NoError(t, err)
	require.Equal(t, first.Generation, w.Generation, "a refused registration leaves nothing")
	x.nothing("w")
	x.register("w", prints("one"))
	x.register("other", prints("two"))
	broken, err := x.Store.ReadWorker(x.ctx(), "default", "w")
	require.NoError(t, err)
	broken.Fingerprints = []byte(`{"flow":`)
	require.NoError(t, x.Store.Transition(x.ctx(), func(ctx context.Context, tx store.Tx) error {
		return tx.Apply(ctx, &rules.Effects{Worker: &broken})
	}))
	_, err = x.Register(x.ctx(), registration("w", prints("two")))
	require.ErrorIs(t, err, store.ErrBroken, "what cannot be read may differ")
	x.Clock.Advance(61 * time.Second)
	x.register("w", prints("two")) // no longer active: a new process with new code
}

// testRegisterRecovers: registering is the process boundary; what the earlier one held is taken back.
func testRegisterRecovers(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	x.register("v")
	x.begun("one")
	x.step("w", activity("act", retrying(2, 5)), activity("b"))
	act, once := x.takeActivity("w"), x.takeActivity("w")
	x.begun("two")
	task := x.takeWorkflow("w")
	x.begun("kept")
	kept := x.takeWorkflow("v")
	result, err := x.Register(x.ctx(), registration("w"))
	require.NoError(t, err)
	require.Equal(t, int64(1), result.RecoveredTasks, "the count names workflow tasks")
	again := x.takeWorkflow("v")
	require.Equal(t, task.Task.TaskID, again.Task.TaskID)
	require.Equal(t, int64(2), again.Task.AttemptCount)
	_, err = x.CompleteWorkflowTask(x.ctx(), completion(&task.Task, finish()))
	x.refusal("lease_owner_mismatch", err)
	x.complete(again, finish())
	x.complete(kept, finish())

	attempt, err := x.Store.ReadAttempt(x.ctx(), act.Attempt.AttemptID)
	require.NoError(t, err)
	require.Equal(t, rules.AttemptExpired, attempt.Status)
	require.Equal(t, "timeout", x.payload(act.Run.RunID, "ActivityRetryScheduled")["retry_reason"])
	require.Equal(t, "ActivityLeaseExpired", x.payload(once.Run.RunID, "ActivityFailed")["exception_type"])
	_, err = x.CompleteActivity(x.ctx(), success(act))
	x.refusal("stale_attempt", err)
	x.due(5e9)
	require.Equal(t, int64(2), x.takeActivity("v").Attempt.AttemptNumber)
}

func testDeregister(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	x.register("v")
	act := x.takeActivityOf("w", "one", retrying(2))
	x.begun("two")
	task := x.takeWorkflow("w")
	n, err := x.Deregister(x.ctx(), "default", "w")
	require.NoError(t, err)
	require.Equal(t, int64(1), n)
	_, err = x.Deregister(x.ctx(), "default", "w")
	x.refusal("worker_not_found", err)
	_, err = x.PollWorkflowTask(x.ctx(), poll("w"))
	x.refusal("worker_not_registered", err)
	_, err = x.HeartbeatWorker(x.ctx(), runtime.HeartbeatWorkerRequest{Namespace: "default", WorkerID: "w"})
	x.refusal("worker_not_registered", err)
	require.Equal(t, task.Task.TaskID, x.takeWorkflow("v").Task.TaskID, "claimable at once")
	require.Equal(t, act.Activity.ExecutionID, x.takeActivity("v").Activity.ExecutionID)
	_, err = x.CompleteActivity(x.ctx(), success(act))
	x.refusal("stale_attempt", err) // results after shutdown do not count (R33)
}

// testDeregisterFenced: a token ends its own registration and no newer one (R33).
func testDeregisterFenced(t *testing.T, open Open) {
	x := newFixture(t, open)
	first := x.register("w")
	second := x.register("w")
	for reason, args := range map[string][3]string{
		"worker_registration_lost_authority":  {"default", "w", first.RegistrationToken},
		"worker_registration_token_not_found": {"default", "w", "0123456789abcdef0123456789abcdef"},
	} {
		_, err := x.DeregisterFenced(x.ctx(), args[0], args[1], args[2])
		r := x.refusal(reason, err)
		require.Equal(t, []any{"w", args[2], false}, []any{r.Fields["worker_id"], r.Fields["registration_token"], r.Fields["retryable"]})
	}
	for _, args := range [][2]string{{"elsewhere", "w"}, {"default", "v"}} {
		_, err := x.DeregisterFenced(x.ctx(), args[0], args[1], second.RegistrationToken)
		x.refusal("worker_registration_token_not_found", err)
	}
	x.begun("wf")
	x.takeWorkflow("w") // it stays and polls
	for range 2 {
		n, err := x.DeregisterFenced(x.ctx(), "default", "w", second.RegistrationToken)
		require.NoError(t, err, "a repeat is answered with the receipt")
		require.Equal(t, int64(1), n)
	}
	third := x.register("w")
	n, err := x.DeregisterFenced(x.ctx(), "default", "w", second.RegistrationToken)
	require.NoError(t, err, "the receipt comes before a newer registration of the id")
	require.Equal(t, int64(1), n)
	x.takeWorkflow("w")
	x.restart()
	n, err = x.DeregisterFenced(x.ctx(), "default", "w", third.RegistrationToken)
	require.NoError(t, err)
	require.Equal(t, int64(1), n)
}

func testDeregisterFencedLate(t *testing.T, open Open) {
	x := newFixture(t, open)
	token := x.register("w").RegistrationToken
	_, err := x.DeregisterFenced(x.ctx(), "default", "w", token)
	require.NoError(t, err)
	x.Clock.Advance(10 * time.Minute)
	_, err = x.DeregisterFenced(x.ctx(), "default", "w", token)
	require.NoError(t, err, "ten minutes are kept")
	x.Clock.Advance(time.Microsecond)
	_, err = x.DeregisterFenced(x.ctx(), "default", "w", token)
	x.refusal("worker_registration_receipt_expired", err)
	n, err := x.Store.PruneRegistrations(x.ctx(), x.now(), 100)
	require.NoError(t, err)
	require.Equal(t, int64(1), n)
	_, err = x.DeregisterFenced(x.ctx(), "default", "w", token)
	x.refusal("worker_registration_token_not_found", err)
	active := x.register("w").RegistrationToken
	x.Clock.Advance(1000 * time.Hour)
	_, err = x.Store.PruneRegistrations(x.ctx(), x.now(), 100)
	require.NoError(t, err)
	_, err = x.DeregisterFenced(x.ctx(), "default", "w", active)
	require.NoError(t, err, "an active token is never pruned")
}

func testWorkerHeartbeat(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w", func(r *runtime.RegisterRequest) { r.TaskSlots, r.ProcessMetrics = []byte(`{"a":1}`), []byte(`{"m":1}`) })
	beat := runtime.HeartbeatWorkerRequest{Namespace: "default", WorkerID: "w", TaskSlots: []byte(`{"a":2}`), HeartbeatInterval: 30}
	x.Clock.Advance(time.Second)
	w, err := x.HeartbeatWorker(x.ctx(), beat)
	require.NoError(t, err)
	require.Equal(t, []any{`{"a":2}`, `{"m":1}`, int64(30), x.now(), int64(1)}, []any{string(w.TaskSlots), string(w.ProcessMetrics),
		w.HeartbeatInterval, w.LastSeenAt, w.Generation}, "absent documents stay")
	stored, err := x.Store.ReadWorker(x.ctx(), "default", "w")
	require.NoError(t, err)
	require.Equal(t, w, stored)
	seen := x.now()
	x.Clock.Advance(time.Second)
	_, err = x.HeartbeatWorker(x.ctx(), beat)
	require.NoError(t, err)
	stored, err = x.Store.ReadWorker(x.ctx(), "default", "w")
	require.NoError(t, err)
	require.Equal(t, seen, stored.LastSeenAt, "stored at most every few seconds")
	x.Clock.Advance(3 * time.Second)
	_, err = x.HeartbeatWorker(x.ctx(), beat)
	require.NoError(t, err)
	stored, err = x.Store.ReadWorker(x.ctx(), "default", "w")
	require.NoError(t, err)
	require.Equal(t, x.now(), stored.LastSeenAt)
}

// testDrainSurvives: an operator's drain of a build survives its registrations and heartbeats.
func testDrainSurvives(t *testing.T, open Open) {
	x := newFixture(t, open)
	build := func(id string) func(*runtime.RegisterRequest) {
		return func(r *runtime.RegisterRequest) { r.BuildID = id }
	}
	x.register("w", build("b1"))
	x.drain("w")
	_, err := x.HeartbeatWorker(x.ctx(), runtime.HeartbeatWorkerRequest{Namespace: "default", WorkerID: "w", HeartbeatInterval: 9})
	require.NoError(t, err)
	require.Equal(t, rules.WorkerDraining, x.register("w", build("b1")).Status)
	require.Equal(t, rules.WorkerActive, x.register("w", build("b2")).Status)
}

func testRegistrationSurvivesRestart(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	x.begun("wf")
	task := x.takeWorkflow("w")
	x.restart()
	x.complete(task, activity("act"))
	x.succeed(x.takeActivity("w"))
	x.step("w", finish())
}
