package runtimetest

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dwserver/runtime"
	"dwserver/runtime/rules"
)

var crowdCases = []testCase{
	{"FanOut100", func(t *testing.T, open Open) { testFanOut(t, open, 100, false) }},
	{"FanOut2000", func(t *testing.T, open Open) { testFanOut(t, open, 2000, false) }},
	{"Group500", func(t *testing.T, open Open) { testFanOut(t, open, 500, true) }},
	{"ClaimOnce", testClaimOnce}, {"EveryTaskLeasedOrThere", testClaimsAndDeaths},
	{"UnrelatedRuns", testUnrelatedRuns}, {"HeavyAmongLight", testHeavyAmongLight},
}

// testFanOut: one completion schedules n activities, 50 clients complete them all at once: no fault,
// sequences without gap or double, the run awake once they are through (R23).
func testFanOut(t *testing.T, open Open, n int64, grouped bool) {
	x := newFixture(t, open, func(o *runtime.Options) {
		o.Limits = ptr(rules.DefaultLimits())
		o.Limits.CommandBatchSize = n
	})
	x.register("w")
	run := x.begun("wf")
	commands := make([]command, n)
	for i := range commands {
		commands[i] = activity("act")
	}
	if grouped {
		commands = group(1, n, "act")
	}
	x.step("w", commands...)
	var clients sync.WaitGroup
	var mu sync.Mutex
	wakes := map[string]int{}
	for range 50 {
		clients.Go(func() {
			for {
				result, err := x.PollActivityTask(x.ctx(), poll("w"))
				if !assert.NoError(t, err) || result.Status == runtime.PollEmpty {
					return
				}
				out, err := x.CompleteActivity(x.ctx(), success(result.Activity))
				if !assert.NoError(t, err) {
					return
				}
				mu.Lock()
				wakes[out.NextTaskID]++
				mu.Unlock()
			}
		})
	}
	clients.Wait()
	events := map[string]int64{}
	for _, ev := range x.events(run.RunID) {
		events[ev.EventType]++
	}
	require.Equal(t, []int64{n, n, n}, []int64{events["ActivityScheduled"], events["ActivityStarted"], events["ActivityCompleted"]})
	task := x.takeWorkflow("w")
	if grouped {
		require.Equal(t, map[string]int{"": int(n) - 1, task.Task.TaskID: 1}, wakes, "only the last wakes")
	} else {
		require.Equal(t, map[string]int{task.Task.TaskID: int(n)}, wakes, "one task for all")
	}
	x.complete(task, finish())
}

// testClaimOnce: many polls on one queue, each (activity, attempt) seen exactly once (R07).
func testClaimOnce(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	x.register("v")
	for range 5 {
		x.begun("")
		commands := make([]command, 100)
		for i := range commands {
			commands[i] = activity("act")
		}
		x.step("w", commands...)
	}
	var clients sync.WaitGroup
	var mu sync.Mutex
	seen := map[string]int{}
	for i := range 50 {
		worker := []string{"w", "v"}[i%2]
		clients.Go(func() {
			for {
				result, err := x.PollActivityTask(x.ctx(), poll(worker))
				if !assert.NoError(t, err) || result.Status == runtime.PollEmpty {
					return
				}
				mu.Lock()
				seen[result.Activity.Activity.ExecutionID]++
				mu.Unlock()
			}
		})
	}
	clients.Wait()
	require.Len(t, seen, 500)
	for id, n := range seen {
		require.Equal(t, 1, n, id)
	}
}

// testClaimsAndDeaths: the process ends in the middle of claims: afterwards every task is either leased
// or there for the taking, and all work is done once its leases have run out (R13).
func testClaimsAndDeaths(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	const n = 40
	for range n {
		x.begun("")
	}
	for range 4 {
		var clients sync.WaitGroup
		for range 8 {
			clients.Go(func() {
				for range 2 {
					_, _ = x.PollWorkflowTask(x.ctx(), poll("w"))
				}
			})
		}
		x.end() // some claims are in, some meet a closed store
		clients.Wait()
		x.begin()
		x.checkAll()
	}
	x.Clock.Advance(61e9)
	require.NoError(t, x.RunDue(x.ctx()))
	x.register("w")
	for range n {
		x.step("w", finish())
	}
	x.nothing("w")
}

// testUnrelatedRuns: 200 clients start, signal, work on and finish runs that have nothing to do with one
// another: no operation is a fault (R37, R47).
func testUnrelatedRuns(t *testing.T, open Open) {
	x := newFixture(t, open)
	for i := range 10 {
		x.register(fmt.Sprint("w", i))
	}
	var clients sync.WaitGroup
	var runs [200]string
	for i := range runs {
		worker := fmt.Sprint("w", i%10)
		clients.Go(func() {
			started, err := x.StartWorkflow(x.ctx(), startRequest(fmt.Sprint("wf", i)))
			if !assert.NoError(t, err) {
				return
			}
			runs[i] = started.Run.RunID
			_, err = x.SignalWorkflow(x.ctx(), signalRequest(started.Run.WorkflowID, "go"))
			assert.NoError(t, err)
			for range 2 { // the signal came before the first task was taken, or has made a second one
				x.workOnce(worker)
			}
		})
	}
	clients.Wait()
	for x.workOnce("w0") {
	}
	for i := range runs {
		require.Equal(t, rules.RunCompleted, x.run(runs[i]).Status)
	}
}

// workOnce does the next task of either kind, if there is one: a run's first task schedules an activity, the
// task after it completes the run.
func (x *fixture) workOnce(worker string) bool {
	act, err := x.PollActivityTask(x.ctx(), poll(worker))
	if !assert.NoError(x, err) {
		return false
	}
	if act.Activity != nil {
		_, err = x.CompleteActivity(x.ctx(), success(act.Activity))
		return assert.NoError(x, err)
	}
	flow, err := x.PollWorkflowTask(x.ctx(), poll(worker))
	if !assert.NoError(x, err) || flow.Workflow == nil {
		return false
	}
	var commands []command
	for _, ev := range flow.Workflow.Page.Events {
		switch ev.EventType {
		case "WorkflowStarted":
			commands = []command{activity("act")}
		case "ActivityScheduled":
			commands = nil // woken by the signal while it waits
		case "ActivityCompleted":
			commands = []command{finish()}
		}
	}
	_, err = x.CompleteWorkflowTask(x.ctx(), completion(&flow.Workflow.Task, commands...))
	return assert.NoError(x, err)
}

// testHeavyAmongLight: one run with a megabyte of arguments keeps nobody's task from its worker (R39).
func testHeavyAmongLight(t *testing.T, open Open) {
	x := newFixture(t, open)
	x.register("w")
	heavy := []byte(`{"codec":"avro","blob":"` + strings.Repeat("AAAA", 1<<18) + `"}`)
	x.begun("heavy", func(r *runtime.StartRequest) { r.Arguments = heavy })
	for range 100 {
		x.begun("")
	}
	step := x.takeWorkflow("w")
	require.Equal(t, "heavy", step.Run.WorkflowID)
	require.Equal(t, string(heavy), string(step.Arguments))
	x.complete(step, activity("act", func(c *command) { c.Arguments = heavy }))
	require.Equal(t, string(heavy), string(x.takeActivity("w").Arguments))
	for range 100 {
		x.step("w", finish())
	}
	x.nothing("w")
}
