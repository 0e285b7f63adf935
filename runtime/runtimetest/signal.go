package runtimetest

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dwserver/runtime"
	"dwserver/runtime/rules"
)

var signalCases = []testCase{
	{"Accept", testSignalAccept}, {"Refusals", testSignalRefusals}, {"Contract", testSignalContract},
	{"RequestID", testSignalRequestID}, {"DryRun", testSignalDryRun}, {"Limit", testSignalLimit},
	{"Order", testSignalOrder}, {"Conditions", testSignalConditions}, {"NameBound", testSignalNameBound},
}

func testSignalAccept(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	run := x.begun("wf")
	x.step("w", awaitSignal("go"))
	result := x.signal("wf", "go")
	require.Equal(t, []any{"signal", "accepted", "signal_received", run.RunID, int64(2), false}, []any{result.Command.Type,
		result.Command.Status, result.Command.Outcome, result.Command.RunID, result.Command.Sequence, result.Repeated})
	task := x.takeWorkflow("w")
	require.Equal(t, "workflow_signal", decode(t, task.Task.Payload)["resume_source_kind"])
	x.Clock.Advance(1e9)
	x.complete(task)
	d, err := x.Describe(x.ctx(), target("wf"))
	require.NoError(t, err)
	stored := d.Commands[1]
	require.Equal(t, x.now(), stored.AppliedAt)
	stored.AppliedAt = 0
	require.Equal(t, result.Command, stored, "applying it changes nothing else of the command")
}

func testSignalRefusals(t *testing.T, open Open) {
	x := newFixture(t, open, func(o *runtime.Options) { o.Limits = &rules.Limits{PayloadBytes: 3} })
	run := x.begun("wf")
	send := func(change func(*runtime.SignalRequest)) error {
		req := signalRequest("wf", "go")
		change(&req)
		_, err := x.SignalWorkflow(x.ctx(), req)
		return err
	}
	x.refusal("instance_not_found", send(func(r *runtime.SignalRequest) { r.WorkflowID = "none" }))
	x.refusal("instance_not_found", send(func(r *runtime.SignalRequest) { r.Namespace = "elsewhere" }))
	x.refusal("historical_run_command_rejected", send(func(r *runtime.SignalRequest) { r.RunID = "none" }))
	require.NoError(t, send(func(r *runtime.SignalRequest) { r.RunID = run.RunID }), "the current run by its id")
	r := x.refusal("structural_limit_exceeded", send(func(r *runtime.SignalRequest) { r.Arguments = []byte(`{"codec":"avro","blob":"AAAAAA=="}`) }))
	require.Equal(t, "rejected", r.Command.Status)
	x.refusal("runtime_reserved_signal", send(func(r *runtime.SignalRequest) { r.Name = "__durable_workflow_message_stream" }))
	before := x.events(run.RunID)
	x.terminate("wf")
	r = x.refusal("run_not_active", send(func(*runtime.SignalRequest) {}))
	require.Equal(t, []any{"rejected", "rejected_not_active", "run_not_active"}, []any{r.Command.Status, r.Command.Outcome, r.Command.RejectionReason})
	require.Len(t, x.events(run.RunID), len(before)+3, "request, rejected signal, end: a refused command is no event")
	commands, err := x.Store.ListCommands(x.ctx(), run.RunID)
	require.NoError(t, err)
	for i, c := range commands {
		require.Equal(t, int64(i+1), c.Sequence, "but it is recorded")
	}
	require.Len(t, commands, 6)
}

func testSignalContract(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w", func(r *runtime.RegisterRequest) {
		r.Contracts = map[string][]byte{"flow": []byte(`{"signals":["go","any"],"signal_contracts":[{"name":"go","parameters":[
			{"name":"by","position":0,"required":true},{"name":"why","position":1,"required":false}]},
			{"name":"any","parameters":[{"name":"rest","variadic":true}]}]}`)}
	})
	x.begun("wf")
	send := func(name string, n int) error {
		req := signalRequest("wf", name)
		req.ArgumentCount = n
		_, err := x.SignalWorkflow(x.ctx(), req)
		return err
	}
	require.Equal(t, []string{"go", "any"}, x.refusal("unknown_signal", send("stop", 0)).Fields["declared_signals"])
	require.Contains(t, x.refusal("invalid_signal_arguments", send("go", 0)).Errors, "by")
	require.Contains(t, x.refusal("invalid_signal_arguments", send("go", 3)).Errors, "input")
	for name, counts := range map[string][]int{"go": {1, 2, -1}, "any": {0, 1, 9}} {
		for _, n := range counts {
			require.NoError(t, send(name, n))
		}
	}
}

