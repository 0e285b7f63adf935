package rules

// Effects is everything one transition writes, as data. The store's one effect writer puts it down
// together: one statement per table where the engine allows, in the order of the fields.
// Rows in a New… list are inserted; rows in a plain list replace the stored row of the same id.
type Effects struct {
	NewInstance *Instance
	Instance    *Instance // locked instance with a new current run

	Run        *Run  // the locked run after the transition; nil leaves the row alone
	RunBase    int64 // last_history_sequence the transition started from: guards the update of Run
	NewRuns    []Run
	NewInputs  []RunInput
	Events     []Event // sequences already assigned, contiguous per run
	NewTasks   []Task
	Tasks      []Task
	NewActs    []Activity
	Acts       []Activity
	NewTries   []Attempt
	Tries      []Attempt
	NewTimers  []Timer
	Timers     []Timer
	NewWaits   []Wait
	Waits      []Wait
	NewSignals []Signal
	Signals    []Signal

	NewCommands []Command
	Commands    []Command
	NewRequests []CommandRequest

	Worker        *Worker // upserted
	RemoveWorker  *Worker
	Registrations []Registration // upserted by token
	Definitions   []Definition   // upserted
	Seen          *WorkerSeen
	PollReceipts  []PollReceipt // upserted
	Namespaces    []Namespace   // upserted
}

// WorkerSeen moves a worker's last_seen_at forward.
type WorkerSeen struct {
	Namespace string
	WorkerID  string
	At        int64
}

// Empty reports whether the transition writes nothing at all.
func (e *Effects) Empty() bool {
	return e.NewInstance == nil && e.Instance == nil && e.Run == nil && e.Worker == nil &&
		e.RemoveWorker == nil && e.Seen == nil &&
		len(e.NewRuns)+len(e.NewInputs)+len(e.Events)+len(e.NewTasks)+len(e.Tasks)+
			len(e.NewActs)+len(e.Acts)+len(e.NewTries)+len(e.Tries)+len(e.NewTimers)+len(e.Timers)+
			len(e.NewWaits)+len(e.Waits)+len(e.NewSignals)+len(e.Signals)+len(e.NewCommands)+
			len(e.Commands)+len(e.NewRequests)+len(e.Registrations)+len(e.Definitions)+
			len(e.PollReceipts)+len(e.Namespaces) == 0
}
