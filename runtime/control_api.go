package runtime

import (
	"time"

	"dwserver/runtime/rules"
)

// StartRequest starts a workflow (control-plane.md 3), shape-checked by the caller.
type StartRequest struct {
	Namespace        string
	WorkflowID       string // "" lets the engine make one
	WorkflowType     string
	TaskQueue        string
	Arguments        []byte // payload envelope of the argument list, never empty
	BusinessKey      string
	Memo             []byte // JSON object, empty when none
	SearchAttributes []byte // JSON object, empty when none
	UseExisting      bool
	ExecutionTimeout int64 // seconds, 0 none
	RunTimeout       int64 // seconds, 0 none
	Priority         int64 // 0..9
	FairnessKey      string
	FairnessWeight   int64
	Compatibility    string
	RequestID        string // "" when absent; a repeat gets the first answer (settled.md, Repeats)
	BodyDigest       []byte // digest of what was asked; a repeat with another one is request_id_conflict
}

// StartResult is the new run, or the open one that use-existing found. A repeated request_id gets
// the outcome of the first request and its run as it now is.
type StartResult struct {
	Run     rules.Run
	Outcome string // started_new or returned_existing_active
}

// Target names a workflow, and a run where the run-targeted form was used.
type Target struct {
	Namespace  string
	WorkflowID string
	RunID      string // "" for the instance form
}

// SignalRequest sends a signal (4).
type SignalRequest struct {
	Target
	Name          string
	Arguments     []byte // payload envelope of the argument list, never empty
	ArgumentCount int    // -1 when unknown
	RequestID     string
	BodyDigest    []byte
	DryRun        bool
}

// CloseRequest cancels or terminates a run (4).
type CloseRequest struct {
	Target
	Reason     string
	RequestID  string
	BodyDigest []byte
}

// CommandResult is the recorded command and the run it went to, as it now is.
type CommandResult struct {
	Command  rules.Command
	Run      rules.Run
	Repeated bool // a request_id seen before: the original command, no second effect
	Preview  bool // dry run: nothing recorded
}

// Description is all that describe answers need.
type Description struct {
	Instance   rules.Instance
	Run        rules.Run
	Input      rules.RunInput
	CloseEvent *rules.Event  // the event that closed the run, nil while open
	Failures   []rules.Event // failed and timed-out activity events, newest last; failed runs only
	Waits      []rules.Wait
	Activities []rules.Activity // open
	Timers     []rules.Timer    // pending
	Task       rules.Task       // the open workflow task; zero when there is none
	Commands   []rules.Command
}

// HistoryRequest pages through a run's public history.
type HistoryRequest struct {
	Target
	After    int64
	PageSize int64
	Wait     bool          // wait for an event after After
	Closed   bool          // wait for the close, answer with the closing event only
	Timeout  time.Duration // how long to wait; 0: the long-poll time
}

// HistoryAnswer is a page; NextAfter is -1 when there is nothing more to come.
type HistoryAnswer struct {
	Run       rules.Run
	Events    []rules.Event
	NextAfter int64
}

// ListRequest lists runs, newest start first.
type ListRequest struct {
	Namespace    string
	WorkflowType string
	Status       string // running, completed, failed (buckets), cancelled, terminated; "" all
	PageSize     int64
	After        ListPosition
}

// ListPosition is the last row of the previous page; zero for the first page.
type ListPosition struct {
	StartedAt int64
	RunID     string
}

// ListAnswer is a page of runs; Next is zero on the last page.
type ListAnswer struct {
	Runs   []rules.Run
	Labels map[string]RunLabels // by run id; runs without any are left out
	Next   ListPosition
}

// RunLabels are the documents of a run that lists show. Lists never read its arguments.
type RunLabels struct {
	Memo             []byte // JSON object, empty when none
	SearchAttributes []byte // JSON object, empty when none
}

// RunsAnswer is every run of a workflow id, by run number.
type RunsAnswer struct {
	Instance rules.Instance
	Runs     []rules.Run
	Labels   map[string]RunLabels
}
