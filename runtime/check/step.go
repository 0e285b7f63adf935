package check

import "strings"

// An event belongs to a step of one of these families, each of which is numbered by payload.sequence. A
// wait and its timeout share a sequence, so a step is a family and a sequence.
const (
	activityStep  = "activity"
	timerStep     = "timer"
	conditionStep = "condition"
	signalStep    = "signal"
	markerStep    = "marker"
)

// role is what an event is to its step.
type role struct {
	family    string
	schedules bool
	ends      bool
}

var roles = map[string]role{
	"ActivityScheduled":         {activityStep, true, false},
	"ActivityStarted":           {activityStep, false, false},
	"ActivityHeartbeatRecorded": {activityStep, false, false},
	"ActivityRetryScheduled":    {activityStep, false, false},
	"ActivityCompleted":         {activityStep, false, true},
	"ActivityFailed":            {activityStep, false, true},
	"ActivityTimedOut":          {activityStep, false, true},
	"ActivityCancelled":         {activityStep, false, true},
	"TimerScheduled":            {timerStep, true, false},
	"TimerFired":                {timerStep, false, true},
	"TimerCancelled":            {timerStep, false, true},
	"ConditionWaitOpened":       {conditionStep, true, false},
	"ConditionWaitSatisfied":    {conditionStep, false, true},
	"ConditionWaitTimedOut":     {conditionStep, false, true},
	"SignalWaitOpened":          {signalStep, true, false},
	"SignalApplied":             {signalStep, false, true},
	"SideEffectRecorded":        {markerStep, true, true},
	"VersionMarkerRecorded":     {markerStep, true, true},
	"MemoUpserted":              {markerStep, true, true},
	"SearchAttributesUpserted":  {markerStep, true, true},
	"WorkflowContinuedAsNew":    {markerStep, true, true},
}

// isStep reports whether an event carries an authored sequence (commands-and-history.md 2.2).
func isStep(kind string) bool {
	_, ok := roles[kind]
	return ok || strings.HasPrefix(kind, "ChildWorkflow") || strings.HasPrefix(kind, "ChildRun") || strings.HasPrefix(kind, "ServiceCall")
}

type stepKey struct {
	family   string
	sequence int64
}

type step struct {
	ended   string // event that ended it, "" while open
	attempt int64  // number of the attempt that started last
}

// authored looks at an event of a step: scheduled once and first, ended at most once and last, attempts in order.
func (h *history) authored(e *event, d *document) {
	r, ok := roles[e.kind]
	if !ok {
		return
	}
	key := stepKey{r.family, d.Sequence}
	s := h.steps[key]
	if r.schedules != (s == nil) || d.Sequence < 1 || r.schedules && h.taken(key) {
		h.violate("step_scheduled", e, number("step", d.Sequence))
	}
	if s == nil {
		s = &step{}
		h.steps[key] = s
	}
	if s.ended != "" {
		h.violate("step_ended", e, number("step", d.Sequence), Field{"ended_by", s.ended})
	}
	if r.ends {
		s.ended = e.kind
	}
	if e.kind == "ActivityStarted" {
		if d.Attempt <= s.attempt {
			h.violate("step_attempts", e, number("step", d.Sequence), number("attempt", d.Attempt), number("after", s.attempt))
		}
		s.attempt = d.Attempt
	}
}

// taken reports whether an authored sequence is another step already. A timer may be the timeout of a wait.
func (h *history) taken(key stepKey) bool {
	for _, family := range []string{activityStep, timerStep, conditionStep, signalStep, markerStep} {
		if family == key.family || key.family == timerStep && (family == conditionStep || family == signalStep) {
			continue
		}
		if h.steps[stepKey{family, key.sequence}] != nil {
			return true
		}
	}
	return false
}
