package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// Collecting is put off until this much garbage is there, or as much as there is live memory if that is
// more. A busy server's live heap is some 15 MB: by Go's default it would be collected every 15 MB, for
// a tenth of the server's CPU. With much live memory, as with 10,000 held polls, Go's default stays.
const garbage = 64 << 20

// setGC sets the collector's pace after every cycle, unless GOGC says what it is to be.
func setGC(getenv func(string) string) {
	if getenv("GOGC") == "" {
		(&pace{percent: 100}).follow()
	}
}

// pace is the percentage that is set.
type pace struct{ percent int }

// follow sets the percentage now and again after each cycle: that of the garbage it becomes.
func (p *pace) follow() {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	// A cycle's work stops the world, so small changes are left.
	if want := percent(live[0].Value.Uint64()); want > p.percent*5/4 || want < p.percent*4/5 {
		p.percent = want
		debug.SetGCPercent(want)
	}
	mark := new(*pace)
	runtime.AddCleanup(mark, func(p *pace) { p.follow() }, p)
}

// percent is the garbage to allow for so much live memory, as GOGC counts it: 100 at least, and no more
// than 400, as stacks count too.
func percent(live uint64) int {
	if live == 0 {
		return 400
	}
	return int(min(max(garbage*100/live, 100), 400))
}
