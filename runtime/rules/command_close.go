package rules

import "strconv"

// completeWorkflow ends the run successfully; what is still open is settled first (3.4).
func (a *application) completeWorkflow(c *WorkflowCommand) {
	a.settle(a.in.Open, "Workflow completed.", "", a.in.Task.TaskID, false)
	result := Envelope(c.Result)
	payload := NewObject(512+len(result)).Raw("output", result)
	if result != nil {
		payload.Str("payload_codec", "avro")
	}
	a.closeRun(RunCompleted, "completed", "WorkflowCompleted", 0, payload)
}

// failWorkflow ends the run as failed (3.4).
func (a *application) failWorkflow(c *WorkflowCommand) {
	a.settle(a.in.Open, "Workflow failed.", "", a.in.Task.TaskID, false)
	class, kind := deref(c.ExceptionClass), deref(c.ExceptionType)
	exception := c.Exception
	if exception == nil {
		exception = NewObject(256).Str("class", class).Str("type", kind).Str("message", *c.Message).Bytes()
	}
	a.closeRun(RunFailed, "failed", "WorkflowFailed", 0, NewObject(1024+len(exception)).
		Str("failure_id", a.NewID()).Str("source_kind", "workflow_run").Str("source_id", a.Run.RunID).
		Str("failure_category", "application").Bool("non_retryable", isTrue(c.NonRetryable)).
		Str("exception_type", kind).Str("exception_class", class).Str("message", *c.Message).
		Raw("exception", exception))
}

// continueAsNew ends the run and starts the next one of the same instance (3.4, settled.md): open
// activities and timers are settled, unapplied signals move on with their ids.
func (a *application) continueAsNew(c *WorkflowCommand) {
	a.settle(a.in.Open, "Workflow continued as new.", "", a.in.Task.TaskID, true)
	old := a.Run
	run := a.continued(c)
	linkID := a.NewID()
	a.closeRun(RunCompleted, "continued", "WorkflowContinuedAsNew", a.next(), NewObject(512).
		Int("sequence", a.next()).Str("continued_to_run_id", run.RunID).
		Int("continued_to_run_number", run.RunNumber).Str("workflow_link_id", linkID).
		Str("closed_reason", "continued"))
	input := a.in.Input
	input.RunID = run.RunID
	if arguments := Envelope(c.Arguments); arguments != nil {
		input.Arguments = arguments
	}
	a.Unattributed()
	a.append(run, "WorkflowStarted", 0, started(run, &input, &Definition{}).Str("workflow_link_id", linkID).Bytes())
	a.carrySignals(run)
	a.created(a.addWorkflowTask(run, []byte("{}"), a.Now).TaskID)
	instance := a.in.Instance
	instance.CurrentRunID, instance.RunCount = run.RunID, run.RunNumber
	instance.WorkflowType = run.WorkflowType
	a.Eff.Instance = &instance
	a.Eff.NewRuns = append(a.Eff.NewRuns, *run)
	a.Eff.NewInputs = append(a.Eff.NewInputs, input)
	old.PendingSignals = 0
}

// continued is the new run's row: identity, routing and execution deadline inherited.
func (a *application) continued(c *WorkflowCommand) *Run {
	old := a.Run
	run := &Run{
		RunID: a.NewID(), WorkflowID: old.WorkflowID, Namespace: old.Namespace, RunNumber: old.RunNumber + 1,
		WorkflowType: old.WorkflowType, TaskQueue: old.TaskQueue, Status: RunPending, Priority: old.Priority,
		FairnessKey: old.FairnessKey, FairnessWeight: old.FairnessWeight, Compatibility: old.Compatibility,
		BusinessKey: old.BusinessKey, ExecutionTimeout: old.ExecutionTimeout, RunTimeout: old.RunTimeout,
		MessagePosition: old.MessagePosition, ContinuedFromRunID: old.RunID, StartedAt: a.Now, LastProgressAt: a.Now,
	}
	if c.WorkflowType != nil {
		run.WorkflowType = trimmed(c.WorkflowType)
	}
	if queue := trimmed(c.Queue); queue != "" {
		run.TaskQueue = queue
	}
	run.SetDeadlines(a.Now, old.ExecutionDeadlineAt)
	return run
}

// carrySignals moves unapplied signals to the new run, in the order of acceptance.
func (a *application) carrySignals(run *Run) {
	for i := range a.in.Waits.Signals {
		s := &a.in.Waits.Signals[i]
		if s.Status != SignalReceived {
			continue
		}
		run.LastCommandSequence++
		s.RunID, s.CommandSequence = run.RunID, run.LastCommandSequence
		s.WaitID = a.in.Waits.carriedWaitID(s, run)
		s.ReceivedSequence = a.append(run, "SignalReceived", 0, s.received(run).Bytes())
		run.PendingSignals++
		a.Eff.Signals = append(a.Eff.Signals, *s)
	}
}

func intList(values []int64) []byte {
	out := []byte{'['}
	for i, v := range values {
		if i > 0 {
			out = append(out, ',')
		}
		out = strconv.AppendInt(out, v, 10)
	}
	return append(out, ']')
}

func stringList(values []string) []byte {
	out := []byte{'['}
	for i, v := range values {
		if i > 0 {
			out = append(out, ',')
		}
		out = AppendString(out, v)
	}
	return append(out, ']')
}

// distinct leaves out what was there before.
func distinct(values []string) []string {
	if len(values) < 2 {
		return values
	}
	seen := make(map[string]bool, len(values))
	out := make([]string, 0, len(values))
	for _, v := range values {
		if !seen[v] {
			out, seen[v] = append(out, v), true
		}
	}
	return out
}
