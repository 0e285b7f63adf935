package rules

// This file charges a completion for what it persists, before any of it is written (write-path.md 5,
// commands-and-history.md 7).

// What a row costs besides its documents: ids, names, numbers and their index entries; and the least that
// an event of a local activity takes.
const (
	rowBytes        = 256
	localEventBytes = 512
)

// charge is what a completion persists, or would.
type charge struct{ events, rows, bytes int64 }

// over is the refusal of a charge that breaks a budget.
func (c *charge) over(limit Limits) *Refusal {
	switch {
	case exceeds(c.events, limit.HistoryTransactionSize):
		return LimitExceeded("history_transaction_size", c.events, limit.HistoryTransactionSize)
	case exceeds(c.events, limit.CompletionMaxEvents):
		return LimitExceeded("completion_events", c.events, limit.CompletionMaxEvents)
	case exceeds(c.rows, limit.CompletionMaxRows):
		return LimitExceeded("completion_rows", c.rows, limit.CompletionMaxRows)
	case exceeds(c.bytes, limit.CompletionMaxBytes):
		return LimitExceeded("completion_bytes", c.bytes, limit.CompletionMaxBytes)
	}
	return nil
}

// checkPlan refuses a batch whose reports of local activities alone break a budget. They are the one
// command of many events, and each of these repeats the retry policy: what a small request asks for may
// be too much to build, let alone to write.
func checkPlan(commands []WorkflowCommand, limit Limits) *Refusal {
	var c charge
	for i := range commands {
		if commands[i].Type == "record_local_activity" {
			c.plan(&commands[i])
		}
	}
	return c.over(limit)
}

// plan adds the least that a record_local_activity persists; its events and rows are exact.
func (c *charge) plan(command *WorkflowCommand) {
	attempts := int64(len(command.Attempts))
	events := 1 + 2*attempts // scheduled; each attempt's start and its end or retry
	for i := range command.Attempts {
		events += int64(len(command.Attempts[i].Heartbeats))
	}
	c.events += events
	c.rows += events + 1 + attempts
	c.bytes += events * (localEventBytes + command.RetryPolicy.leastBytes())
}

// leastBytes is what a policy's lists take in a document, at least.
func (p *RetryPolicy) leastBytes() (n int64) {
	if p == nil {
		return 0
	}
	for _, name := range p.NonRetryableErrorTypes {
		n += int64(len(name))
	}
	return n + 2*int64(len(p.BackoffSeconds))
}

// checkBudget charges the completion for everything it is about to write.
func (t *Transition) checkBudget(commands []WorkflowCommand) *Refusal {
	var c charge
	c.write(&t.Eff)
	for i := range commands {
		c.payloads(&commands[i])
	}
	return c.over(t.Limit)
}

// payloads adds what a command's payloads cost besides the event that has them. The contract keeps them in
// the row of an activity as well, and the whole request with the receipt; that this store does not is
// its own affair (docs/decisions/0011).
func (c *charge) payloads(command *WorkflowCommand) {
	places := int64(1)
	if command.Type == "schedule_activity" || command.Type == "record_local_activity" {
		places = 2
	}
	c.bytes += places * int64(len(command.Arguments)+len(command.Result)+len(command.Exception))
}

// write adds the rows of a transition with their documents.
func (c *charge) write(e *Effects) {
	c.events = int64(len(e.Events))
	eachRow(func(r *Event) { c.row(int64(len(r.EventType)), r.Payload) }, e.Events)
	eachRow(func(r *RunInput) { c.row(0, r.Arguments, r.Memo, r.SearchAttributes) }, e.NewInputs)
	eachRow(func(r *Task) { c.row(0, r.Payload) }, e.NewTasks, e.Tasks)
	eachRow(func(r *Activity) { c.row(0, r.RetryPolicy, r.Parallel) }, e.NewActs, e.Acts)
	eachRow(func(*Attempt) { c.row(0) }, e.NewTries, e.Tries)
	eachRow(func(r *Timer) { c.row(0, r.Parallel) }, e.NewTimers, e.Timers)
	eachRow(func(r *Wait) { c.row(int64(len(r.Name)), r.Parallel) }, e.NewWaits, e.Waits)
	eachRow(func(r *Signal) { c.row(0, r.Arguments) }, e.NewSignals, e.Signals)
	eachRow(func(*Command) { c.row(0) }, e.NewCommands, e.Commands)
	eachRow(func(r *Run) { c.row(0, r.PendingWake) }, e.NewRuns)
}

func eachRow[T any](add func(*T), lists ...[]T) {
	for _, list := range lists {
		for i := range list {
			add(&list[i])
		}
	}
}

// row adds one row.
func (c *charge) row(text int64, docs ...[]byte) {
	c.rows++
	c.bytes += rowBytes + text
	for _, doc := range docs {
		c.bytes += int64(len(doc))
	}
}
