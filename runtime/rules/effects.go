package rules

// Effects is everything one transition writes, as data. The store's one effect writer puts it down
// together: one statement per table where the engine allows, in the order of the fields.
// Rows in a New… list are inserted; rows in a plain list replace the stored row of the same id.
type Effects struct {
	NewInstance *Instance
	Instance    *Instance // locked instance with a new current run

	Run        *Run  // the locked run after the transition; nil leaves the row alone
	RunBase    int64 // last_history_sequence the transition started from: guards the update of Run
	Joined     []JoinedRun
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
	Seen          *WorkerSeen    // stored right after the commit where waiting for the registration could deadlock
	DropReceipts  []PollReceipt  // deleted where they are as given
	PollReceipts  []PollReceipt  // inserted, after the drops
	Namespaces    []Namespace    // upserted
}

// JoinedRun is another locked run of the same transaction, changed by a claim that rides on the transition.
type JoinedRun struct {
	Run  Run
	Base int64 // as Effects.RunBase
}

// Join adds what a transition of another run writes. Neither may have made or changed a row that the other
// mentions.
func (e *Effects) Join(o *Effects) {
	if o.Run != nil {
		e.Joined = append(e.Joined, JoinedRun{*o.Run, o.RunBase})
	}
	e.Events = append(e.Events, o.Events...)
	e.NewTasks, e.Tasks = append(e.NewTasks, o.NewTasks...), append(e.Tasks, o.Tasks...)
	e.NewActs, e.Acts = append(e.NewActs, o.NewActs...), append(e.Acts, o.Acts...)
	e.NewTries, e.Tries = append(e.NewTries, o.NewTries...), append(e.Tries, o.Tries...)
	e.DropReceipts = append(e.DropReceipts, o.DropReceipts...)
	e.PollReceipts = append(e.PollReceipts, o.PollReceipts...)
	if o.Seen != nil {
		e.Seen = o.Seen
	}
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
		len(e.Joined)+len(e.NewRuns)+len(e.NewInputs)+len(e.Events)+len(e.NewTasks)+len(e.Tasks)+
			len(e.NewActs)+len(e.Acts)+len(e.NewTries)+len(e.Tries)+len(e.NewTimers)+len(e.Timers)+
			len(e.NewWaits)+len(e.Waits)+len(e.NewSignals)+len(e.Signals)+len(e.NewCommands)+
			len(e.Commands)+len(e.NewRequests)+len(e.Registrations)+len(e.Definitions)+
			len(e.DropReceipts)+len(e.PollReceipts)+len(e.Namespaces) == 0
}

// Fold leaves one mention of each row: one that the transition both made and changed is inserted in
// its last state, and of several changes the last stands. A writer may then put down each list in any order.
func (e *Effects) Fold() {
	e.NewTasks, e.Tasks = fold(e.NewTasks, e.Tasks, func(t *Task) string { return t.TaskID })
	e.NewActs, e.Acts = fold(e.NewActs, e.Acts, func(a *Activity) string { return a.ExecutionID })
	e.NewTries, e.Tries = fold(e.NewTries, e.Tries, func(a *Attempt) string { return a.AttemptID })
	e.NewTimers, e.Timers = fold(e.NewTimers, e.Timers, func(t *Timer) string { return t.TimerID })
	e.NewWaits, e.Waits = fold(e.NewWaits, e.Waits, func(w *Wait) string { return w.WaitID })
	e.NewSignals, e.Signals = fold(e.NewSignals, e.Signals, func(s *Signal) string { return s.SignalID })
}

func fold[T any](made, changed []T, id func(*T) string) (stillMade, stillChanged []T) {
	if len(changed) == 0 || len(made) == 0 && len(changed) == 1 {
		return made, changed
	}
	at := make(map[string]*T, len(made)+len(changed))
	for i := range made {
		at[id(&made[i])] = &made[i]
	}
	kept := changed[:0]
	for i := range changed {
		if row := at[id(&changed[i])]; row != nil {
			*row = changed[i]
			continue
		}
		kept = append(kept, changed[i])
		at[id(&changed[i])] = &kept[len(kept)-1]
	}
	return made, kept
}
