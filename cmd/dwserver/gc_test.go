package main

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestPercent(t *testing.T) {
	for live, want := range map[uint64]int{0: 400, 1 << 20: 400, 16 << 20: 400, 32 << 20: 200, 64 << 20: 100, 1 << 30: 100} {
		require.Equal(t, want, percent(live), live)
	}
}

// current is the percentage in force.
func current() int {
	now := debug.SetGCPercent(100)
	debug.SetGCPercent(now)
	return now
}

// TestSetGC: GOGC is left alone, and without it the percentage follows the live heap.
func TestSetGC(t *testing.T) {
	before := debug.SetGCPercent(100)
	defer debug.SetGCPercent(before)
	setGC(func(string) string { return "77" })
	require.Equal(t, 100, current())

	setGC(func(string) string { return "" })
	require.Greater(t, current(), 100)
	much := make([]byte, 2*garbage)
	require.Eventually(t, func() bool { runtime.GC(); return current() == 100 }, 10*time.Second, time.Millisecond)
	runtime.KeepAlive(much)
	require.Eventually(t, func() bool { runtime.GC(); return current() > 100 }, 10*time.Second, time.Millisecond)
}
