package runtimetest

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dwserver/runtime"
	"dwserver/runtime/rules"
)

var startCases = []testCase{
	{"New", testStartNew}, {"WithoutID", testStartWithoutID}, {"Duplicate", testStartDuplicate},
	{"UseExisting", testStartUseExisting}, {"OtherNamespace", testStartOtherNamespace},
	{"RequestID", testStartRequestID}, {"Limits", testStartLimits}, {"Race", testStartRace},
	{"RecordsDefinition", testStartRecordsDefinition},
}

func testStartNew(t *testing.T, open Open) {
	x := newFixture(t, open)
	run := x.begun("wf", func(r *runtime.StartRequest) {
		r.ExecutionTimeout, r.RunTimeout, r.BusinessKey, r.Memo = 100, 50, "key", []byte(`{"m":1}`)
	})
	require.Equal(t, []string{"StartAccepted", "WorkflowStarted"}, x.history(run.RunID, 0))
	require.Equal(t, rules.RunPending, run.Status)
	require.Equal(t, x.now()+50_000_000, run.DeadlineAt)
	x.same(run, x.run(run.RunID), "the answer is what is stored")
	d, err := x.Describe(x.ctx(), target("wf"))
	require.NoError(t, err)
	require.Equal(t, `{"m":1}`, string(d.Input.Memo))
	require.Equal(t, `{"codec":"avro","blob":"AA=="}`, string(d.Input.Arguments))
	require.Equal(t, run.RunID, d.Instance.CurrentRunID)
}

func testStartWithoutID(t *testing.T, open Open) {
	x := newFixture(t, open)
	a, b := x.begun(""), x.begun("")
	require.NotEmpty(t, a.WorkflowID)
	require.NotEqual(t, a.WorkflowID, b.WorkflowID)
}

func testStartDuplicate(t *testing.T, open Open) {
	x := newFixture(t, open)
	run := x.begun("wf")
	other := func(r *runtime.StartRequest) { r.WorkflowType = "other" }
	for _, closed := range []bool{false, true} {
		if closed {
			x.terminate("wf")
		}
		for _, change := range []func(*runtime.StartRequest){func(*runtime.StartRequest) {}, other} {
			_, err := x.StartWorkflow(x.ctx(), startRequest("wf", change))
			r := x.refusal("duplicate_not_allowed", err)
			require.Equal(t, "instance_already_started", r.Fields["rejection_reason"])
			require.Equal(t, run.RunID, r.Fields["run_id"])
		}
	}
	require.Len(t, x.events(run.RunID), 4, "a refused start leaves nothing")
}

func testStartUseExisting(t *testing.T, open Open) {
	x := newFixture(t, open)
	existing := func(r *runtime.StartRequest) { r.UseExisting = true }
	run := x.begun("wf", existing)
	found, err := x.StartWorkflow(x.ctx(), startRequest("wf", existing))
	require.NoError(t, err)
	require.Equal(t, runtime.ReturnedActive, found.Outcome)
	require.Equal(t, run.RunID, found.Run.RunID)
	_, err = x.StartWorkflow(x.ctx(), startRequest("wf", existing, func(r *runtime.StartRequest) { r.WorkflowType = "other" }))
	x.refusal("duplicate_not_allowed", err)
	x.terminate("wf")
	_, err = x.StartWorkflow(x.ctx(), startRequest("wf", existing))
	x.refusal("duplicate_not_allowed", err)
}

func testStartOtherNamespace(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.begun("wf")
	_, err := x.StartWorkflow(x.ctx(), startRequest("wf", func(r *runtime.StartRequest) { r.Namespace = "elsewhere" }))
	r := x.refusal("workflow_id_reserved_in_namespace", err)
	require.NotContains(t, r.Fields, "run_id", "nothing of another namespace is told")
}

