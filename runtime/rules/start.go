package rules

// StartSpec is a new workflow: the run row's fixed values and its documents.
type StartSpec struct {
	Run        Run // identity, routing, timeouts and status pending already set
	Input      RunInput
	Definition Definition // newest contract known for the type; zero when none
}

// Start makes the first run of a new workflow id: StartAccepted, WorkflowStarted and the first
// workflow task (control-plane.md 3). It returns the transition with all effects. fairness makes the
// look-up that places the task of a fairness key.
func Start(now int64, newID func() string, spec *StartSpec, limit Limits,
	fairness func(*Transition) func(queue, kind string) int64) *Transition {
	run := &spec.Run
	t := NewTransition(now, newID, run, limit)
	t.LastFairOrder = fairness(t)
	t.Eff.Run = nil
	c := Command{
		CommandID: newID(), WorkflowID: run.WorkflowID, RunID: run.RunID, Namespace: run.Namespace, Sequence: 1,
		Type: "start", TargetName: run.WorkflowType, Status: "accepted", Outcome: "started_new",
		AcceptedAt: now, AppliedAt: now,
	}
	run.LastCommandSequence = 1
	t.ByCommand(&c)
	t.Record("StartAccepted", 0, NewObject(512).Str("workflow_command_id", c.CommandID).
		Str("workflow_instance_id", run.WorkflowID).Str("workflow_run_id", run.RunID).
		Str("workflow_class", run.WorkflowType).Str("workflow_type", run.WorkflowType).
		Str("business_key", run.BusinessKey).Raw("memo", spec.Input.Memo).
		Raw("search_attributes", spec.Input.SearchAttributes).Str("outcome", "started_new"))
	t.Record("WorkflowStarted", 0, started(run, &spec.Input, &spec.Definition).Str("workflow_command_id", c.CommandID))
	t.Unattributed()
	t.addWorkflowTask(run, []byte("{}"), now)
	t.Eff.NewInstance = &Instance{
		WorkflowID: run.WorkflowID, Namespace: run.Namespace, WorkflowType: run.WorkflowType,
		CurrentRunID: run.RunID, RunCount: 1, CreatedAt: now,
	}
	t.Eff.NewRuns = []Run{*run}
	t.Eff.NewInputs = []RunInput{spec.Input}
	t.Eff.NewCommands = []Command{c}
	return t
}

// started is the payload of WorkflowStarted.
func started(run *Run, input *RunInput, def *Definition) *Object {
	o := NewObject(1024).Str("workflow_class", run.WorkflowType).Str("workflow_type", run.WorkflowType).
		Str("workflow_instance_id", run.WorkflowID).Str("workflow_run_id", run.RunID).
		Str("business_key", run.BusinessKey).Raw("memo", input.Memo).
		Raw("search_attributes", input.SearchAttributes)
	if run.ExecutionTimeout > 0 {
		o.Int("execution_timeout_seconds", run.ExecutionTimeout)
	}
	if run.RunTimeout > 0 {
		o.Int("run_timeout_seconds", run.RunTimeout)
	}
	o.Time("execution_deadline_at", run.ExecutionDeadlineAt).Time("run_deadline_at", run.RunDeadlineAt).
		Str("workflow_definition_fingerprint", input.DefinitionPrint)
	declared := members(def.Contract)
	for _, m := range [...][2]string{
		{"declared_queries", "queries"}, {"declared_query_contracts", "query_contracts"},
		{"declared_signals", "signals"}, {"declared_signal_contracts", "signal_contracts"},
		{"declared_updates", "updates"}, {"declared_update_contracts", "update_contracts"},
		{"declared_update_validators", "update_validators"},
	} {
		o.Raw(m[0], declared[m[1]])
	}
	return o.Str("continued_from_run_id", run.ContinuedFromRunID)
}

// SetDeadlines fixes a run's deadlines from its timeouts; executionDeadline is inherited by
// continued runs, 0 computes it.
func (r *Run) SetDeadlines(now, executionDeadline int64) {
	r.ExecutionDeadlineAt = executionDeadline
	if executionDeadline == 0 {
		r.ExecutionDeadlineAt = after(now, r.ExecutionTimeout)
	}
	r.RunDeadlineAt = after(now, r.RunTimeout)
	r.DeadlineAt = min(r.ExecutionDeadlineAt, r.RunDeadlineAt)
}