// testSignalRequestID: a repeat gets the original answer, without a second effect, also once the signal
// was applied and the run closed; also when both came at the same moment.
func testSignalRequestID(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	run := x.begun("wf")
	x.step("w", awaitSignal("go"))
	req := signalRequest("wf", "go")
	req.RequestID, req.BodyDigest = "req", []byte("one")
	var wg sync.WaitGroup
	var mu sync.Mutex
	commands := map[string]int{}
	for range 20 {
		wg.Go(func() {
			result, err := x.SignalWorkflow(x.ctx(), req)
			mu.Lock()
			defer mu.Unlock()
			if assert.NoError(t, err) {
				commands[result.Command.CommandID]++
			}
		})
	}
	wg.Wait()
	require.Len(t, commands, 1)
	x.step("w")
	for _, moment := range []string{"applied", "closed"} {
		if moment == "closed" {
			x.terminate("wf")
		}
		again, err := x.SignalWorkflow(x.ctx(), req)
		require.NoError(t, err, moment)
		require.True(t, again.Repeated)
		require.Equal(t, []any{run.RunID, "accepted", "signal_received"}, []any{again.Command.RunID, again.Command.Status, again.Command.Outcome})
		other := req
		other.BodyDigest = []byte("two")
		_, err = x.SignalWorkflow(x.ctx(), other)
		x.refusal("request_id_conflict", err)
	}
	received := 0
	for _, ev := range x.history(run.RunID, 0) {
		if ev == "SignalReceived" {
			received++
		}
	}
	require.Equal(t, 1, received)
}

func testSignalDryRun(t *testing.T, open Open) {
	x := newFixture(t, open)
	run := x.begun("wf")
	req := signalRequest("wf", "go")
	req.DryRun = true
	result, err := x.SignalWorkflow(x.ctx(), req)
	require.NoError(t, err)
	require.True(t, result.Preview)
	x.same(run, x.run(run.RunID), "nothing recorded")
}

// testSignalLimit: a run takes signals up to its limit, then refuses them, and can still be read and
// terminated (R83).
func testSignalLimit(t *testing.T, open Open) {
	x := newFixture(t, open, func(o *runtime.Options) { o.Limits = &rules.Limits{PendingSignals: 1000} })
	x.register("w")
	run := x.begun("wf")
	x.step("w", awaitSignal("never"))
	for i := range 1000 {
		x.signal("wf", fmt.Sprint("s", i%7))
	}
	_, err := x.SignalWorkflow(x.ctx(), signalRequest("wf", "go"))
	r := x.refusal("structural_limit_exceeded", err)
	require.Equal(t, []any{"pending_signal_count", int64(1001), int64(1000)}, []any{r.Fields["limit_kind"],
		r.Fields["current_value"], r.Fields["configured_limit"]})
	x.terminate("wf")
	var events []rules.Event
	for after := int64(0); after >= 0; {
		page, err := x.History(x.ctx(), runtime.HistoryRequest{Target: runTarget(run), After: after, PageSize: 300})
		require.NoError(t, err)
		events, after = append(events, page.Events...), page.NextAfter
	}
	require.Len(t, events, 3+1000+1+1000+1)
	require.Equal(t, x.events(run.RunID), events)
}

// testSignalOrder: signals of one wait after the other come in the order of acceptance.
func testSignalOrder(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	run := x.begun("wf")
	x.step("w", awaitSignal("go"))
	var ids []string
	for range 5 {
		ids = append(ids, x.signal("wf", "go").Command.CommandID)
	}
	for range 4 {
		x.step("w", awaitSignal("go"))
	}
	x.step("w")
	var applied []string
	for _, ev := range x.events(run.RunID) {
		if ev.EventType == "SignalApplied" {
			applied = append(applied, decode(t, ev.Payload)["workflow_command_id"].(string))
		}
	}
	require.Equal(t, ids, applied)
	x.nothing("w")
}

// testSignalConditions: a condition is looked at again for every signal, one after the other.
func testSignalConditions(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	run := x.begun("wf")
	x.step("w", condition("k", within(50)))
	for range 3 {
		x.signal("wf", "tick")
	}
	for range 3 {
		x.step("w", condition("k", within(50)))
	}
	x.nothing("w")
	opened, satisfied := 0, 0
	for _, ev := range x.events(run.RunID) {
		switch ev.EventType {
		case "ConditionWaitOpened":
			opened++
		case "ConditionWaitSatisfied":
			satisfied++
		}
	}
	require.Equal(t, []int{4, 3}, []int{opened, satisfied})
	x.due(50e9)
	require.Equal(t, "condition_timeout", decode(t, x.takeWorkflow("w").Task.Payload)["timer_kind"])
}

// testSignalNameBound: one wait takes one signal, whatever else is pending.
func testSignalNameBound(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	x.begun("wf")
	x.signal("wf", "other")
	x.step("w", awaitSignal("go"), awaitSignal("stop"))
	x.signal("wf", "stop")
	x.signal("wf", "go")
	for _, name := range []string{"stop", "go"} {
		task := x.takeWorkflow("w")
		require.Equal(t, name, decode(t, task.Task.Payload)["signal_name"])
		x.complete(task)
	}
	x.nothing("w")
}