func testStartRequestID(t *testing.T, open Open) {
	x := newFixture(t, open)
	asked := func(digest string) func(*runtime.StartRequest) {
		return func(r *runtime.StartRequest) { r.RequestID, r.BodyDigest = "req", []byte(digest) }
	}
	run := x.begun("wf", asked("one"))
	for _, closed := range []bool{false, true} {
		if closed {
			x.terminate("wf")
		}
		again, err := x.StartWorkflow(x.ctx(), startRequest("wf", asked("one")))
		require.NoError(t, err)
		require.Equal(t, runtime.StartedNew, again.Outcome)
		x.same(x.run(run.RunID), again.Run, "the run as it now is")
		_, err = x.StartWorkflow(x.ctx(), startRequest("wf", asked("two")))
		x.refusal("request_id_conflict", err)
	}
	first := x.begun("", asked("one"))
	again, err := x.StartWorkflow(x.ctx(), startRequest("", asked("one")))
	require.NoError(t, err)
	require.Equal(t, first.WorkflowID, again.Run.WorkflowID, "also where the engine made the workflow id")
	x.restart()
	again, err = x.StartWorkflow(x.ctx(), startRequest("", asked("one")))
	require.NoError(t, err)
	require.Equal(t, first.RunID, again.Run.RunID)
}

func testStartLimits(t *testing.T, open Open) {
	x := newFixture(t, open, func(o *runtime.Options) {
		o.Limits = &rules.Limits{PayloadBytes: 3, MemoBytes: 9, SearchAttributeBytes: 9}
	})
	for kind, change := range map[string]func(*runtime.StartRequest){
		"payload_size":          func(r *runtime.StartRequest) { r.Arguments = []byte(`{"codec":"avro","blob":"AAAAAA=="}`) },
		"memo_size":             func(r *runtime.StartRequest) { r.Memo = []byte(`{"a":"bcd"}`) },
		"search_attribute_size": func(r *runtime.StartRequest) { r.SearchAttributes = []byte(`{"a":"bcd"}`) },
	} {
		_, err := x.StartWorkflow(x.ctx(), startRequest("wf", change))
		require.Equal(t, kind, x.refusal("structural_limit_exceeded", err).Fields["limit_kind"])
	}
	x.begun("wf")
}

// testStartRace: of many starts of one id one wins, and all answers of one request id are the same.
func testStartRace(t *testing.T, open Open) {
	x := newFixture(t, open)
	const n = 20
	var wg sync.WaitGroup
	var mu sync.Mutex
	outcomes, runs := map[string]int{}, map[string]bool{}
	for i := range n {
		wg.Go(func() {
			result, err := x.StartWorkflow(x.ctx(), startRequest("wf", func(r *runtime.StartRequest) { r.UseExisting = i%2 == 0 }))
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				var refused *runtime.Refusal
				if errors.As(err, &refused) {
					outcomes[refused.Reason]++
				}
				return
			}
			outcomes[result.Outcome]++
			runs[result.Run.RunID] = true
		})
		wg.Go(func() {
			result, err := x.StartWorkflow(x.ctx(), startRequest("asked", func(r *runtime.StartRequest) { r.RequestID = "req" }))
			mu.Lock()
			defer mu.Unlock()
			if assert.NoError(t, err) {
				runs[result.Run.WorkflowID+result.Run.RunID] = true
			}
		})
	}
	wg.Wait()
	require.Equal(t, 1, outcomes[runtime.StartedNew], fmt.Sprint(outcomes))
	require.Equal(t, n, outcomes[runtime.StartedNew]+outcomes[runtime.ReturnedActive]+outcomes["duplicate_not_allowed"])
	require.Len(t, runs, 2)
}

func testStartRecordsDefinition(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w", func(r *runtime.RegisterRequest) {
		r.Fingerprints = map[string]string{"flow": "sha256:1"}
		r.Contracts = map[string][]byte{"flow": []byte(`{"signals":["go"]}`)}
	})
	run := x.begun("wf")
	started := x.payload(run.RunID, "WorkflowStarted")
	require.Equal(t, "sha256:1", started["workflow_definition_fingerprint"])
	require.Equal(t, []any{"go"}, started["declared_signals"])
}
