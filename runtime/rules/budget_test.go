package rules

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A payload is charged for every place the contract keeps it in: event and receipt, of activities the row as well.
func TestPayloadsAreCharged(t *testing.T) {
	doc := []byte(`"` + strings.Repeat("A", 1000_000) + `"`)
	charged := func(limit int64, commands ...WorkflowCommand) int64 {
		w := newWorld(t)
		w.limit.CompletionMaxBytes = limit
		r := w.refused(commands...)
		require.Equal(t, "completion_bytes", r.Fields["limit_kind"])
		return r.Fields["current_value"].(int64)
	}
	for name, row := range map[string]struct {
		command  WorkflowCommand
		megabyte int64
	}{
		"schedule_activity": {scheduleActivity("a", func(c *WorkflowCommand) { c.Arguments = doc }), 3},
		"local arguments":   {local(func(c *WorkflowCommand) { c.Arguments = doc }), 3},
		"local result":      {local(func(c *WorkflowCommand) { c.Result = doc }), 3},
		"side effect":       {sideEffect(func(c *WorkflowCommand) { c.Result = doc }), 2},
		"workflow result":   {completeWorkflow(func(c *WorkflowCommand) { c.Result = doc }), 2},
		"new run":           {continueAsNew(func(c *WorkflowCommand) { c.Arguments = doc }), 2},
	} {
		n := charged(100_000, row.command)
		require.InDelta(t, row.megabyte*1000_000, n, 10_000, name)
	}
	require.Greater(t, charged(1, scheduleActivity("a"), scheduleActivity("a")), charged(1, scheduleActivity("a"))+3*rowBytes,
		"an event, an activity and its task each")
}

// Reports of local activities ask for much with little: they are counted before anything is built.
func TestLocalActivitiesAreCountedFirst(t *testing.T) {
	beats := func(n int) func(*WorkflowCommand) {
		return attempts(`[{"attempt_number":1,"outcome":"completed","heartbeats":[` +
			strings.TrimSuffix(strings.Repeat(`{"elapsed_ms":1},`, n), ",") + `]}]`)
	}
	w := newWorld(t)
	commands := []WorkflowCommand{local(beats(1000)), local(beats(1000)), local(beats(1000)), local(beats(1000)), local(beats(989))}
	requireLimit(t, w.refused(commands...), "history_transaction_size", 5*3+4989, 5000)
	commands[4] = local(beats(985))
	_, r := w.answer(w.tasks.rows[w.run().WorkflowTaskID], commands...)
	require.Nil(t, r, "exactly the limit, and the claim was usable")
	require.Len(t, w.history(3), 5000)

	w = newWorld(t)
	w.limit.CompletionMaxRows = 1004
	requireLimit(t, w.refused(local(beats(1000))), "completion_rows", 1003+2, 1004)

	w = newWorld(t)
	wide := func(c *WorkflowCommand) {
		c.RetryPolicy = &RetryPolicy{NonRetryableErrorTypes: []string{strings.Repeat("x", 1<<20)}}
	}
	r = w.refused(local(beats(1000), wide))
	require.Equal(t, "completion_bytes", r.Fields["limit_kind"])
	require.Greater(t, r.Fields["current_value"], int64(1003<<20))
}
