//go:build !linux

package usage

import (
	"errors"
	"time"
)

// Of needs /proc.
func Of(int, bool) (Process, error) { return Process{}, errors.ErrUnsupported }

// Self needs getrusage.
func Self() time.Duration { return 0 }

// Parent needs /proc.
func Parent(int) int { return 0 }
