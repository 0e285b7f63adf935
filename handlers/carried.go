package handlers

import (
	"dwserver/gen/worker"
	"dwserver/handlers/jsondoc"
	"dwserver/handlers/schema"
	"dwserver/runtime"
	"dwserver/runtime/rules"
)

// carriedSchemas check what rides on a completion. A break of them declines the rider and never
// refuses the completion (carried-polls.md 4), so the operations' own schemas leave it open.
type carriedSchemas struct {
	activityPoll *schema.Schema
	workflowPoll *schema.Schema
	continuation *schema.Schema
}

// carriersOf reads the polls that a completion carries.
func (x *exchange) carriersOf(body jsondoc.Value) runtime.Carriers {
	return runtime.Carriers{
		ActivityPoll: x.carriedPoll(body.Member("activity_poll"), x.s.carried.activityPoll),
		WorkflowPoll: x.carriedPoll(body.Member("workflow_poll"), x.s.carried.workflowPoll),
	}
}

func present(v jsondoc.Value) bool { return !v.IsZero() && v.Kind() != jsondoc.Null }

// checked parses and checks a rider; nil when it breaks its schema. The caller releases it.
func checked(v jsondoc.Value, s *schema.Schema) *jsondoc.Doc {
	if v.Kind() != jsondoc.Object {
		return nil
	}
	doc, err := jsondoc.Parse(v.Raw(), recordedDepth)
	if err != nil {
		return nil
	}
	if s.Check(doc) != nil {
		doc.Release()
		return nil
	}
	return doc
}

func (x *exchange) carriedPoll(v jsondoc.Value, s *schema.Schema) *runtime.CarriedPoll {
	if !present(v) {
		return nil
	}
	doc := checked(v, s)
	if doc == nil {
		return &runtime.CarriedPoll{Invalid: true}
	}
	defer doc.Release()
	var in worker.CarriedWorkflowPollRequest // the activity poll's members are among the workflow poll's
	if doc.Root().Decode(&in) != nil {
		return &runtime.CarriedPoll{Invalid: true}
	}
	poll := runtime.PollRequest{
		Namespace: x.namespace, WorkerID: in.WorkerID, TaskQueue: in.TaskQueue, BuildID: value(in.BuildID, ""),
		PollRequestID: in.PollRequestID, HistoryPageSize: int64(value(in.HistoryPageSize, 0)), ProtocolMinor: x.minor,
	}
	for _, kind := range in.TaskKinds {
		poll.TaskKinds = append(poll.TaskKinds, string(kind))
	}
	return &runtime.CarriedPoll{PollRequest: poll}
}

// continuationOf reads what the workflow does next, nil when the request does not say.
func (x *exchange) continuationOf(v jsondoc.Value, leaseOwner string) *runtime.Continuation {
	if !present(v) {
		return nil
	}
	doc := checked(v, x.s.carried.continuation)
	if doc == nil {
		return &runtime.Continuation{Invalid: true}
	}
	root := doc.Root() // not released: the commands keep pieces of it
	commands := root.Member("commands")
	next := &runtime.Continuation{
		RunID: root.Member("run_id").Text(), BaseHistorySequence: integerOf(root.Member("base_history_sequence")),
		Commands: commandsOf(commands), ProtocolMinor: x.minor,
	}
	// The receipt is that of the completion these commands stand for.
	var completion objectWriter
	completion.text("lease_owner", leaseOwner)
	completion.integer("workflow_task_attempt", 1)
	completion.raw("commands", commands.Raw())
	stands, err := jsondoc.Parse(completion.bytes(), recordedDepth)
	if err != nil {
		return &runtime.Continuation{Invalid: true}
	}
	next.BodyDigest = stands.Root().Digest()
	stands.Release()
	return next
}

// carriedAnswers adds what became of the carried polls; one that was not attempted is left out.
func (x *exchange) carriedAnswers(out *objectWriter, answers *runtime.CarriedAnswers) {
	x.carriedAnswer(out, "activity_poll", answers.ActivityPoll, activityPollAnswer)
	x.carriedAnswer(out, "workflow_poll", answers.WorkflowPoll, workflowPollAnswer)
}

// carriedAnswer embeds the whole body that the worker's own poll would get, envelope included.
func (x *exchange) carriedAnswer(out *objectWriter, name string, answer *runtime.CarriedAnswer, body func(*runtime.PollResult) []byte) {
	if answer == nil {
		return
	}
	out.begin(name, 64)
	out.boolean("leased", answer.Lease != nil)
	if answer.Lease == nil {
		out.text("reason", answer.Decline.Reason())
	} else {
		text := body(answer.Lease)
		out.grow(len(x.s.envelope.text) + len(text))
		out.key("answer")
		out.out = append(out.out, x.s.envelope.text...)
		out.out = append(out.out, text[1:]...)
	}
	out.end()
}

// continuationAnswer adds what became of a continuation.
func continuationAnswer(out *objectWriter, answer *runtime.ContinuationAnswer) {
	if answer == nil {
		return
	}
	out.begin("workflow_continuation", 256)
	out.boolean("accepted", answer.Decline == nil)
	if answer.Decline != nil {
		out.text("reason", answer.Decline.Reason())
		out.end()
		return
	}
	out.text("task_id", answer.TaskID)
	out.integer("workflow_task_attempt", answer.Attempt)
	out.text("run_status", answer.RunStatus)
	out.texts("created_task_ids", answer.CreatedTaskIDs)
	out.integer("last_history_sequence", answer.LastHistorySequence)
	out.end()
}

// texts adds a list of strings.
func (w *objectWriter) texts(name string, values []string) {
	w.beginList(name)
	for _, value := range values {
		w.element()
		w.out = rules.AppendString(w.out, value)
	}
	w.endList()
}
