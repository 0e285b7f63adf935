package rules

// Limits are the structural limits and budgets in force (commands-and-history.md 7, settled.md).
// 0 switches one off.
type Limits struct {
	PendingActivities      int64
	PendingChildren        int64
	PendingTimers          int64
	PendingSignals         int64
	PendingUpdates         int64
	CommandBatchSize       int64
	PayloadBytes           int64
	MemoBytes              int64
	SearchAttributeBytes   int64
	HistoryTransactionSize int64
	CompletionMaxEvents    int64
	CompletionMaxRows      int64
	CompletionMaxBytes     int64
}

// DefaultLimits are the contract's defaults.
func DefaultLimits() Limits {
	return Limits{
		PendingActivities: 2000, PendingChildren: 1000, PendingTimers: 2000, PendingSignals: 5000,
		PendingUpdates: 500, CommandBatchSize: 1000, PayloadBytes: 2 << 20, MemoBytes: 256 << 10,
		SearchAttributeBytes: 40 << 10, HistoryTransactionSize: 5000,
		CompletionMaxEvents: 5000, CompletionMaxRows: 20000, CompletionMaxBytes: 64 << 20,
	}
}

// exceeds answers whether value is over limit; a limit of 0 is off.
func exceeds(value, limit int64) bool { return limit > 0 && value > limit }

// LimitExceeded is the structural refusal of a limit kind (422; signals 409).
func LimitExceeded(kind string, value, limit int64) *Refusal {
	return Refuse("structural_limit_exceeded", "The "+kind+" limit is exceeded.").
		With("limit_kind", kind).With("current_value", value).With("configured_limit", limit)
}

// BudgetPressure is the advice on a history's size (commands-and-history.md 7).
type BudgetPressure struct {
	Pressure    string // ok, approaching, continue_as_new_recommended
	Dimensions  []string
	Recommended bool
}

// History budget thresholds: soft and hard.
const (
	softEvents, hardEvents = 8000, 10000
	softBytes, hardBytes   = 4 << 20, 5 << 20
	softFanOut, hardFanOut = 160, 200
)

// Budget judges a history of so many events and bytes with so many open activities and timers.
func Budget(events, bytes, fanOut int64) BudgetPressure {
	p := BudgetPressure{Pressure: "ok"}
	check := func(dim string, value, soft, hard int64) {
		if value >= soft {
			p.Dimensions = append(p.Dimensions, dim)
		}
		if value >= hard {
			p.Recommended = true
		}
	}
	check("event_count", events, softEvents, hardEvents)
	check("size_bytes", bytes, softBytes, hardBytes)
	check("fan_out", fanOut, softFanOut, hardFanOut)
	if p.Recommended {
		p.Pressure = "continue_as_new_recommended"
	} else if len(p.Dimensions) > 0 {
		p.Pressure = "approaching"
	}
	return p
}
