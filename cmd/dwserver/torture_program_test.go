package main

// The workflow of the torture, by authored sequence. Each step begins with a side effect whose value is
// the token of the completion that took the step, so that histories tell whose completion was recorded.
//
//	1       token    2        an activity
//	3       token    4        an activity (a worker that ran 2 may continue here by itself)
//	5       token    6, 7, 8  three activities, as a group
//	9       token    10       a signal wait: half a minute in the first run, a second in the other
//	11      token    12, 13   a local activity, and a timer of a second
//	14      token             the first run continues as new; the second one
//	                 15       waits a second for a condition that nothing satisfies,
//	16      token             and completes
var tortureGroup = []int64{6, 7, 8}

type tortureStep struct {
	token    int64   // authored sequence of its side effect
	awaits   []int64 // what has to have ended before the next step
	commands func(second bool) []any
}

var tortureSteps = []tortureStep{
	{1, []int64{2}, func(bool) []any { return []any{activityCommand()} }},
	{3, []int64{4}, func(bool) []any { return []any{activityCommand()} }},
	{5, tortureGroup, func(bool) []any { return groupCommands() }},
	{9, []int64{10}, func(second bool) []any {
		patience := 30
		if second { // nothing comes any more
			patience = 1
		}
		return []any{map[string]any{"type": "open_signal_wait", "signal_name": "go", "timeout_seconds": patience}}
	}},
	{11, []int64{13}, func(bool) []any {
		return []any{localCommand(), map[string]any{"type": "start_timer", "delay_seconds": 1}}
	}},
	{14, []int64{15}, func(second bool) []any {
		if second {
			return []any{map[string]any{"type": "open_condition_wait", "condition_key": "never", "timeout_seconds": 1}}
		}
		return []any{map[string]any{"type": "continue_as_new"}}
	}},
	{16, nil, func(bool) []any {
		return []any{map[string]any{"type": "complete_workflow", "result": payload("done")}}
	}},
}

func groupCommands() (commands []any) {
	for i := range tortureGroup {
		c := activityCommand()
		for key, value := range map[string]any{"group_id": "parallel-activities:6:3", "group_kind": "activity",
			"group_base_sequence": 6, "group_size": 3, "group_index": i} {
			c["parallel_"+key] = value
		}
		commands = append(commands, c)
	}
	return commands
}

func localCommand() map[string]any {
	return map[string]any{"type": "record_local_activity", "activity_type": "local", "outcome": "completed",
		"result": payload("local"), "retry_policy": map[string]any{"max_attempts": 2, "backoff_seconds": []int{0}},
		"attempts": []any{
			map[string]any{"attempt_number": 1, "outcome": "failed", "message": "once", "duration_ms": 5,
				"retry_reason": "failure", "backoff_seconds": 0},
			map[string]any{"attempt_number": 2, "outcome": "completed", "duration_ms": 5},
		}}
}

// tortureCommands are those of a step, with the token in front.
func tortureCommands(step int, second bool, token string) []any {
	return append([]any{map[string]any{"type": "record_side_effect", "result": payload(token)}},
		tortureSteps[step].commands(second)...)
}

// tortureReplay is what a history says about where a run stands.
type tortureReplay struct {
	second bool // the run continues another
	next   int  // the step to take now, or -1
	taken  int  // steps taken
}

func replayTorture(events []historyEvent, second bool) tortureReplay {
	taken, ended := map[int64]bool{}, map[int64]bool{}
	arrived, opened := false, false
	for _, e := range events {
		switch e.Type {
		case "SideEffectRecorded":
			taken[e.Payload.Sequence] = true
		case "ActivityCompleted", "TimerFired", "SignalApplied":
			ended[e.Payload.Sequence] = true
		case "SignalWaitOpened":
			opened = true
		case "SignalReceived":
			arrived = true
		}
	}
	ended[10] = ended[10] || arrived && opened
	r := tortureReplay{second: second, next: -1}
	for r.taken < len(tortureSteps) && taken[tortureSteps[r.taken].token] {
		r.taken++
	}
	if r.taken == len(tortureSteps) {
		return r
	}
	if r.taken > 0 {
		for _, sequence := range tortureSteps[r.taken-1].awaits {
			if !ended[sequence] {
				return r
			}
		}
	}
	r.next = r.taken
	return r
}
