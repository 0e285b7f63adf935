// Package usage reads what processes take of the machine.
package usage

import "time"

// Process is what one process, or a group of them, has taken so far.
type Process struct {
	CPU time.Duration // user and system time
	RSS int64         // resident bytes now; 0 for a group
}

// Since is the CPU time taken after an earlier reading.
func (p Process) Since(earlier Process) time.Duration { return p.CPU - earlier.CPU }
