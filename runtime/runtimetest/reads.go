package runtimetest

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"dwserver/runtime"
)

var readCases = []testCase{
	{"Describe", testDescribe}, {"DescribeClosed", testDescribeClosed}, {"ListRuns", testListRuns},
	{"ListWorkflows", testListWorkflows}, {"Namespaces", testNamespaces},
}

func testDescribe(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	run := x.begun("wf")
	x.step("w", activity("act"), timer(5), awaitSignal("go", within(6)))
	for _, target := range []runtime.Target{target("wf"), runTarget(run)} {
		d, err := x.Describe(x.ctx(), target)
		require.NoError(t, err)
		x.same(x.run(run.RunID), d.Run)
		require.Equal(t, []int{1, 2, 1, 1}, []int{len(d.Activities), len(d.Timers), len(d.Waits), len(d.Commands)})
		require.Nil(t, d.CloseEvent)
	}
	_, err := x.Describe(x.ctx(), target("none"))
	x.refusal("instance_not_found", err)
	_, err = x.Describe(x.ctx(), runtime.Target{Namespace: "elsewhere", WorkflowID: "wf"})
	x.refusal("instance_not_found", err)
	_, err = x.Describe(x.ctx(), runtime.Target{Namespace: "default", WorkflowID: "wf", RunID: "none"})
	x.refusal("run_not_found", err)
}

func testDescribeClosed(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	x.failed(x.takeActivityOf("w", "wf"))
	x.step("w", command{Type: "fail_workflow", Message: ptr("boom")})
	d, err := x.Describe(x.ctx(), target("wf"))
	require.NoError(t, err)
	require.Equal(t, "WorkflowFailed", d.CloseEvent.EventType)
	require.Len(t, d.Failures, 1)
	require.Equal(t, "ActivityFailed", d.Failures[0].EventType)
}

func testListRuns(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	first := x.begun("wf", func(r *runtime.StartRequest) { r.Memo = []byte(`{"m":1}`) })
	x.step("w", again())
	answer, err := x.ListRuns(x.ctx(), target("wf"))
	require.NoError(t, err)
	require.Len(t, answer.Runs, 2)
	require.Equal(t, first.RunID, answer.Runs[0].RunID, "oldest first")
	require.Len(t, answer.Labels, 2)
	require.Equal(t, `{"m":1}`, string(answer.Labels[answer.Runs[1].RunID].Memo), "inherited")
	_, err = x.ListRuns(x.ctx(), target("none"))
	x.refusal("instance_not_found", err)
}

func testListWorkflows(t *testing.T, open Open) {
	x := newFixture(t, open)
	for i := range 30 { // ten at one instant each
		id := fmt.Sprint("wf", i)
		x.begun(id, func(r *runtime.StartRequest) { r.WorkflowType = []string{"flow", "other"}[i%2] })
		if i%3 == 0 {
			x.terminate(id)
		}
		if i%10 == 9 {
			x.Clock.Advance(1e9)
		}
	}
	list := func(req runtime.ListRequest) (ids []string) {
		req.Namespace, req.PageSize = "default", 7
		for {
			answer, err := x.ListWorkflows(x.ctx(), req)
			require.NoError(t, err)
			for _, run := range answer.Runs {
				ids = append(ids, run.WorkflowID)
			}
			if answer.Next == (runtime.ListPosition{}) {
				return ids
			}
			require.Len(t, answer.Runs, 7)
			req.After = answer.Next
		}
	}
	all := list(runtime.ListRequest{})
	require.Len(t, all, 30)
	require.Equal(t, "wf29", all[0], "newest first")
	require.Len(t, list(runtime.ListRequest{WorkflowType: "flow"}), 15)
	require.Len(t, list(runtime.ListRequest{Status: "running"}), 20)
	require.Len(t, list(runtime.ListRequest{Status: "terminated"}), 10)
	require.Len(t, list(runtime.ListRequest{Status: "failed", WorkflowType: "other"}), 5)
	require.Empty(t, list(runtime.ListRequest{Status: "completed"}))
	seen := map[string]bool{}
	for _, id := range all {
		require.False(t, seen[id], "each once")
		seen[id] = true
	}
}

func testNamespaces(t *testing.T, open Open) {
	x := newFixture(t, open)
	ns, err := x.Namespace(x.ctx(), "default")
	require.NoError(t, err, "created at start")
	require.Equal(t, "active", ns.Status)
	_, err = x.Namespace(x.ctx(), "none")
	x.refusal("namespace_not_found", err)
	x.restart()
	list, err := x.ListNamespaces(x.ctx())
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.Equal(t, ns, list[0])
}
