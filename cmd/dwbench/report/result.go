// Package report turns results into JSON and a table.
package report

// Result is what one repetition of a workload on one engine with one kind of fleet measured.
type Result struct {
	Workload string             `json:"workload"`
	Engine   string             `json:"engine"`
	Fleet    string             `json:"fleet"`
	Rep      int                `json:"rep"`
	Values   map[string]float64 `json:"values,omitempty"`
	Counts   map[string]int64   `json:"counts,omitempty"`   // what the workers counted: leases, declines
	Counters map[string]float64 `json:"counters,omitempty"` // what the server counted meanwhile
	Skipped  string             `json:"skipped,omitempty"`  // why it was not run
}

// Names of values. A name ends with its unit; one without is a ratio.
const (
	LastClose       = "last_close_s"
	OfFloor         = "of_floor" // last close over the physical floor
	OfNull          = "of_null"  // last close over that of the null server in the same repetition
	Throughput      = "workflows_per_s"
	ServerCPU       = "server_cpu_s"
	DatabaseCPU     = "database_cpu_s"
	WorkersCPU      = "workers_cpu_s"
	CPUPerStep      = "cpu_per_step_ms" // of server and database
	Transactions    = "transactions_per_step"
	Statements      = "statements_per_step"
	Commits         = "commits_per_step"
	CompleteP50     = "complete_p50_ms" // workflow and activity completions, as workers see them
	CompleteP99     = "complete_p99_ms"
	StartP50        = "start_p50_ms"
	StartP99        = "start_p99_ms"
	SignalP50       = "signal_p50_ms"
	SignalP99       = "signal_p99_ms"
	SignalRate      = "signals_per_s"
	FiredLateP50    = "fired_late_p50_ms" // from due to the recorded firing
	FiredLateP99    = "fired_late_p99_ms"
	FiredLateMax    = "fired_late_max_ms"
	DeliveredP50    = "delivered_late_p50_ms" // from due to the worker that has the task
	DeliveredP99    = "delivered_late_p99_ms"
	StepStart       = "step_at_event_100_ms"
	StepMiddle      = "step_at_event_10000_ms"
	StepEnd         = "step_at_end_ms"
	StepGrowth      = "step_growth" // event 10,000 over event 100
	ServerRSS       = "server_rss_mb"
	DatabaseRSS     = "database_rss_mb"
	CPUPercent      = "server_cpu_percent"
	HeldPolls       = "held_polls"
	ClaimP50        = "claim_p50_ms"
	ClaimP99        = "claim_p99_ms"
	ClaimCPU        = "claim_cpu_ms"
	ClaimGrowth     = "claim_growth" // p50 over that of the small database
	AnswerSize      = "answer_kb"
	StoreRate       = "store_transitions_per_s"
	BareRate        = "bare_transitions_per_s"
	StoreOfBareLoop = "store_of_bare"
)
